import type { IDataObject } from 'n8n-workflow';
import { drawImage } from '../../gateway';
import type { FailedRun } from '../../scripts/engine/index';
import {
	createResponse,
	editImage,
	file,
	generateImage,
	getTask,
	itemsOf,
	shown,
	sourceFiles,
	sourceUrls,
	useHarness,
} from './arrange';

const harness = useHarness();

/** An item with a picture, a text and a file without bytes. */
const binary = {
	data: file(drawImage({ prompt: 'boat', index: 0, width: 24, height: 16 })),
	page: file('Hello', undefined, 'text/plain'),
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
async function expectRefusal([message, advice]: Row, run: Promise<FailedRun>) {
	const error = shown(await run);
	expect(error).toMatchObject({
		name: 'NodeOperationError',
		description: advice,
		context: { itemIndex: 0, details: { retryable: false, advice } },
	});
	// The platform says in its own words why JSON does not parse.
	expect(error.message.replace(/(?<=is not valid JSON): .+/, '')).toBe(message);
	expect(harness.gateway.count()).toBe(0);
}

describe('Response → Create is not sent:', () => {
	const QUOTES = 'Check quotes, commas and braces there. Names and texts stand in double quotes.';
	const schema = (format: IDataObject): IDataObject => ({ outputFormat: { format } });

	test.each(
		rowsOf({
			'Enter a whole number from 0 on.': [['Max Retries is not a number', { maxRetries: 'many' }]],
			'Enter a number from 0 on.': [
				['Temperature is below 0', { temperature: -1 }],
				['Top P is below 0', { topP: -1 }],
			],
			'Enter a whole number from 1 on.': [
				['Concurrency is below 1', { concurrency: 0 }],
				['Concurrency is not a whole number', { concurrency: 1.5 }],
				['Max Output Tokens is below 1', { maxOutputTokens: 0 }],
				['Max Output Tokens is not a whole number', { maxOutputTokens: 1.5 }],
			],
			'Enter a number of seconds above 0.': [['Timeout is 0', { timeout: 0 }]],
			'Enter a smaller number of seconds.': [['Timeout is longer than 24 days', { timeout: 3e6 }]],
			'Enter an object in braces, such as { "seed": 7 }.': [
				['Metadata is not a JSON object', { metadata: '[1]' }],
			],
			'Enter a list in square brackets.': [['Tools is not a JSON list', { tools: '{}' }]],
			[QUOTES]: [
				['Extra Body is not valid JSON', { extraBody: '{ a: 1 }' }],
				['Tool Choice is not valid JSON', { toolChoice: '{\n "type" }' }],
				['Schema is not valid JSON', schema({ schema: '{ "type" }' })],
			],
			'Use letters, digits, hyphens and underscores, 64 at most.': [
				['Schema Name is not a name', schema({ name: 'my schema', schema: '{ "a": 1 }' })],
				['Schema Name is not a name', schema({ name: 'a'.repeat(65), schema: '{ "a": 1 }' })],
			],
			'Enter a JSON Schema that describes the answer.': [
				['Schema is empty', schema({ schema: '{}' })],
			],
		}),
	)('%s', async (...row) => {
		await expectRefusal(row, harness.textError(createResponse({ options: row[2] })));
	});

	test('Idle Timeout is 0, with Stream', async () => {
		const parameters = createResponse({ stream: true, options: { idleTimeout: 0 } });
		const row: Row = ['Idle Timeout is 0', 'Enter a number of seconds above 0.'];
		await expectRefusal(row, harness.textError(parameters));
	});

	test('Input (JSON) is not valid JSON', async () => {
		const parameters = createResponse({ inputType: 'json', inputJson: '[{ "role": ]' });
		await expectRefusal(['Input (JSON) is not valid JSON', QUOTES], harness.textError(parameters));
	});

	const url = { type: 'image', imageSource: 'url' };
	test.each(
		rowsOf({
			'Add a message for the model to answer to.': [['Messages has no message']],
			'Enter its prompt, or remove the message.': [
				['Message 2 is empty', { type: 'text', text: 'Hello' }, { type: 'text', text: ' ' }],
			],
			'Write one entry of the list, such as {{ $json.items[0] }}, or all of them as a text: {{ $json.items.join() }}.':
				[['Message 1: Prompt is a list, not a text', { type: 'text', text: '={{ [1] }}' }]],
			'Only a user’s message can hold images and files. Set Role to User.': [
				['Message 1 has the role assistant and an image', { role: 'assistant', type: 'image' }],
				['Message 1 has the role system and a file', { role: 'system', type: 'file' }],
			],
			'Enter a URL that begins with https:// or data:image/.': [
				['Message 1: Image URL is empty', url],
				['Message 1: Image URL is not the URL of an image', { ...url, imageUrl: 'boat.png' }],
			],
			'Set Type to File for other files, or select a field with an image.': [
				[
					'Message 1: Input Binary Field "page" is not an image but text/plain',
					{ type: 'image', binaryPropertyNames: 'page' },
				],
			],
		}),
	)('%s', async (message, advice, ...rows) => {
		const messages = { message: rows.map((row) => ({ role: 'user', ...row })) };
		const parameters = createResponse({ inputType: 'messages', messages });
		await expectRefusal([message, advice], harness.textError(parameters, { items }));
	});
});

describe('An image or a look at a task is not sent:', () => {
	const ADDRESS = 'https://pictures.example.com/a.png';
	const files = (...names: string[]) => editImage(sourceFiles(...names));
	const mask = (maskBinaryPropertyName: string) =>
		editImage({ ...sourceFiles('data'), options: { maskBinaryPropertyName } });
	const maskAt = (maskUrl: string) => editImage({ options: { maskUrl } });

	test.each(
		rowsOf({
			'Enter the name of a binary field, such as data.': [
				[
					'Put Output File in Field is empty',
					generateImage({ options: { binaryPropertyName: ' ' } }),
				],
			],
			'Enter a number of megabytes above 0.': [
				['Max File Size is 0', generateImage({ options: { maxFileSize: 0 } })],
				['Max File Size is 0', getTask('t', { options: { maxFileSize: '={{ 0 }}' } })],
			],
			'Enter the URL of an image.': [['Image 1: URL is empty', editImage(sourceUrls(' '))]],
			'Use URLs that begin with https:// or data:image/.': [
				['Image 2: URL has no image URL at position 1', editImage(sourceUrls(ADDRESS, 'boat.png'))],
				['Mask URL has no image URL at position 1', maskAt('hole')],
			],
			'Enter the name of the input’s binary field, such as data; several are separated by commas.':
				[['Image 1: Input Binary Field names no binary field', files(' , ')]],
			'The item has "data", "page", "nothing". Enter one of these names. An expression may also give the binary data of another node’s item.':
				[['Image 1: Input Binary Field "x" is not a binary field of the item', files('x')]],
			'Write the name of the field, such as data, or the file of another node’s item: {{ $("Name").item.binary.data }}.':
				[
					[
						'Image 1: Input Binary Field is an object, neither a name nor binary data',
						files('={{ { a: 1 } }}'),
					],
				],
			'The file has no bytes. Check the node that made it.': [
				['Image 1: Input Binary Field "nothing" is empty', files('nothing')],
			],
			'Its content must be a PNG, JPEG, WebP or GIF, whatever its name says.': [
				['Image 1: Input Binary Field "page" is not an image', files('page')],
			],
			'A mask is a PNG with an alpha channel, whose transparent parts are edited.': [
				['Mask Binary Field "page" is not a PNG', mask('page')],
			],
			'An edit takes one mask.': [
				['Mask Binary Field names several', mask('data, page')],
				['Mask URL names several', maskAt(`${ADDRESS}, ${ADDRESS}`)],
			],
		}),
	)('%s', async (...row) => await expectRefusal(row, harness.imageError(row[2]!, { items })));
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
	const run = await harness.image(generateImage({ options }), {
		items: itemsOf(...rows.map(([given]) => given)),
		onError: 'continueRegularOutput',
	});
	expect(run.items.map(({ json, pairedItem }) => [json.error, pairedItem])).toEqual(
		rows.map(([, message], item) => [message, { item }]),
	);
	expect(harness.gateway.count()).toBe(0);
});
