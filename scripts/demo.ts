import 'reflect-metadata';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import type { ICredentialType, INodeExecutionData, INodeType, ITaskData } from 'n8n-workflow';
import { sizeOf, startGateway } from '../gateway';
import { readBinary, runWorkflow, type WorkflowJson } from './engine/index';

const ROOT = join(__dirname, '..');
const OUTPUT = join(ROOT, 'demo-output');
const EXAMPLE = join(ROOT, 'examples', 'first-workflow.json');

/** The built package, as a host requires it. */
const { ModelAccess, ModelAccessImage, ModelAccessApi } = createRequire(__filename)(
	'../index.js',
) as {
	ModelAccess: new () => INodeType;
	ModelAccessImage: new () => INodeType;
	ModelAccessApi: new () => ICredentialType;
};

/** Run time of an image task, in seconds. */
const TASK_SECONDS = 5;

const started = Date.now();
const elapsed = () => `${((Date.now() - started) / 1000).toFixed(1).padStart(5)} s`;

function say(text: string) {
	console.log(`${elapsed()}  ${text}`);
}

/** The most characters of a cell in a table of results. */
const LONGEST_CELL = 64;

function cell(value: unknown): string {
	const text = typeof value === 'string' ? value : JSON.stringify(value);
	return text.length > LONGEST_CELL ? `${text.slice(0, LONGEST_CELL - 1)}…` : text;
}

/** Prints the output of a node: a list as one column, a single item as its fields. */
function table(items: INodeExecutionData[]): string {
	const [first] = items;
	if (!first) return '         (nothing)';
	const rows =
		items.length > 1
			? items.map(({ json }, index) => [String(index), cell(json.id ?? json)])
			: Object.entries(first.json).map(([name, value]) => [name, cell(value ?? null)]);
	const files = items.flatMap(({ binary }) =>
		Object.entries(binary ?? {}).map(([field, { fileName, mimeType, fileSize }]) => [
			`file in "${field}"`,
			`${fileName ?? ''}, ${mimeType}, ${fileSize ?? ''}`,
		]),
	);
	const all = [...rows, ...files];
	const width = Math.max(...all.map(([name]) => name!.length));
	return all.map(([name, value]) => `         ${name!.padEnd(width)}  ${value}`).join('\n');
}

function report(node: string, result: ITaskData) {
	const items = result.data?.main?.[0] ?? [];
	say(`${node}: ${items.length} ${items.length === 1 ? 'item' : 'items'}`);
	console.log(`${table(items)}\n`);
}

async function saveImages(items: INodeExecutionData[]) {
	await rm(OUTPUT, { recursive: true, force: true });
	await mkdir(OUTPUT, { recursive: true });
	for (const { binary } of items) {
		for (const entry of Object.values(binary ?? {})) {
			const bytes = await readBinary(entry);
			const path = join(OUTPUT, basename(entry.fileName ?? 'image.png'));
			await writeFile(path, bytes);
			const size = sizeOf(bytes);
			if (!size) throw new Error(`${path} is not a PNG`);
			say(
				`Wrote demo-output/${basename(path)}: ${size.width} x ${size.height} pixels, ${bytes.length} bytes`,
			);
		}
	}
}

/** Runs the first example in n8n's engine, with the built nodes and the built-in gateway. */
async function main(): Promise<number> {
	const workflow = JSON.parse(await readFile(EXAMPLE, 'utf8')) as WorkflowJson;
	const gateway = await startGateway({ taskSeconds: TASK_SECONDS });
	try {
		say(`The gateway answers at ${gateway.baseUrl}; an image takes ${TASK_SECONDS} s`);
		say(`Running examples/${basename(EXAMPLE)}: ${workflow.name ?? ''}\n`);
		const run = await runWorkflow({
			workflow,
			nodeTypes: {
				'n8n-nodes-model-access.modelAccess': new ModelAccess(),
				'n8n-nodes-model-access.modelAccessImage': new ModelAccessImage(),
			},
			credentialTypes: [new ModelAccessApi()],
			credentials: { modelAccessApi: { baseUrl: gateway.baseUrl, apiKey: gateway.keys.active } },
			onNodeDone: report,
			onProgress: (_node, messages) => say(messages.map(String).join(' ')),
		});
		if (run.error) {
			say(`Failed: ${run.error.message}`);
			console.log(run.error.description ?? '');
			return 1;
		}
		await saveImages(run.items('Generate Image'));
		say(`Done, with ${gateway.count()} requests to the gateway`);
		return 0;
	} finally {
		await gateway.close();
	}
}

void main().then((code) => {
	process.exitCode = code;
});
