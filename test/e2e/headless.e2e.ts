import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { drawPicture, pictureBelongsTo, sizeOf } from '../../gateway';
import { arrange, type Stage } from './arrange';
import { runCommand } from '../../scripts/n8n/command';
import { PROJECT } from '../../scripts/n8n/package';
import {
	exampleWorkflows,
	FILES,
	importWorkflows,
	type WorkflowFile,
} from '../../scripts/n8n/stage';
import {
	fetched,
	fields,
	followed,
	inARow,
	MANUAL,
	saved,
	startedByHand,
	without,
} from '../../scripts/n8n/workflows';

const PHOTO = drawPicture({ prompt: 'a boat', index: 0, width: 64, height: 48 });

/** A node of n8n's own. */
const core = (name: string, type: string, typeVersion: number, parameters: object) => ({
	name,
	type: `n8n-nodes-base.${type}`,
	typeVersion,
	parameters: { options: {}, ...parameters },
	position: [0, 0] as [number, number],
});

/** Nodes of n8n that builders put beside ours, and that need more than n8n's own code. */
const SHIPPED = inARow('shipped', [
	MANUAL,
	core('Rows', 'code', 2, {
		jsCode: "return [{ sku: 'LAMP-01', price: 6 * 7 }, { sku: 'MUG-07', price: 7 }];",
	}),
	core('Spreadsheet', 'convertToFile', 1.1, { operation: 'xlsx' }),
	core('Rows Again', 'extractFromFile', 1, { operation: 'xlsx' }),
	core('Calendar', 'convertToFile', 1.1, {
		operation: 'iCal',
		title: 'Photo session',
		start: '2026-01-02T10:00:00',
		end: '2026-01-02T11:00:00',
	}),
	core('Calendar Again', 'extractFromFile', 1, { operation: 'fromIcs' }),
]);

let stage: Stage;
let web: Server;
let photoUrl: string;
let folder: string;
let examples: Record<string, WorkflowFile>;

beforeAll(async () => {
	web = createServer((_request, reply) => reply.setHeader('content-type', 'image/png').end(PHOTO));
	await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve));
	photoUrl = `http://127.0.0.1:${(web.address() as AddressInfo).port}/boat.png`;
	const all = await exampleWorkflows();
	examples = Object.fromEntries(all.map((workflow) => [workflow.id ?? '', workflow]));
	stage = await arrange({ name: 'headless', gateway: { taskSeconds: 3 } });
	folder = join(stage.n8n.userFolder, FILES);
	await importWorkflows(stage.n8n, [...Object.values(variants()), SHIPPED]);
}, 900_000);

afterAll(async () => {
	web?.close();
	await stage?.close();
});

beforeEach(async () => {
	await rm(folder, { recursive: true, force: true });
	await mkdir(folder, { recursive: true });
});

/**
 * The examples as `execute` can run them: it starts by hand only, so what a webhook, form or chat
 * would bring is set by nodes in its place, and nobody is answered. Pictures are also written to
 * files.
 */
function variants(): Record<string, WorkflowFile> {
	const of = (id: string) => {
		const found = examples[id];
		if (!found) throw new Error(`There is no example ${id}`);
		return structuredClone(found);
	};
	const toFile = (id: string, after: string) => followed(of(id), after, saved('Save', folder));
	const describePicture = of('describe-picture');
	for (const node of describePicture.nodes) {
		if (node.name === 'Fetch Picture') node.parameters.url = photoUrl;
	}
	return {
		first: toFile('first-workflow', 'Generate Image'),
		rows: toFile('rows-to-images', 'Pictures'),
		classify: of('classify-rows'),
		describe: describePicture,
		stream: startedByHand(without(of('stream-to-webhook'), 'Respond'), 'Question', [
			fields('Question', { body: { question: 'Why is the sky blue?' } }),
		]),
		edit: followed(
			startedByHand(without(of('edit-uploaded-picture'), 'Hand Over Picture'), 'Picture Form', [
				fetched('Upload', photoUrl, 'Picture'),
				fields('Picture Form', { Change: 'Add a sail' }),
			]),
			'Edit Image',
			saved('Save', folder),
		),
		agent: startedByHand(of('chat-agent'), 'When chat message received', [
			fields('When chat message received', {
				chatInput: 'Please draw picture of a lighthouse',
				sessionId: 'headless',
			}),
		]),
	};
}

const run = async (name: keyof ReturnType<typeof variants>) => {
	const workflow = variants()[name];
	return await stage.n8n.execute(workflow?.id ?? '');
};

