import { drawImage } from '../../gateway';
import { byId, CONTINUE, createResponse, editImage, file, generateImage, getTask } from './arrange';
import { itemsOf, shown, sourceFiles, sourceUrls, useHarness, type IDataObject } from './arrange';

const harness = useHarness();

/** An item with an image, a text and a file without bytes. */
const binary = {
	data: file(drawImage({ prompt: 'boat', index: 0, width: 24, height: 16 })),
	page: file('Hello', undefined, 'text/plain'),
	scan: file('II*\0rest of it', undefined, 'image/tiff'),
	nothing: file(''),
};
const items = [{ json: {}, binary }];

/** What the user reads, for one value. */
type Row = [message: string, advice: string, ...values: IDataObject[]];

/** Rows by the advice that they share. */
const rowsOf = (byAdvice: Record<string, Array<[message: string, ...values: IDataObject[]]>>) =>
	Object.entries(byAdvice).flatMap(([advice, rows]) =>
		rows.map(([message, ...values]): Row => [message, advice, ...values]),
	);

/** Runs a node with a bad value, and expects that it says so, of its item, before it sends anything. */
async function expectRefusal(message: string, advice: string, run: Promise<{ error: Error }>) {
	const error = shown(await run);
	const context = { itemIndex: 0, details: { retryable: false, advice } };
	expect(error).toMatchObject({ name: 'NodeOperationError', description: advice, context });
	// The platform says in its own words why JSON does not parse.
	expect(error.message.replace(/(?<=is not valid JSON): .+/, '')).toBe(message);
	expect(harness.gateway.count()).toBe(0);
}

const LIST =
	'Write one entry of the list, such as {{ $json.items[0] }}, or all of them as a text: {{ $json.items.join() }}.';

describe('Response → Create is not sent:', () => {
	const QUOTES = 'Check quotes, commas and braces there. Names and texts stand in double quotes.';
	const option = (options: IDataObject): IDataObject => ({ options });
	const schema = (format: IDataObject) => option({ outputFormat: { format } });

	test.each(
		rowsOf({
			'Enter a whole number from 0 on.': [
				['Max Retries is not a number', option({ maxRetries: 'many' })],
			],
			'Enter a number from 0 on.': [['Temperature is below 0', option({ temperature: -1 })]],
			'Enter a whole number from 1 on.': [
				['Concurrency is below 1', option({ concurrency: 0 })],
				['Max Output Tokens is not a whole number', option({ maxOutputTokens: 1.5 })],
			],
			'Enter a number of seconds above 0.': [
				['Timeout is 0', option({ timeout: 0 })],
				['Idle Timeout is 0', { stream: true, ...option({ idleTimeout: 0 }) }],
			],
			'Enter an object in braces, such as { "seed": 7 }.': [
				['Metadata is not a JSON object', option({ metadata: '[1]' })],
			],
			'Enter a list in square brackets.': [['Tools is not a JSON list', option({ tools: '{}' })]],
			[QUOTES]: [
				['Extra Body is not valid JSON', option({ extraBody: '{ a: 1 }' })],
				['Tool Choice is not valid JSON', option({ toolChoice: '{\n "type" }' })],
				['Schema is not valid JSON', schema({ schema: '{ "type" }' })],
				['Input (JSON) is not valid JSON', { inputType: 'json', inputJson: '[{ "role": ]' }],
			],
			'Use letters, digits, hyphens and underscores, 64 at most.': [
				['Schema Name is not a name', schema({ name: 'my schema', schema: '{ "a": 1 }' })],
				['Schema Name is not a name', schema({ name: 'a'.repeat(65), schema: '{ "a": 1 }' })],
			],
			'Enter a JSON Schema that describes the answer.': [
				['Schema is empty', schema({ schema: '{}' })],
			],
			'Enter the IDs of the stores to search, such as ["vs_1"].': [
				['Vector Store IDs is empty', { builtInTools: { fileSearch: { vectorStoreIds: '[]' } } }],
			],
		}),
	)('%s', async (message, advice, given) => {
		await expectRefusal(message, advice, harness.textError(createResponse(given)));
	});

	const url = { type: 'image', imageSource: 'url' };
	const PAGE = 'Input Binary Field "page" is not an image but text/plain';
	test.each(
		rowsOf({
			'Add a message for the model to answer to.': [['Messages has no message']],
			'Enter its prompt, or remove the message.': [
				['Message 2 is empty', { type: 'text', text: 'Hello' }, { type: 'text', text: ' ' }],
			],
			[LIST]: [['Message 1: Prompt is a list, not a text', { type: 'text', text: '={{ [1] }}' }]],
			'Only a user’s message can hold images and files. Set Role to User.': [
				['Message 1 has the role assistant and an image', { role: 'assistant', type: 'image' }],
				['Message 1 has the role system and a file', { role: 'system', type: 'file' }],
			],
			'Enter a URL that begins with https:// or data:image/.': [
				['Message 1: Image URL is empty', url],
				['Message 1: Image URL is not the URL of an image', { ...url, imageUrl: 'boat.png' }],
			],
			'Set Type to File for other files, or select a field with an image.': [
				[`Message 1: ${PAGE}`, { type: 'image', binaryPropertyNames: 'page' }],
			],
		}),
	)('%s', async (message, advice, ...rows) => {
		const messages = { message: rows.map((row) => ({ role: 'user', ...row })) };
		const parameters = createResponse({ inputType: 'messages', messages });
		await expectRefusal(message, advice, harness.textError(parameters, { items }));
	});
});

