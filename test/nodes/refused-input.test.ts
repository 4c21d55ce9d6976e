import type { IBinaryData, IDataObject, INodeExecutionData } from 'n8n-workflow';
import { drawPicture } from '../../gateway';
import { storeBinaryInMemory, type FailedRun } from '../../scripts/engine/index';
import {
	createResponse,
	editImage,
	generateImage,
	getTask,
	shown,
	startHarness,
	type Harness,
} from './arrange';

let harness: Harness;
beforeEach(async () => {
	await storeBinaryInMemory();
	harness = await startHarness();
});
afterEach(async () => await harness.close());

const file = (bytes: Buffer | string, mimeType: string): IBinaryData => ({
	data: Buffer.from(bytes).toString('base64'),
	mimeType,
});
/** An item with a picture, a text and a file without bytes. */
const items: INodeExecutionData[] = [
	{
		json: {},
		binary: {
			data: file(drawPicture({ prompt: 'boat', index: 0, width: 24, height: 16 }), 'image/png'),
			page: file('Hello', 'text/plain'),
			nothing: file('', 'image/png'),
		},
	},
];

/** What the user reads, for one value. */
type Row = [message: string, advice: string, value: IDataObject];

/** Runs a node with a bad value, and expects that it says so, of its item, before it sends anything. */
async function expectRefusal([message, advice]: Row, fail: () => Promise<FailedRun>) {
	const error = shown(await fail());
	expect(error).toMatchObject({ name: 'NodeOperationError', description: advice });
	// The platform says in its own words why JSON does not parse.
	expect(error.message.replace(/(?<=is not valid JSON): .+/, '')).toBe(message);
	expect(error.context).toMatchObject({ itemIndex: 0, details: { retryable: false, advice } });
	expect(harness.gateway.count()).toBe(0);
}

describe('Response → Create is not sent:', () => {
	test.each<Row>([
		['Max Retries is not a number', 'Enter a whole number from 0 on.', { maxRetries: 'many' }],
		['Temperature is below 0', 'Enter a number from 0 on.', { temperature: -1 }],
		['Concurrency is below 1', 'Enter a whole number from 1 on.', { concurrency: 0 }],
		['Concurrency is not a whole number', 'Enter a whole number from 1 on.', { concurrency: 1.5 }],
		['Timeout is 0', 'Enter a number of seconds above 0.', { timeout: 0 }],
		['Timeout is longer than 24 days', 'Enter a smaller number of seconds.', { timeout: 3e6 }],
		['Idle Timeout is 0', 'Enter a number of seconds above 0.', { idleTimeout: 0 }],
		[
			'Metadata is not a JSON object',
			'Enter an object in braces, such as { "seed": 7 }.',
			{ metadata: '[1]' },
		],
		['Tools is not a JSON list', 'Enter a list in square brackets.', { tools: '{}' }],
		[
			'Extra Body is not valid JSON',
			'Check quotes, commas and braces there. Names and texts stand in double quotes.',
			{ extraBody: '{ a: 1 }' },
		],
		[
			'Schema Name is not a name',
			'Use letters, digits, hyphens and underscores, 64 at most.',
			{ outputFormat: { format: { name: 'my schema', schema: '{ "type": "object" }' } } },
		],
		[
			'Schema is empty',
			'Enter a JSON Schema that describes the answer.',
			{ outputFormat: { format: { schema: '{}' } } },
		],
	])('%s', async (...row) => {
		const parameters = createResponse({ options: row[2] });
		await expectRefusal(row, async () => await harness.textError(parameters));
	});

	const IMAGE_ADDRESS = 'Enter an address that begins with https:// or data:image/.';
	const USERS = 'Only a user’s message can hold images and files. Set its role to User.';
	test.each<[message: string, advice: string, ...messages: IDataObject[]]>([
		['Messages has no message', 'Add a message for the model to answer to.'],
		[
			'Message 2 is empty',
			'Enter its text, or remove the message.',
			{ type: 'text', text: 'Hello' },
			{ type: 'text', text: ' ' },
		],
		[
			'Message 1: Text is a list, not a text',
			'Write one entry of the list, such as {{ $json.items[0] }}, or all of them as a text: {{ $json.items.join() }}.',
			{ type: 'text', text: '={{ [1] }}' },
		],
		['Message 1 has the role assistant and an image', USERS, { role: 'assistant', type: 'image' }],
		['Message 1 has the role system and a file', USERS, { role: 'system', type: 'file' }],
		['Message 1: Image URL is empty', IMAGE_ADDRESS, { type: 'image', imageSource: 'url' }],
		[
			'Message 1: Image URL is no address of an image',
			IMAGE_ADDRESS,
			{ type: 'image', imageSource: 'url', imageUrl: 'boat.png' },
		],
		[
			'Message 1: Input Binary Field "page" is not an image but text/plain',
			'Set the message’s content to File for other files, or choose a field with an image.',
			{ type: 'image', binaryPropertyNames: 'page' },
		],
	])('%s', async (message, advice, ...rows) => {
		const messages = { message: rows.map((row) => ({ role: 'user', ...row })) };
		const parameters = createResponse({ inputType: 'messages', messages });
		const fail = async () => await harness.textError(parameters, { items });
		await expectRefusal([message, advice, parameters], fail);
	});
});

