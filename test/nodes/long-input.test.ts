import { drawImage } from '../../gateway';
import { byId, createResponse, editImage, file, generateImage, getModels } from './arrange';
import { getTask, reply, shown, sourceFiles, sourceUrls } from './arrange';
import { useHarness, type IDataObject } from './arrange';
import { useChat } from './chat-model.arrange';

const harness = useHarness();
const chat = useChat();

const IMAGE = drawImage({ prompt: 'boat', index: 0, width: 24, height: 16 });
const items = [{ json: {}, binary: { data: file(IMAGE) } }];
const LONG = 'x'.repeat(400_000);
const MESSAGE = 'Message 1: Input Binary Field';

const message = (given: IDataObject) =>
	createResponse({ inputType: 'messages', messages: { message: [{ role: 'user', ...given }] } });

describe('The content of a file in place of the name of its field is told as that', () => {
	const base64 = Buffer.alloc(300_000, IMAGE).toString('base64');
	test.each([
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
	])('%s', async (_, content) => {
		const options = { maskBinaryPropertyName: content };
		for (const [field, fail, parameters] of [
			['Image 1: Input Binary Field', 'imageError', editImage(sourceFiles(content))],
			['Mask Binary Field', 'imageError', editImage({ ...sourceFiles('data'), options })],
			[MESSAGE, 'textError', message({ type: 'image', binaryPropertyNames: content })],
			[MESSAGE, 'textError', message({ type: 'file', fileBinaryPropertyNames: content })],
		] as const) {
			const told = shown(await harness[fail](parameters, { items }));
			expect(told.message).toBe(`${field} is the content of a file, not the name of a field`);
			const advice = /^Write the name of the binary field, such as data\..*Convert to File/;
			expect(told.description).toMatch(advice);
		}
		expect(harness.gateway.count()).toBe(0);
	});

	test('but not a name that the item has, however it looks', async () => {
		const name = 'iVBORw0KGgo'.padEnd(300, 'a');
		const given = [{ json: {}, binary: { [name]: items[0]!.binary.data } }];
		const parameters = message({ type: 'image', binaryPropertyNames: name });
		expect((await harness.text(parameters, { items: given })).items).toHaveLength(1);
	});
});

/** Everything that a user reads of an error, and what n8n saves of it. */
function expectBounded(run: Awaited<ReturnType<typeof harness.imageError>>) {
	const { message, description = '', stack = '', context } = shown(run);
	expect(message.length).toBeLessThan(3000);
	expect(description.length).toBeLessThan(10_000);
	expect(stack.length).toBeLessThan(20_000);
	expect(JSON.stringify(context).length).toBeLessThan(20_000);
	expect(JSON.stringify(run.logs).length).toBeLessThan(50_000);
}

describe('A message is bounded, whatever it quotes', () => {
	const text = (given: IDataObject) => ['textError', createResponse(given)] as const;
	const NO_ROLE = /^Message 1 has the role x+ … x+ and an image$/;
	const address = { type: 'image', imageSource: 'url', imageUrl: LONG };
	const nowhere = { resource: LONG, operation: LONG };
	const image = (given: IDataObject) => ['imageError', given] as const;
	const option = (options: IDataObject) => image(generateImage({ options }));
	test.each<[string, readonly ['textError' | 'imageError', IDataObject], says: RegExp]>([
		['Model', text({ model: byId(LONG) }), /./],
		['Temperature', text({ options: { temperature: LONG } }), /^Temperature is not a number$/],
		['Extra Body', text({ options: { extraBody: `{ "${LONG}": x` } }), /^Extra Body is not valid/],
		['Input', text({ inputType: 'json', inputJson: `[${LONG}` }), /^Input \(JSON\) is not valid/],
		['Role', ['textError', message({ role: LONG, type: 'image' })], NO_ROLE],
		['Image URL', ['textError', message(address)], /not the URL/],
		['Model of an image', image(generateImage({ model: byId(LONG) })), /./],
		['Size', option({ size: LONG }), /^Size is neither auto nor/],
		['Number of Images', option({ n: LONG }), /^Number of Images is not a num/],
		['Image 1: URL', image(editImage(sourceUrls(LONG))), /no image URL at position 1$/],
		['Mask URL', image(editImage({ options: { maskUrl: LONG } })), /no image URL/],
		['Task ID', image(getTask(LONG)), /^Task ID is longer than 4096 characters$/],
		['Task ID', image(getTask(`https://gw.example/images/tasks/${LONG}`)), /^Task ID is longer/],
		['resource', image(nowhere), /^The operation "" of "x+ … x+" does not exist$/],
	])('%s of 400 kB', async (_, [fail, parameters], says) => {
		const run = await harness[fail](parameters, { items });
		expect(run.error.message).toMatch(says);
		expectBounded(run);
	});

	test('Names of files and their types of 400 kB, which the item brings', async () => {
		const data = Buffer.from('Hello').toString('base64');
		for (const sent of [
			{ data, mimeType: 'text/plain', fileName: LONG },
			{ data, mimeType: LONG, fileName: 'a' },
			{ mimeType: 'image/png', fileName: LONG },
		]) {
			const json = { file: sent as IDataObject };
			const given = { type: 'image', binaryPropertyNames: '={{ $json.file }}' };
			const run = await harness.textError(message(given), { items: [{ json }] });
			expect(run.error.message).toMatch(/^Message 1: Input .*(not an image|without its b)/);
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
		harness.answer(reply(400, { error: { message: LONG, type: LONG, code: LONG } }));
		expectBounded(await harness.textError(createResponse()));
		expectBounded(await harness.imageError(generateImage()));
	});

	test('An error of n8n’s own that quotes a name, and a model of the chat model, of 400 kB', async () => {
		const long = `={{ $("${LONG}").item.json.a }}`;
		const run = await harness.textError(createResponse({ prompt: long }), { items });
		expect(run.error.message.length).toBeLessThan(3000);
		const { model } = await chat.supply({ model: byId(LONG) });
		const error = await chat.drive(model.invoke('Hello').catch((why: unknown) => why as Error));
		expect((error as Error).message.length).toBeLessThan(3000);
	});
});
