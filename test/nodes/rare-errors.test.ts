import { readdirSync, readFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { IBinaryData, IDataObject, INodeExecutionData } from 'n8n-workflow';
import { ModelAccessApi } from '../../credentials/ModelAccessApi.credentials';
import { drawPicture } from '../../gateway';
import {
	newRecord,
	runCredentialTest,
	storeBinaryInMemory,
	storeBinaryOnDisk,
} from '../../scripts/engine/index';
import { expectNoSecret } from '../support/secrets';
import {
	byId,
	createResponse,
	editImage,
	generateImage,
	getModels,
	getTask,
	itemsOf,
	numbered,
	shown,
	startStory,
	waitForTask,
	type Access,
	type ShownError,
	type Story,
} from './arrange';

let story: Story;
beforeEach(async () => {
	await storeBinaryInMemory();
	story = await startStory();
});
afterEach(async () => await story.close());

/** What the error holds of other items, beside their tasks. */
type Listed = ShownError['context'] & {
	inDoubt?: Array<{ item: number; message: string; partial_text?: string }>;
};
const listedIn = (error: ShownError) => error.context as Listed;

/** A storage on disk whose folder is gone, with a file in its place. */
async function brokenStorage() {
	const storage = await storeBinaryOnDisk();
	await rm(storage.folder, { recursive: true });
	await writeFile(storage.folder, '');
	return storage;
}

describe('An answer that n8n cannot store', () => {
	const drawn = createResponse({
		prompt: 'A boat',
		options: { tools: '[{ "type": "image_generation" }]' },
	});
	const said = /^The answer could not be handed on: \S/;
	const advice = 'The answer was paid for; its text is in the error’s details.';
	test('is an error that holds its text, and says that it was paid for', async () => {
		const storage = await brokenStorage();
		try {
			const run = await story.textError(drawn);

			const error = shown(run);
			const id = story.gateway.requests[0]?.id;
			expect(error.name).toBe('NodeApiError');
			expect(error.message).toMatch(said);
			expect(error.description).toBe(`${advice} Request ID: ${id}.`);
			expect(error.context.details).toEqual({
				partial_text: 'You said: A boat',
				request_id: id,
				retryable: false,
				advice,
			});
			expect(story.gateway.charges).toHaveLength(1);
			expect(story.gateway.count()).toBe(1);
		} finally {
			await storage.remove();
		}
	});

	test('is an error item with its text under Continue, and the other items go on', async () => {
		const storage = await brokenStorage();
		try {
			const { items } = await story.text(
				{
					...drawn,
					options: { tools: '={{ $json.n === 0 ? \'[{ "type": "image_generation" }]\' : "" }}' },
				},
				{ items: numbered(2), onError: 'continueRegularOutput' },
			);

			expect(items[0]?.json.error).toMatch(said);
			expect(items[0]?.json.error_details).toMatchObject({
				partial_text: 'You said: A boat',
				retryable: false,
				advice,
			});
			expect(items[1]?.json.text).toBe('You said: A boat');
		} finally {
			await storage.remove();
		}
	});

	test('is listed with its text where another item ended the node', async () => {
		story.gateway.settings.intercept = ({ record, stage }) => {
			if (stage !== 'before') return undefined;
			const { input } = record.body as IDataObject;
			return input === 'bad' ? { kind: 'reply', status: 400 } : { kind: 'delay', ms: 5000 };
		};
		const storage = await brokenStorage();
		try {
			const run = await story.textError(
				{ ...drawn, prompt: '={{ $json.n === 0 ? "bad" : "A boat" }}' },
				{ items: numbered(2) },
			);

			const error = shown(run);
			expect(error.context.itemIndex).toBe(0);
			expect(error.description).toMatch(
				/may have been executed and charged as well; .*: item 1: The answer could not be handed on: /,
			);
			expect(error.description).not.toContain('had been received');
			expect(listedIn(error).inDoubt).toEqual([
				{
					item: 1,
					message: expect.stringMatching(said) as string,
					partial_text: 'You said: A boat',
				},
			]);
		} finally {
			await storage.remove();
		}
	});
});

describe('A batch that fails', () => {
	/** Each item says what becomes of it. The gateway takes its time, but for the bad one. */
	async function failed(...prompts: string[]) {
		story.gateway.settings.intercept = ({ record, stage }) => {
			const { input } = record.body as IDataObject;
			if (input === 'bad') return { kind: 'reply', status: 400 };
			if (stage === 'before') return { kind: 'delay', ms: 5000 };
			return input === 'lost' ? { kind: 'destroy' } : undefined;
		};
		const run = await story.textError(
			createResponse({
				prompt: '={{ $json.prompt }}',
				stream: '={{ $json.prompt.startsWith("[[error]]") }}',
				options: { concurrency: prompts.length },
			}),
			{ items: itemsOf(...prompts.map((prompt) => ({ prompt }))) },
		);
		expect(shown(run).message).toMatch(/refused the request as invalid \(HTTP 400\)/);
		expect(shown(run).context.itemIndex).toBe(prompts.indexOf('bad'));
		return shown(run);
	}

	test('lists what else may have been executed and charged, with what text is there', async () => {
		const error = await failed('lost', 'bad', '[[error]] Tell me much more');

		expect(error.description).toContain(
			'These requests may have been executed and charged as well; check the usage in the gateway’s console: ',
		);
		expect(error.description).not.toContain('had been received');
		const inDoubt = listedIn(error).inDoubt ?? [];
		for (const { item, message } of inDoubt) {
			expect(error.description).toContain(`item ${item}: ${message}`);
		}
		expect([...inDoubt].sort((a, b) => a.item - b.item)).toEqual([
			{
				item: 0,
				message: 'The connection to the gateway was lost before its answer was here (ECONNRESET)',
			},
			{
				item: 2,
				message: 'The model’s response failed: The model failed on purpose.',
				partial_text: expect.stringMatching(/^You said: \S/) as string,
			},
		]);
	});

	test.each<[string, string[], string]>([
		[
			'one answer',
			['bad', 'Hello'],
			'1 answer of other items had been received; if no further try of the node hands it on, it is lost. Set On Error to Continue to keep what succeeds.',
		],
		[
			'several answers',
			['Hello', 'bad', 'there', 'Ahoy'],
			'3 answers of other items had been received; if no further try of the node hands them on, they are lost. Set On Error to Continue to keep what succeeds.',
		],
	])('counts %s of other items that had been received', async (_name, prompts, note) => {
		const error = await failed(...prompts);

		expect(error.description).toMatch(/Fix the request/);
		expect(error.description?.endsWith(` ${note}`)).toBe(true);
		expect(listedIn(error).inDoubt).toBeUndefined();
	});

	test('says both where both happened, doubts first', async () => {
		const { description } = await failed('bad', 'lost', 'Hello');
		expect(description).toMatch(/charged as well; .*item 1: The connection.*1 answer of other/);
	});

	test('says neither where it is alone', async () => {
		const error = await failed('bad');
		expect(error.description).not.toMatch(/as well|had been received/);
		expect(listedIn(error).inDoubt).toBeUndefined();
	});
});

describe('An operation that is not there', () => {
	test.each<['text' | 'image', string, string]>([
		['text', 'response', 'delete'],
		['text', 'model', 'create'],
		['image', 'task', 'cancel'],
		['image', 'image', 'wait'],
	])('is named by the %s node: %s, %s', async (node, resource, operation) => {
		const fail = node === 'text' ? story.textError : story.imageError;
		const error = shown(await fail({ resource, operation }));

		expect(error.message).toBe(`The operation "${operation}" of "${resource}" does not exist`);
		expect(error.description).toBe('Choose Resource and Operation from their lists.');
		expect(story.gateway.count()).toBe(0);
	});
});

test('the credential’s test says that what answers is no list of models, and what that points to', async () => {
	story.gateway.settings.intercept = () => ({ kind: 'reply', status: 200, body: { hello: 'you' } });
	const record = newRecord();
	const data = { ...story.access };
	const result = await runCredentialTest({ credentialType: new ModelAccessApi(), data, record });

	expectNoSecret(data.apiKey, result, record);
	expect(result).toEqual({
		status: 'Error',
		message:
			'The address answers, but not with a list of models. A web page in place of JSON points to a wrong Base URL, a login page of a proxy, or a firewall in front of the gateway. Open the Base URL of the credential in a browser to see the page.',
	});
});

const PNG = drawPicture({ prompt: 'boat', index: 0, width: 24, height: 16 });
const file = (bytes: Buffer, fileName: string, mimeType: string): IBinaryData => ({
	data: bytes.toString('base64'),
	fileName,
	mimeType,
});
/** An item with a picture, a text and a file without bytes. */
const FILES: INodeExecutionData[] = [
	{
		json: {},
		binary: {
			data: file(PNG, 'boat.png', 'image/png'),
			page: file(Buffer.from('Hello'), 'page.txt', 'text/plain'),
			nothing: file(Buffer.alloc(0), 'nothing.png', 'image/png'),
		},
	},
];

interface Row {
	message: string;
	advice: string;
	/** Text is the node of Response → Create. */
	node?: 'text' | 'image';
	parameters: () => IDataObject;
	access?: Partial<Access>;
}

const text = (message: string, advice: string, given: IDataObject): Row => ({
	message,
	advice,
	node: 'text',
	parameters: () => createResponse(given),
});
const image = (message: string, advice: string, parameters: () => IDataObject): Row => ({
	message,
	advice,
	node: 'image',
	parameters,
});
const baseUrl = (typed: string, problem: string, advice = ADDRESS): Row => ({
	message: `Base URL ${problem}`,
	advice,
	parameters: getModels,
	access: { baseUrl: typed },
});
const apiKey = (typed: string, problem: string): Row => ({
	message: `API Key ${problem}`,
	advice: 'Copy the key again from the gateway’s console and paste it alone.',
	parameters: createResponse,
	access: { apiKey: typed },
});
const rows = (message: string, advice: string, ...messages: IDataObject[]): Row =>
	text(message, advice, { inputType: 'messages', messages: { message: messages } });
const json = (problem: string, advice: string, inputJson: unknown): Row =>
	text(`Input (JSON) ${problem}`, advice, {
		inputType: 'json',
		inputJson: inputJson as IDataObject,
	});
const files = (message: string, advice: string, given: IDataObject): Row =>
	image(message, advice, () => editImage({ imageSource: 'binary', ...given }));
const task = (problem: string, taskId: () => string): Row =>
	image(
		`Task ID ${problem}`,
		'Enter the task_id that Image → Generate returned, or the poll_url beside it, of the gateway in the credential.',
		() => waitForTask(taskId()),
	);

const ADDRESS = 'Enter the address as the gateway shows it, such as https://api.example.com/v1';
const MODEL = 'Choose a model from the list or enter its exact ID.';
const MESSAGES =
	'Responses uses "input"; "messages" belongs to the Chat Completions interface. Give the items of "messages" alone, as the input.';
const INPUT =
	'Enter a list of input items, such as [{ "role": "user", "content": "Hello" }], or a text.';
const NO_FILE =
	'Check the name, and that the node before hands on a binary file. An expression may also give the binary data of another node’s item.';
const NO_NAME =
	'Enter the name of the input’s binary field, such as data; several are separated by commas.';
const USERS = 'Only a user’s message can hold images and files. Set its role to User.';
const IMAGE_ADDRESS = 'Enter an address that begins with https:// or data:image/.';
const MASK = 'A mask is a PNG with an alpha channel, whose transparent parts are edited.';
const IMAGES =
	'Its bytes have to be those of a PNG, JPEG, WebP or GIF file, whatever its name says.';

/** Each refusal of what a user entered, by the file that refuses it. */
const REFUSALS: Record<string, Row[]> = {
	'image-request.ts': [
		image(
			'Size is neither auto nor <width>x<height>',
			'Enter the size in pixels, such as 1024x1024, or auto.',
			() => generateImage({ options: { size: 'big' } }),
		),
		image(
			'Extra Body asks to stream, which image tasks do not allow',
			'Remove "stream" from the Extra Body option.',
			() => generateImage({ options: { extraBody: '{ "stream": true }' } }),
		),
	],
	'base-url.ts': [
		baseUrl('', 'is empty'),
		baseUrl(`https://${'a'.repeat(2048)}.example.com`, 'is longer than 2048 characters'),
		baseUrl('https://gateway example.com', 'contains a space, a backslash or a line break'),
		baseUrl(
			'https://gateway.example.com/v1?x=1',
			'contains a query or a fragment (? or #)',
			'Remove everything from the ? or # on; the key belongs into the API Key field.',
		),
		baseUrl(
			'http://gateway.example.com/v1',
			'uses http, which would send the key unencrypted',
			'Use https. Plain http is allowed for a gateway on this machine only (localhost).',
		),
		baseUrl('ftp://gateway.example.com', 'uses ftp, which is not a web address'),
		baseUrl(
			'https://user@gateway.example.com',
			'contains a user name',
			'Remove the part before the @; the key belongs into the API Key field.',
		),
		baseUrl('https:///v1', 'names no host'),
		baseUrl('https://gateway.example.com:99999/v1', 'is not a valid address'),
	],
	'api-key.ts': [
		apiKey(' ', 'is empty'),
		apiKey('Bearer', 'is empty'),
		apiKey('k'.repeat(4097), 'is longer than 4096 characters'),
		apiKey('mak-with\na-break', 'contains a line break or another control character'),
		apiKey('mak-with a-space', 'contains a space'),
		apiKey('mak-with"a-quote', 'contains a quote'),
		apiKey('mak-with-ключ-x', 'contains a character that is not ASCII'),
	],
	'require-text.ts': [
		text('Model is empty', MODEL, { model: byId('') }),
		text('Prompt is not a text', 'Enter what the model should answer to.', {
			prompt: '={{ { a: 1 } }}',
		}),
		text('Prompt is empty', 'Enter what the model should answer to.', { prompt: ' \n' }),
		image('Model is empty', MODEL, () => generateImage({ model: byId('') })),
		image('Prompt is empty', 'Describe the image in words.', () => generateImage({ prompt: '' })),
		task('is empty', () => ''),
	],
	'image-edit.ts': [
		image('Image URLs is empty', 'Enter the address of an image.', () =>
			editImage({ imageUrls: ' ' }),
		),
		image(
			'Image URLs holds no address of an image at position 2',
			'Use addresses that begin with https:// or data:image/.',
			() => editImage({ imageUrls: 'https://pictures.example.com/a.png\nboat.png' }),
		),
	],
	'image-task.ts': [
		task('is no task ID', () => '..'),
		task('is not a valid address', () => 'https://[/v1/images/tasks/x'),
		task('is an address of another gateway', () => 'https://other.example.com/v1/images/tasks/x'),
		task('is not the address of an image task', () => `${story.access.baseUrl}/models`),
	],
	'response-input.ts': [
		json('holds "messages"', MESSAGES, '{ "messages": [] }'),
		json(
			'is a whole request body',
			'Enter the value of "input" alone; other fields belong into the options, or into Extra Body.',
			'{ "input": "Hello" }',
		),
		json('is empty', INPUT, '[]'),
		json('is no input for a model', INPUT, '{ "hello": "you" }'),
	],
	'response.ts': [
		text('Extra Body holds "messages"', MESSAGES, { options: { extraBody: '{ "messages": [] }' } }),
		text(
			'Extra Body asks to stream',
			'Remove "stream" from the Extra Body option, and turn on the field Stream.',
			{ options: { extraBody: '{ "stream": true }' } },
		),
	],
	'binary-input.ts': [
		files('Input Binary Field names no binary field', NO_NAME, { imageBinaryPropertyNames: ' , ' }),
		files('Input Binary Field "x" is not a binary field of the item', NO_FILE, {
			imageBinaryPropertyNames: 'x',
		}),
		files('Input Binary Field is neither a name nor binary data', NO_FILE, {
			imageBinaryPropertyNames: '={{ { a: 1 } }}',
		}),
		files(
			'Input Binary Field "nothing" is empty',
			'The file has no bytes. Check the node that made it.',
			{ imageBinaryPropertyNames: 'nothing' },
		),
	],
	'parameters.ts': [
		text('Max Retries is not a number', 'Enter a whole number from 0 on.', {
			options: { maxRetries: 'many' },
		}),
		text('Temperature is below 0', 'Enter a number from 0 on.', { options: { temperature: -1 } }),
		text('Concurrency is not a whole number', 'Enter a whole number from 1 on.', {
			options: { concurrency: 1.5 },
		}),
		text('Timeout is 0', 'Enter a number of seconds above 0.', { options: { timeout: 0 } }),
		text('Idle Timeout is 0', 'Enter a number of seconds above 0.', {
			options: { idleTimeout: 0 },
		}),
		image('Timeout is longer than 24 days', 'Enter a smaller number of seconds.', () =>
			getTask('imgtask_1', { options: { timeout: 3_000_000 } }),
		),
		text('Metadata is not a JSON object', 'Enter an object in braces, such as { "seed": 7 }.', {
			options: { metadata: '[1]' },
		}),
		text('Tools is not a JSON list', 'Enter a list in square brackets.', {
			options: { tools: '{}' },
		}),
		text(
			'Extra Body is not valid JSON (line 1, column 3)',
			'Check quotes, commas and braces there. Names and texts stand in double quotes.',
			{ options: { extraBody: '{ a: 1 }' } },
		),
	],
	'message-rows.ts': [
		rows('Messages has no message', 'Add a message for the model to answer to.'),
		rows(
			'Message 2 is empty',
			'Enter its text, or remove the message.',
			{ role: 'user', type: 'text', text: 'Hello' },
			{ role: 'user', type: 'text', text: ' ' },
		),
		rows('Message 1 has the role assistant and an image', USERS, {
			role: 'assistant',
			type: 'image',
		}),
		rows('Message 1 has the role system and a file', USERS, { role: 'system', type: 'file' }),
		rows(
			'Message 1 is not a text',
			'Its expression yields an object or a list. Choose one field of it, or use JSON.stringify().',
			{ role: 'user', type: 'text', text: '={{ [1] }}' },
		),
		rows('Message 1: Image URL is empty', IMAGE_ADDRESS, {
			role: 'user',
			type: 'image',
			imageSource: 'url',
		}),
		rows('Message 1: Image URL is no address of an image', IMAGE_ADDRESS, {
			role: 'user',
			type: 'image',
			imageSource: 'url',
			imageUrl: 'boat.png',
		}),
		rows(
			'Message 1: Input Binary Field "page" is not an image but text/plain',
			'Set the message’s content to File for other files, or choose a field with an image.',
			{ role: 'user', type: 'image', binaryPropertyNames: 'page' },
		),
	],
	'request-options.ts': [
		text('Schema Name is not a name', 'Use letters, digits, hyphens and underscores, 64 at most.', {
			options: { outputFormat: { format: { name: 'my schema', schema: '{ "type": "object" }' } } },
		}),
		text('Schema is empty', 'Enter a JSON Schema that describes the answer.', {
			options: { outputFormat: { format: { schema: '{}' } } },
		}),
	],
	'edit.operation.ts': [
		files('Mask Binary Field names several', 'An edit takes one mask.', {
			options: { maskBinaryPropertyName: 'data, page' },
		}),
		image('Mask URL names several', 'An edit takes one mask.', () =>
			editImage({
				options: {
					maskUrl: 'https://pictures.example.com/a.png, https://pictures.example.com/b.png',
				},
			}),
		),
		files('Input Binary Field "page" is not an image', IMAGES, {
			imageBinaryPropertyNames: 'page',
		}),
		files('Mask Binary Field "page" is not a PNG', MASK, {
			options: { maskBinaryPropertyName: 'page' },
		}),
	],
	'delivery.ts': [
		image(
			'Put Output File in Field is empty',
			'Enter the name of a binary field, such as data.',
			() => generateImage({ binaryPropertyName: ' ' }),
		),
		image('Max File Size is 0', 'Enter a number of megabytes above 0.', () =>
			generateImage({ options: { maxFileSize: 0 } }),
		),
		image('Max File Size is 0', 'Enter a number of megabytes above 0.', () =>
			getTask('imgtask_1', { options: { maxFileSize: '={{ 0 }}' } }),
		),
	],
};

const refusals = Object.entries(REFUSALS).flatMap(([source, list]) =>
	list.map((row): [string, string, Row] => [source, row.message, row]),
);

describe('What a user entered and cannot be sent', () => {
	test.each(refusals)(
		'%s: %s',
		async (_source, message, { advice, parameters, node = 'text', access }) => {
			const given = { items: FILES, access };
			const fail = node === 'text' ? story.textError : story.imageError;
			const error = shown(await fail(parameters(), given));

			expect(error.message).toBe(message);
			expect(error.description).toBe(advice);
			expect(error.name).toBe('NodeOperationError');
			expect(error.context).toMatchObject({
				itemIndex: 0,
				details: { retryable: false, advice },
			});

			const run = node === 'text' ? story.text : story.image;
			const kept = await run(parameters(), { ...given, onError: 'continueRegularOutput' });
			expect(kept.items.map((item) => item.json)).toEqual([
				{ error: message, error_details: { retryable: false, advice } },
			]);
			expect(story.gateway.count()).toBe(0);
		},
	);

	test('has a row for each place that refuses something', () => {
		const nodes = join(__dirname, '../../nodes');
		const places = readdirSync(nodes, { recursive: true, encoding: 'utf8' })
			// Those of the chat model are in chat-model.faults.test.ts and package/loading.test.ts.
			.filter((path) => path.endsWith('.ts') && !path.startsWith('LmChatModelAccess'))
			.map((path) => {
				const found = readFileSync(join(nodes, path), 'utf8').match(/new InputError\(/g) ?? [];
				return { source: path.replace(/^.*[/\\]/, ''), count: found.length };
			})
			.filter(({ count }) => count > 0);
		expect(places.map(({ source }) => source).sort()).toEqual(Object.keys(REFUSALS).sort());
		for (const { source, count } of places) {
			expect([source, REFUSALS[source]!.length >= count]).toEqual([source, true]);
		}
	});
});