const files = async () =>
	await Promise.all(
		(await readdir(folder)).sort().map(async (name) => await readFile(join(folder, name))),
	);

describe('n8n execute', () => {
	test('first-workflow: lists models, writes a prompt, and leaves a picture in a file', async () => {
		const { error, items } = await run('first');
		expect(error).toBeUndefined();
		expect(items('List Models').length).toBeGreaterThan(3);
		const [picture] = items('Generate Image');
		expect(picture?.json).toMatchObject({ status: 'completed', image_index: 0, image_count: 1 });
		const [png] = await files();
		expect(png && sizeOf(png)).toEqual({ width: 1024, height: 1024 });
		expect(png && pictureBelongsTo(picture?.json.prompt as string, png)).toBe(true);
	});

	test('rows-to-images: a picture of each row, in a file under the name of its row', async () => {
		const { error, items } = await run('rows');
		expect(error).toBeUndefined();
		const pictures = items('Pictures');
		expect(pictures.map(({ json }) => json.sku)).toEqual(['LAMP-01', 'MUG-07', 'CHAIR-12']);
		const written = await files();
		expect(written).toHaveLength(3);
		expect(
			written.map((png, index) => pictureBelongsTo(pictures[index]?.json.prompt as string, png)),
		).toEqual([true, true, true]);
	});

	test('classify-rows: JSON by the schema, and a branch that goes by it', async () => {
		const { error, items } = await run('classify');
		expect(error).toBeUndefined();
		const rows = items('Classify');
		expect(rows.length).toBeGreaterThan(1);
		for (const { json } of rows) expect(json.parsed).toEqual(expect.any(Object));
		expect(items('Bugs').length).toBeGreaterThan(0);
		expect(items('Bugs').length + items('Others').length).toBe(rows.length);
	});

	test('describe-picture: a file of an item is shown to the model', async () => {
		const { error, items } = await run('describe');
		expect(error).toBeUndefined();
		expect(items('Description').map(({ json }) => json.alt)).toEqual([
			expect.stringMatching(/^I see a picture \(image\/png, 64x48/),
		]);
	});

	test('stream-to-webhook: the answer is whole, streamed or not', async () => {
		const { error, items } = await run('stream');
		expect(error).toBeUndefined();
		expect(items('Answer').map(({ json }) => json.text)).toEqual([
			expect.stringMatching(/^You said: Why is the sky blue\?/),
		]);
	});

	test('edit-uploaded-picture: an edited picture in a file', async () => {
		const { error } = await run('edit');
		expect(error).toBeUndefined();
		const [png] = await files();
		expect(png && pictureBelongsTo('Add a sail', png)).toBe(true);
	});

	test('chat-agent: the agent draws by its tool and tells of it', async () => {
		const before = stage.gateway.tasks.length;
		const { error, items } = await run('agent');
		expect(error).toBeUndefined();
		expect(stage.gateway.tasks.length).toBe(before + 1);
		expect(items('AI Agent').map(({ json }) => json.output)).toEqual([
			expect.stringContaining(stage.gateway.tasks.at(-1)?.id ?? 'no task'),
		]);
	});

	test('all examples are among them, but the one whose data table n8n offers to a server only', () => {
		const tried = Object.values(variants()).map(({ id }) => id);
		expect([...tried, 'submit-now-collect-later'].sort()).toEqual(Object.keys(examples).sort());
	});
});

describe('the nodes that ship with n8n', () => {
	test('all load, as in its container', async () => {
		const { node, folder: installed } = stage.n8n.installation;
		const output = await runCommand(node, [
			join(PROJECT, 'scripts', 'n8n', 'load-nodes.js'),
			installed,
		]);
		const { count, faults } = JSON.parse(output.trim().split('\n').at(-1) ?? '') as {
			count: number;
			faults: string[];
		};
		expect(faults).toEqual([]);
		expect(count).toBeGreaterThan(900);
	}, 180_000);

	test('run code, make a spreadsheet and a calendar, and read both again', async () => {
		const { error, items } = await stage.n8n.execute('shipped');
		expect(error).toBeUndefined();
		expect(items('Rows Again').map(({ json }) => json)).toEqual([
			{ sku: 'LAMP-01', price: 42 },
			{ sku: 'MUG-07', price: 7 },
		]);
		const [{ json: { data } = {} } = {}] = items('Calendar Again');
		expect(JSON.stringify(data)).toContain('Photo session');
	});
});
