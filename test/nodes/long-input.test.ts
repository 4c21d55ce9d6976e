import type { IDataObject } from 'n8n-workflow';
import { drawImage } from '../../gateway';
import type { FailedRun } from '../../scripts/engine/index';
import { shown, useHarness } from './arrange';
import { useChat } from './chat-model.arrange';
import {
	byId,
	createResponse,
	editImage,
	generateImage,
	getModels,
	getTask,
	sourceFiles,
	sourceUrls,
} from './parameters';

const harness = useHarness();
const chat = useChat();

const IMAGE = drawImage({ prompt: 'boat', index: 0, width: 24, height: 16 });
const items = [
	{ json: {}, binary: { data: { data: IMAGE.toString('base64'), mimeType: 'image/png' } } },
];
const LENGTH = 400_000;
const LONG = 'x'.repeat(LENGTH);

describe('The content of a file in place of the name of its field is told as that', () => {
	const base64 = Buffer.alloc(300_000, IMAGE).toString('base64');
	const CONTENTS: Array<[string, string]> = [
		['base64 of 300 kB', base64],
		['short base64 of a PNG', IMAGE.toString('base64').slice(0, 100)],
		['short base64 of a PDF', 'JVBERi0xLjcKJeLjz9MK'],
		['a data URL', `data:image/png;base64,${base64}`],
		['a short data URL', 'data:image/png;base64,iVBORw0KGgo='],
		['a data URL without a type', 'data:,Hello'],
		['a data URL with blanks before it', '\n data:application/pdf;base64,JVBERi0x'],
		['bytes as a text', IMAGE.toString('latin1')],
		['a PDF as a text', '%PDF-1.7'],
		['a long text', 'Once upon a time '.repeat(20)],
	];

	test.each(CONTENTS)('%s', async (_, content) => {
		const files = (name: string, options: IDataObject = {}) =>
			editImage({ ...sourceFiles(name), options });
		const row = (given: IDataObject) =>
			createResponse({
				inputType: 'messages',
				messages: { message: [{ role: 'user', ...given }] },
			});
		const runs: Array<[string, FailedRun]> = [
			['Image 1: Input Binary Field', await harness.imageError(files(content), { items })],
			[
				'Mask Binary Field',
				await harness.imageError(files('data', { maskBinaryPropertyName: content }), { items }),
			],
			[
				'Message 1: Input Binary Field',
				await harness.textError(row({ type: 'image', binaryPropertyNames: content }), { items }),
			],
			[
				'Message 1: Input Binary Field',
				await harness.textError(row({ type: 'file', fileBinaryPropertyNames: content }), { items }),
			],
		];
		for (const [field, run] of runs) {
			const { message, description } = shown(run);
			expect(message).toBe(`${field} is the content of a file, not the name of a field`);
			expect(description).toMatch(
				/^Write the name of the binary field, such as data\..*Convert to File/,
			);
		}
		expect(harness.gateway.count()).toBe(0);
	});

	test('but not a name that the item has, however it looks', async () => {
		const name = 'iVBORw0KGgo'.padEnd(300, 'a');
		const messages = { message: [{ role: 'user', type: 'image', binaryPropertyNames: name }] };
		const named = [{ json: {}, binary: { [name]: items[0]!.binary.data } }];
		const { outputs } = await harness.text(createResponse({ inputType: 'messages', messages }), {
			items: named,
		});
		expect(outputs[0]).toHaveLength(1);
	});
});

/** Everything that a user reads of an error, and what n8n saves of it. */
function expectBounded(run: FailedRun) {
	const { message, description = '', stack = '', context } = shown(run);
	expect(message.length).toBeLessThan(3000);
	expect(description.length).toBeLessThan(10_000);
	expect(stack.length).toBeLessThan(20_000);
	expect(JSON.stringify(context).length).toBeLessThan(20_000);
	expect(JSON.stringify(run.logs).length).toBeLessThan(50_000);
}

