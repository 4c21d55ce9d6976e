import { execFileSync } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { N8n } from '../scripts/n8n/n8n';
import { ForeignModules } from '../scripts/n8n/resolutions';
import { Rest } from '../scripts/n8n/rest';
import { CREDENTIAL, setUpN8n, type WorkflowFile } from '../scripts/n8n/n8n-server';
import { Marks, Probe, type Marked } from './marks';
import type { Service } from './service';
import {
	BEARER,
	BEARER_OF_TEN,
	measuredWorkflows,
	OPENAI,
	OURS_OF_TEN,
	streamingWorkflows,
} from './workflows';

/** Seconds after which a measured workflow has failed. */
const LONGEST_S = 900;

const PROBE = join(__dirname, 'probe.js');

/** A streamed answer, as its caller saw it. */
export interface StreamRun {
	/** Milliseconds until the first piece of text. */
	firstMs: number;
	/** Number of pieces of text. */
	chunks: number;
	characters: number;
	needs: Marked['needs'];
}

/** An n8n with the package, which runs measured workflows. */
export class MeasuredN8n {
	private constructor(
		private readonly n8n: N8n,
		private readonly marks: Marks,
		private readonly workflows: Record<string, WorkflowFile>,
	) {}

	/** The Node that runs n8n. */
	get node(): string {
		return this.n8n.installation.node;
	}

	/** The version of that Node. */
	get nodeVersion(): string {
		return execFileSync(this.node, ['--version'], { encoding: 'utf8' }).trim();
	}

	/** The folder of n8n's own modules. */
	get modules(): string {
		return join(this.n8n.installation.folder, 'node_modules');
	}

	static async setUp(
		service: Service,
		tarball: string,
		say: (text: string) => void,
	): Promise<MeasuredN8n> {
		const n8n = await setUpN8n({ name: 'bench', fresh: true, tarball, say });
		const marks = await Marks.open();
		say('Importing credentials and workflows');
		await importCredentials(n8n, service);
		const workflows = measuredWorkflows({ baseUrl: service.baseUrl, marks: marks.origin });
		await importWorkflows(n8n, [
			...Object.values(workflows),
			...Object.values(streamingWorkflows()),
		]);
		return new MeasuredN8n(n8n, marks, workflows);
	}

	/**
	 * Runs a workflow in a separate n8n process, and measures the part between its marks.
	 * @param rows the input rows
	 * @throws {Error} it failed or did not reach its end
	 */
	async run(name: string, rows: object[]): Promise<Marked> {
		const workflow = this.workflows[name];
		if (!workflow) throw new Error(`Unknown workflow ${name}`);
		const file = await this.freshProbe();
		this.marks.expect(new Probe(file), rows);
		const options = {
			env: { BENCH_PROBE: file, BENCH_PROFILE_NAME: name },
			scripts: [PROBE],
			seconds: LONGEST_S,
		};
		// The output is not needed, and n8n may end before it has printed a long result.
		const said = await this.n8n.execute(workflow.id ?? '', options).then(
			({ error, all }) => `${error ?? ''}\n${all.slice(-2000)}`,
			(error: Error) => {
				if (error instanceof ForeignModules) throw error;
				return error.message;
			},
		);
		const marked = this.marks.result();
		if (!marked) throw new Error(`${name} did not reach its end: ${said}`);
		return marked;
	}

	/** Starts an n8n for calls from outside, and ends it after `work`. */
	async serving<T>(work: (server: StreamServer) => Promise<T>): Promise<T> {
		const file = await this.freshProbe();
		const running = await this.n8n.start({
			name: 'bench',
			env: { BENCH_PROBE: file, BENCH_PROFILE_NAME: 'streams' },
			scripts: [PROBE],
		});
		try {
			const rest = await Rest.signIn(running.address, this.n8n.owner);
			for (const { id } of Object.values(streamingWorkflows())) await rest.activate(id ?? '');
			return await work(new StreamServer(running.address, new Probe(file)));
		} finally {
			await running.stop();
		}
	}

	close() {
		this.marks.close();
	}

	private async freshProbe(): Promise<string> {
		const file = join(this.n8n.userFolder, 'probe.json');
		await rm(file, { force: true });
		await rm(`${file}.first`, { force: true });
		return file;
	}
}

/** A running n8n that streams. */
export class StreamServer {
	constructor(
		private readonly address: string,
		private readonly probe: Probe,
	) {}

	/** Calls a workflow and reads its stream to the end. */
	async call(id: string): Promise<StreamRun> {
		await this.probe.begin();
		const start = performance.now();
		const reply = await fetch(`${this.address}/webhook/${id}`, {
			method: 'POST',
			// n8n would compress each piece and flush it.
			headers: { 'content-type': 'application/json', 'accept-encoding': 'identity' },
			body: '{}',
		});
		if (!reply.ok || !reply.body) throw new Error(`${id}: ${reply.status} ${await reply.text()}`);
		const seen = { firstMs: 0, chunks: 0, characters: 0 };
		const take = (line: string) => {
			if (line === '') return;
			const { type, content } = JSON.parse(line) as { type: string; content?: string };
			if (type === 'error') throw new Error(`${id}: ${content}`);
			if (type !== 'item' || content === undefined) return;
			if (seen.chunks === 0) seen.firstMs = performance.now() - start;
			seen.chunks++;
			seen.characters += content.length;
		};
		const decoder = new TextDecoder();
		let rest = '';
		for await (const bytes of reply.body) {
			const lines = (rest + decoder.decode(bytes as Uint8Array, { stream: true })).split('\n');
			rest = lines.pop() ?? '';
			lines.forEach(take);
		}
		take(rest);
		return { ...seen, needs: await this.probe.end() };
	}
}

/** Imports credentials into n8n's database. */
async function importWorkflows(n8n: N8n, workflows: WorkflowFile[]): Promise<void> {
	const folder = join(n8n.userFolder, 'imports');
	await mkdir(folder, { recursive: true });
	for (const workflow of workflows) {
		await writeFile(join(folder, `${workflow.id}.json`), JSON.stringify(workflow));
	}
	await n8n.command(['import:workflow', '--separate', `--input=${folder}`]);
	await rm(folder, { recursive: true });
}

async function importCredentials(n8n: N8n, { baseUrl, key, keyOfTen }: Service): Promise<void> {
	const bearer = (value: string) => ({ name: 'Authorization', value: `Bearer ${value}` });
	const credentials = [
		{ ...CREDENTIAL, type: 'modelAccessApi', data: { apiKey: key, baseUrl } },
		{ ...OURS_OF_TEN, type: 'modelAccessApi', data: { apiKey: keyOfTen, baseUrl } },
		{ ...BEARER, type: 'httpHeaderAuth', data: bearer(key) },
		{ ...BEARER_OF_TEN, type: 'httpHeaderAuth', data: bearer(keyOfTen) },
		{ ...OPENAI, type: 'openAiApi', data: { apiKey: key, url: baseUrl, header: false } },
	];
	const file = join(n8n.userFolder, 'credentials.json');
	await writeFile(file, JSON.stringify(credentials));
	await n8n.command(['import:credentials', `--input=${file}`]);
	await rm(file);
}