const ADDRESS = 'https://pictures.example.com/a.png';
const files = (names: string) => editImage(sourceFiles(names));
const FILE = 'Image 1: Input Binary Field';
const mask = (maskBinaryPropertyName: string, given = sourceFiles('data')) =>
	editImage({ ...given, options: { maskBinaryPropertyName } });
const maskAt = (maskUrl: string, given = {}) => editImage({ ...given, options: { maskUrl } });
const rows = (...image: IDataObject[]) => ({ images: { image } });
const byFile = { source: 'binary', binaryPropertyName: 'data' };
const byUrl = { source: 'url', url: ADDRESS };
const option = (options: IDataObject) => generateImage({ options });
const OTHER_SOURCE = 'does not have the same source as Images';

test.each(
	rowsOf({
		'Enter the name of a binary field, such as data.': [
			['Put Output File in Field is empty', option({ binaryPropertyName: ' ' })],
		],
		'Enter a number of megabytes above 0.': [
			['Max File Size is 0', option({ maxFileSize: 0 })],
			['Max File Size is 0', getTask('t', { options: { maxFileSize: '={{ 0 }}' } })],
		],
		'Enter the URL of an image.': [['Image 1: URL is empty', editImage(sourceUrls(' '))]],
		'Add an image to edit.': [
			['Images holds no image', editImage(rows())],
			['Images holds no image', editImage({ images: {} })],
		],
		'An edit takes either files or URLs. Select the same source for all images. An HTTP Request node turns a URL into a binary file.':
			[
				['Images mix binary files and URLs', editImage(rows(byFile, byUrl))],
				['Images mix binary files and URLs', editImage(rows(byUrl, byFile))],
			],
		'The images are binary files. Use Mask Binary Field, or remove the option.': [
			[`Mask URL ${OTHER_SOURCE}`, maskAt(ADDRESS, rows(byFile))],
		],
		'The images are URLs. Use Mask URL, or remove the option.': [
			[`Mask Binary Field ${OTHER_SOURCE}`, mask('data', rows(byUrl))],
		],
		[LIST]: [['Image 1: Source is a list, not a text', editImage(rows({ source: '={{ [1] }}' }))]],
		'Use URLs that begin with https:// or data:image/.': [
			['Image 2: URL has no image URL at position 1', editImage(sourceUrls(ADDRESS, 'boat.png'))],
			['Mask URL has no image URL at position 1', maskAt('hole')],
		],
		'Enter the name of the input’s binary field, such as data; several are separated by commas.': [
			[`${FILE} names no binary field`, files(' , ')],
		],
		'The item has "data", "page", "scan", "nothing". Enter one of these names. An expression may also give the binary data of another node’s item.':
			[[`${FILE} "x" is not a binary field of the item`, files('x')]],
		'Write the name of the field, such as data, or the file of another node’s item: {{ $("Name").item.binary.data }}.':
			[[`${FILE} is an object, neither a name nor binary data`, files('={{ { a: 1 } }}')]],
		'The file has no bytes. Check the node that made it.': [
			[`${FILE} "nothing" is empty`, files('nothing')],
		],
		'Its content must be a PNG, JPEG, WebP or GIF, whatever its name says.': [
			[`${FILE} "page" is not an image`, files('page')],
			[`${FILE} "scan" is a file of type image/tiff`, files('scan')],
		],
		'A mask is a PNG with an alpha channel, whose transparent parts are edited.': [
			['Mask Binary Field "page" is not a PNG', mask('page')],
			['Mask Binary Field "data" is a PNG without transparency', mask('data')],
		],
		'An edit takes one mask.': [
			['Mask Binary Field names several', mask('data, page')],
			['Mask URL names several', maskAt(`${ADDRESS}, ${ADDRESS}`)],
		],
	}),
)('An image or a look at a task is not sent: %s', async (message, advice, given) => {
	await expectRefusal(message, advice, harness.imageError(given, { items }));
});