describe('A message is bounded, whatever it quotes', () => {
	const message = (given: IDataObject) =>
		createResponse({ inputType: 'messages', messages: { message: [{ role: 'user', ...given }] } });

	test.each<[string, IDataObject, says: RegExp]>([
		['Model', { model: byId(LONG) }, /./],
		['Temperature', { options: { temperature: LONG } }, /^Temperature is not a number$/],
		['Extra Body', { options: { extraBody: `{ "${LONG}": x` } }, /^Extra Body is not valid JSON/],
		['Input (JSON)', { inputType: 'json', inputJson: `[${LONG}` }, /^Input \(JSON\) is not valid/],
		[
			'Role',
			message({ role: LONG, type: 'image' }),
			/^Message 1 has the role x+ … x+ and an image$/,
		],
		['Image URL', message({ type: 'image', imageSource: 'url', imageUrl: LONG }), /not the URL/],
	])('%s of 400 kB in Response → Create', async (_, given, says) => {
		const run = await harness.textError(createResponse(given), { items });
		expect(run.error.message).toMatch(says);
		expectBounded(run);
	});

	test.each<[string, IDataObject, says: RegExp]>([
		['Model', generateImage({ model: byId(LONG) }), /./],
		['Size', generateImage({ options: { size: LONG } }), /^Size is neither auto nor/],
		['Number of Images', generateImage({ options: { n: LONG } }), /^Number of Images is not a num/],
		['Image 1: URL', editImage(sourceUrls(LONG)), /no image URL at position 1$/],
		['Mask URL', editImage({ options: { maskUrl: LONG } }), /no image URL/],
		['Task ID', getTask(LONG), /^Task ID is longer than 4096 characters$/],
		['Task ID', getTask(`https://gateway.example/images/tasks/${LONG}`), /^Task ID is longer/],
		[
			'resource',
			{ resource: LONG, operation: LONG },
			/^The operation "" of "x+ … x+" does not exist$/,
		],
	])('%s of 400 kB in the image node', async (_, parameters, says) => {
		const run = await harness.imageError(parameters, { items });
		expect(run.error.message).toMatch(says);
		expectBounded(run);
	});

	test('Names of files and their types of 400 kB, which the item brings', async () => {
		const data = Buffer.from('Hello').toString('base64');
		for (const file of [
			{ data, mimeType: 'text/plain', fileName: LONG },
			{ data, mimeType: LONG, fileName: 'a' },
			{ mimeType: 'image/png', fileName: LONG },
		]) {
			const json = { file: file as IDataObject };
			const given = { type: 'image', binaryPropertyNames: '={{ $json.file }}' };
			const run = await harness.textError(message(given), { items: [{ json }] });
			expect(run.error.message).toMatch(
				/^Message 1: Input Binary Field .*(not an image|without its b)/,
			);
			expectBounded(run);
		}
	});

	test('Address and key of 400 kB', async () => {
		for (const access of [{ baseUrl: LONG }, { baseUrl: `ftp://${LONG}` }, { apiKey: LONG }]) {
			const run = await harness.textError(getModels(), { access });
			expect(run.error.message).toMatch(/is longer than \d+ characters$/);
			expectBounded(run);
		}
	});

	test('What the gateway says in 400 kB, in each part of its error', async () => {
		harness.gateway.settings.intercept = () => ({
			kind: 'reply',
			status: 400,
			body: { error: { message: LONG, type: LONG, code: LONG } },
		});
		expectBounded(await harness.textError(createResponse()));
		expectBounded(await harness.imageError(generateImage()));
	});

	test('An error of n8n’s own that quotes a name of 400 kB', async () => {
		const long = `={{ $("${LONG}").item.json.a }}`;
		const run = await harness.textError(createResponse({ prompt: long }), { items });
		expect(run.error.message.length).toBeLessThan(3000);
	});

	test('Model of 400 kB in the chat model', async () => {
		const { model } = await chat.supply({ model: byId(LONG) });
		const error = await chat.drive(model.invoke('Hello').catch((why: unknown) => why as Error));
		expect((error as Error).message.length).toBeLessThan(3000);
	});
});
