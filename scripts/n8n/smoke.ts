import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { imageBelongsTo, startGateway } from '../../gateway';
import { followed, image, inARow, respondedWithFile, saved, webhook } from './workflows';
import { Rest } from './rest';
import { agentWorkflows, checkChatModel } from './smoke-chat-model';
import { exampleWorkflows, FILES, importCredential, importWorkflows, setUpN8n } from './n8n-server';
import { posted } from './webhook';

/** The nodes and the credential by their names in workflows. */
const NODES = ['modelAccess', 'modelAccessImage', 'lmChatModelAccess'];

/** The result of the smoke test in one n8n. */
export interface Smoke {
	/** Version of n8n. */
	version: string;
	/** Version of Node. */
	node: string;
	/** Duration in seconds, without the installation. */
	seconds: number;
	/** The result of an agent with the chat model. */
	chatModel: string;
}

/**
 * Runs the smoke test in any n8n:
 * - n8n loads the installed package.
 * - `execute` runs the first example until an image is in a file.
 * - Agents use the chat model.
 * - A webhook answers with an image.
 * @throws {Error} a result is not as expected; with the result
 */
export async function smoke(version: string, say: (text: string) => void): Promise<Smoke> {
	const n8n = await setUpN8n({ name: `smoke-${version}`, version, fresh: true, say });
	const began = Date.now();
	const gateway = await startGateway({ taskSeconds: 2 });
	const folder = join(n8n.userFolder, FILES);
	let chatModel: string;
	const first = (await exampleWorkflows()).find(({ id }) => id === 'first-workflow');
	if (!first) throw new Error('The first example is missing');
	try {
		say('Importing');
		await importCredential(n8n, gateway);
		await importWorkflows(n8n, [
			followed(first, 'Generate Image', saved('Save', folder)),
			inARow('draw', [
				webhook('Wish', 'draw', { responseMode: 'responseNode' }),
				image('Draw', '={{ $json.body.prompt }}'),
				respondedWithFile('Answer'),
			]),
			...agentWorkflows(),
		]);

		say('Running the first example by execute');
		const { error, items } = await n8n.execute('first-workflow');
		check(error === undefined, `the first example ended with: ${error}`);
		const prompt = `${items('Generate Image')[0]?.json.prompt as string}`;
		const files = await readdir(folder);
		check(files.length === 1, `the first example left ${files.length} files`);
		const png = await readFile(join(folder, files[0] ?? ''));
		check(imageBelongsTo(prompt, png), 'the file is not the image of its prompt');

		say('Starting n8n');
		const running = await n8n.start();
		try {
			const rest = await Rest.signIn(running.address, n8n.owner);
			const known = JSON.stringify(await rest.nodeTypes());
			for (const name of NODES) {
				check(known.includes(`"n8n-nodes-model-access.${name}"`), `n8n does not know ${name}`);
			}
			say('Letting agents use the chat model');
			chatModel = await checkChatModel({ n8n, running, rest, gateway });
			// After the agents: if these cannot use the model, the other nodes still work.
			await rest.activate('draw');
			const reply = await posted(`${running.address}/webhook/draw`, { prompt: 'a smoke signal' });
			const bytes = Buffer.from(await reply.arrayBuffer());
			check(imageBelongsTo('a smoke signal', bytes), `the webhook answered ${reply.status}`);
		} finally {
			await running.stop();
		}
		const { accepted, submitted } = countsOf(gateway);
		check(accepted === 2 && submitted === 2, `${submitted} submissions, ${accepted} tasks, not 2`);
	} finally {
		await gateway.close();
		await rm(n8n.userFolder, { recursive: true, force: true });
	}
	const node = await n8n.nodeVersion();
	return { version, node, seconds: Math.round((Date.now() - began) / 1000), chatModel };
}

const countsOf = ({ tasks, count }: Awaited<ReturnType<typeof startGateway>>) => ({
	accepted: tasks.length,
	submitted: count({ route: 'generations' }),
});

function check(holds: boolean, otherwise: string): void {
	if (!holds) throw new Error(otherwise);
}