test('Under Continue each item of Image → Generate names its own bad option, and none is sent', async () => {
	const rows: Array<[options: IDataObject, message: string]> = [
		[{ extraBody: { prompt: '' } }, 'Prompt is empty'],
		[{ size: 'big' }, 'Size is neither auto nor width x height'],
		[{ n: 0 }, 'Number of Images is below 1'],
		[{ n: 'two' }, 'Number of Images is not a number'],
		[{ pollInterval: 'soon' }, 'Poll Interval is not a number'],
		[{ pollInterval: 0.5 }, 'Poll Interval is below 1'],
		[{ maxWait: -1 }, 'Max Wait is below 0'],
		[{ maxFileSize: -1 }, 'Max File Size is below 0'],
		[{ timeout: 'x' }, 'Timeout is not a number'],
		[{ maxRetries: -1 }, 'Max Retries is below 0'],
	];
	const names = rows.flatMap(([options]) => Object.keys(options));
	const options = Object.fromEntries(names.map((name) => [name, `={{ $json.${name} }}`]));
	const items = itemsOf(...rows.map(([given]) => given));
	const run = await harness.image(generateImage({ options }), { items, ...CONTINUE });
	const told = run.items.map(({ json, pairedItem }) => [json.error, pairedItem]);
	expect(told).toEqual(rows.map(([, message], item) => [message, { item }]));
	expect(harness.gateway.count()).toBe(0);
});

describe('What a field lacks', () => {
	/** Message and advice of an error of the image node. */
	async function imageError(parameters: IDataObject, binary = {}): Promise<[string, string]> {
		const given = { items: [{ json: { answer: '' }, binary }] };
		const { message, description } = shown(await harness.imageError(parameters, given));
		expect(harness.gateway.count()).toBe(0);
		return [message, description ?? ''];
	}

	const extraBody = '{"prompt":""}';
	const NOTHING = (field: string) => `The expression in ${field} gave nothing`;
	test.each([
		[NOTHING('Prompt'), generateImage({ prompt: '={{ $json.prompt }}' })],
		[NOTHING('Prompt'), generateImage({ prompt: '= {{ $json.answer }} ' })],
		[NOTHING('Model'), generateImage({ model: byId('={{ $json.model }}') })],
		[NOTHING('Task ID'), getTask('={{ $json.task_id }}')],
		[NOTHING('Image 2: URL'), editImage(sourceUrls('https://a.example/1.png', '={{ $json.url }}'))],
		[NOTHING('Image 1: Input Binary Field'), editImage(sourceFiles('={{ $json.field }}'))],
		[NOTHING('Put Output File in Field'), option({ binaryPropertyName: '={{ $json.answer }}' })],
		['Prompt is empty', generateImage({ prompt: ' ' })],
		['Model is empty', generateImage({ model: byId('') })],
		['Task ID is empty', getTask('')],
		// The field is filled; the extra body empties it.
		['Prompt is empty', generateImage({ prompt: '={{ "A boat" }}', options: { extraBody } })],
	])('is told: %s', async (says, parameters) => {
		const [message, advice] = await imageError(parameters);
		expect(message).toBe(says);
		const isCheck = /^Check the expression with the data of item 0\. \w+/.test(advice);
		expect(isCheck).toBe(says.startsWith('The expression'));
	});

	test('is told of Response → Create, for each item', async () => {
		const message = [{ type: 'image', imageSource: 'url', imageUrl: '={{ $json.url }}' }];
		const fields = { inputType: '={{ $json.type }}', prompt: '={{ $json.text }}' };
		const parameters = createResponse({ ...fields, messages: { message } });
		const given = itemsOf({ type: 'text', text: 'Hello' }, { type: 'text' }, { type: 'messages' });
		const { items: output } = await harness.text(parameters, { items: given, ...CONTINUE });
		expect(output.map(({ json }) => json.error)).toEqual([
			undefined,
			'The expression in Prompt gave nothing',
			'The expression in Message 1: Image URL gave nothing',
		]);
	});

	const twelve = Array.from({ length: 12 }, (_unused, n) => [`f${n}`, file('x')] as const);
	test.each([
		[{}, /^The item has no file\. Check that the previous node passes one on\./],
		[{ photo: file('x') }, /^The item has "photo"\. Enter that name\./],
		[Object.fromEntries(twelve), /^The item has "f0", .*"f9", …\. Enter one/],
	])('is, for a wrong name of a binary field, told by those of the item', async (given, advice) => {
		const error = await imageError(editImage(sourceFiles('data')), given);
		expect(error[0]).toBe('Image 1: Input Binary Field "data" is not a binary field of the item');
		expect(error[1]).toMatch(advice);
	});
});