describe('An image or a look at a task is not sent:', () => {
	const ADDRESS = 'https://pictures.example.com/a.png';
	const NO_FILE =
		'Check the name, and that the node before hands on a binary file. An expression may also give the binary data of another node’s item.';
	const MEGABYTES = 'Enter a number of megabytes above 0.';
	const files = (imageBinaryPropertyNames: string) =>
		editImage({ imageSource: 'binary', imageBinaryPropertyNames });
	const mask = (options: IDataObject) =>
		editImage({ imageSource: options.maskUrl ? 'url' : 'binary', options });

	test.each<Row>([
		[
			'Put Output File in Field is empty',
			'Enter the name of a binary field, such as data.',
			generateImage({ binaryPropertyName: ' ' }),
		],
		['Max File Size is 0', MEGABYTES, generateImage({ options: { maxFileSize: 0 } })],
		['Max File Size is 0', MEGABYTES, getTask('t', { options: { maxFileSize: '={{ 0 }}' } })],
		['Image URLs is empty', 'Enter the address of an image.', editImage({ imageUrls: ' ' })],
		[
			'Image URLs holds no address of an image at position 2',
			'Use addresses that begin with https:// or data:image/.',
			editImage({ imageUrls: `${ADDRESS}\nboat.png` }),
		],
		[
			'Input Binary Field names no binary field',
			'Enter the name of the input’s binary field, such as data; several are separated by commas.',
			files(' , '),
		],
		['Input Binary Field "x" is not a binary field of the item', NO_FILE, files('x')],
		[
			'Input Binary Field is an object, neither a name nor binary data',
			'Write the name of the field, such as data, or the file of another node’s item: {{ $("Name").item.binary.data }}.',
			files('={{ { a: 1 } }}'),
		],
		[
			'Input Binary Field "nothing" is empty',
			'The file has no bytes. Check the node that made it.',
			files('nothing'),
		],
		[
			'Input Binary Field "page" is not an image',
			'Its bytes have to be those of a PNG, JPEG, WebP or GIF file, whatever its name says.',
			files('page'),
		],
		[
			'Mask Binary Field "page" is not a PNG',
			'A mask is a PNG with an alpha channel, whose transparent parts are edited.',
			mask({ maskBinaryPropertyName: 'page' }),
		],
		[
			'Mask Binary Field names several',
			'An edit takes one mask.',
			mask({ maskBinaryPropertyName: 'data, page' }),
		],
		[
			'Mask URL names several',
			'An edit takes one mask.',
			mask({ maskUrl: `${ADDRESS}, ${ADDRESS}` }),
		],
	])('%s', async (...row) => {
		const parameters = row[2];
		await expectRefusal(row, async () => await harness.imageError(parameters, { items }));
	});
});
