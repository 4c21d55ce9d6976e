import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';

import { NodeApiError, NodeOperationError } from 'n8n-workflow';
import type {
	ICredentialType,
	IDataObject,
	IExecuteFunctions,
	IHttpRequestOptions,
	ILoadOptionsFunctions,
	IN8nHttpFullResponse,
	INodeExecutionData,
	INodeProperties,
	INodeType,
	INodeTypeDescription,
} from 'n8n-workflow';
import nock from 'nock';

import {
	NODE_NAME,
	newRecord,
	readBinary,
	requestAs,
	runCredentialTest,
	runListSearch,
	runNode,
	runNodeToError,
	runWorkflow,
	storeBinaryInMemory,
	storeBinaryOnDisk,
	type BinaryStorage,
} from '../../scripts/engine/index';
import { expectNoSecret, findSecret } from '../support/secrets';
import { VirtualTime } from '../../scripts/engine/virtual-time';

const SECOND = 1000;
const HOUR = 3600 * SECOND;
const KEY = 'sk-test/4f9+a81c';

const text = (name: string, value = ''): INodeProperties => ({
	displayName: name,
	name,
	type: 'string',
	default: value,
});

/** The credential of these tests: a key and an address, sent by an expression. */
const genericCredential: ICredentialType = {
	name: 'testApi',
	displayName: 'Test API',
	properties: [text('apiKey'), text('baseUrl', 'http://127.0.0.1/v1')],
	authenticate: {
		type: 'generic',
		properties: {
			headers: { Authorization: '=Bearer {{$credentials.apiKey}}' },
			qs: { via: 'generic' },
		},
	},
	test: { request: { baseURL: '={{$credentials.baseUrl}}', url: '/models' } },
};

const functionCredential: ICredentialType = {
	...genericCredential,
	authenticate: async ({ apiKey }, options) => ({
		...options,
		headers: { ...options.headers, Authorization: `Key ${apiKey as string}` },
	}),
};

type Execute = (this: IExecuteFunctions) => Promise<INodeExecutionData[][]>;

/** A node that does `execute`, and takes what the arrangement needs. */
const nodeThat = (execute: Execute, more: Partial<INodeTypeDescription> = {}): INodeType => ({
	description: {
		displayName: 'Test',
		name: 'test',
		group: ['transform'],
		version: 1,
		description: 'Does what the test says',
		defaults: { name: 'Test' },
		inputs: ['main'],
		outputs: ['main'],
		credentials: [{ name: 'testApi', required: false }],
		properties: [],
		...more,
	},
	execute,
});

const fetchPath: Execute = async function () {
	const { baseUrl } = await this.getCredentials<{ baseUrl: string }>('testApi');
	const fetched = this.getInputData().map(async (_item, index) => {
		const url = `${baseUrl}${this.getNodeParameter('path', index) as string}`;
		const body = (await this.helpers.httpRequestWithAuthentication.call(this, 'testApi', {
			url,
		})) as unknown;
		return { json: { body } as IDataObject, pairedItem: { item: index } };
	});
	return [await Promise.all(fetched)];
};

/** A node that asks for `path` with the credential, once for each item. */
const fetcher = nodeThat(fetchPath, { properties: [text('path', '/default')] });

const servers: Server[] = [];

/** A server on loopback; returns its address. */
async function serve(listener: RequestListener): Promise<string> {
	const server = createServer(listener);
	servers.push(server);
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const echo: RequestListener = (request, response) => {
	const { url, method, headers } = request;
	response.setHeader('content-type', 'application/json');
	response.end(JSON.stringify({ url, method, authorization: headers.authorization }));
};

const testApi = (baseUrl = 'http://gateway.test') => ({
	credentials: { testApi: { apiKey: KEY, baseUrl } },
	credentialTypes: [genericCredential],
});

const json = (items: INodeExecutionData[]) => items.map((item) => item.json);

// Active, nock cuts off real streams that are read slowly: it is on only where a test asks for it.
nock.restore();

/** Answers for `gateway.test`; every other host but loopback is out of reach. */
function gateway() {
	nock.activate();
	nock.disableNetConnect();
	nock.enableNetConnect('127.0.0.1');
	return nock('http://gateway.test');
}

afterEach(() => {
	nock.cleanAll();
	nock.enableNetConnect();
	nock.restore();
	for (const server of servers.splice(0)) {
		server.closeAllConnections();
		server.close();
	}
});

describe('running one node', () => {
	test('parameters are resolved for each item, by the real expression engine', async () => {
		const node = nodeThat(
			async function () {
				const values = this.getInputData().map((_item, index) => ({
					json: { value: this.getNodeParameter('value', index) } as IDataObject,
				}));
				return [values];
			},
			{ properties: [text('value')] },
		);
		const { items } = await runNode({
			node,
			parameters: { value: '={{ $json.name.toUpperCase() }} of {{ $("Input").all().length }}' },
			items: [{ json: { name: 'a' } }, { json: { name: 'b' } }],
		});
		expect(json(items)).toEqual([{ value: 'A of 2' }, { value: 'B of 2' }]);
	});

	test('a parameter left out has its default, a hidden one does not exist', async () => {
		const node = nodeThat(
			async function () {
				return [[{ json: this.getNode().parameters as IDataObject }]];
			},
			{
				properties: [
					text('mode', 'simple'),
					{ ...text('extra', 'x'), displayOptions: { show: { mode: ['complex'] } } },
				],
			},
		);
		expect(json((await runNode({ node })).items)).toEqual([{ mode: 'simple' }]);
	});

	test('a class is constructed, and the newest version runs unless another is asked for', async () => {
		class Versioned implements INodeType {
			description = {
				...nodeThat(async () => []).description,
				version: [1, 1.2],
				defaultVersion: 1.2,
			};

			async execute(this: IExecuteFunctions) {
				return [[{ json: { version: this.getNode().typeVersion } }]];
			}
		}
		expect(json((await runNode({ node: Versioned })).items)).toEqual([{ version: 1.2 }]);
		const older = await runNode({ node: Versioned, typeVersion: 1 });
		expect(json(older.items)).toEqual([{ version: 1 }]);
	});

	test('the error of the node comes out as it is, and the record keeps the logs', async () => {
		const node = nodeThat(async function () {
			this.logger.warn('before the failure', { attempt: 1 });
			throw new NodeOperationError(this.getNode(), 'No model', { description: 'Choose one.' });
		});
		const record = newRecord();
		await expect(runNode({ node, record })).rejects.toThrow(NodeOperationError);
		expect(record.logs).toEqual([
			{ level: 'warn', message: 'before the failure', metadata: { attempt: 1 } },
		]);
		const { error, logs } = await runNodeToError({ node });
		expect(error).toMatchObject({ message: 'No model', description: 'Choose one.' });
		expect(logs).toHaveLength(1);
	});

	test('an expected failure that does not come is an error itself', async () => {
		await expect(runNodeToError({ node: nodeThat(async () => [[]]) })).rejects.toThrow(
			'The node succeeded where a failure was expected',
		);
	});

	test('logs of runs side by side stay apart', async () => {
		const node = nodeThat(async function () {
			for (const { json: item } of this.getInputData()) {
				await Promise.resolve();
				this.logger.info(item.name as string);
			}
			return [[]];
		});
		const runs = await Promise.all(
			['a', 'b'].map((name) => runNode({ node, items: [{ json: { name } }, { json: { name } }] })),
		);
		expect(runs.map(({ logs }) => logs.map(({ message }) => message))).toEqual([
			['a', 'a'],
			['b', 'b'],
		]);
	});

	test('messages, chunks and hints are collected', async () => {
		const node = nodeThat(async function () {
			this.sendMessageToUI('half done');
			if (this.isStreaming()) this.sendChunk('item', 0, 'text');
			this.addExecutionHints({ message: 'slow today' });
			return [[]];
		});
		const run = await runNode({ node, streaming: true });
		expect(run.uiMessages).toEqual([['half done']]);
		expect(run.chunks).toMatchObject([{ type: 'item', content: 'text' }]);
		expect(run.hints).toEqual([{ message: 'slow today' }]);
		expect((await runNode({ node })).chunks).toEqual([]);
		expect((await runNode({ node, mode: 'trigger' })).uiMessages).toEqual([]);
	});

	test('the node context of one run can be given to the next', async () => {
		const node = nodeThat(async function () {
			const context = this.getContext('node');
			context.runs = ((context.runs as number | undefined) ?? 0) + 1;
			return [[]];
		});
		const first = await runNode({ node, nodeContext: { runs: 4 } });
		expect(first.nodeContext).toEqual({ runs: 5 });
		const second = await runNode({ node, runExecutionData: first.runExecutionData });
		expect(second.nodeContext).toEqual({ runs: 6 });
	});

	test('onError, execution and binary mode are what the workflow says', async () => {
		const node = nodeThat(async function () {
			return [
				[
					{
						json: {
							continues: this.continueOnFail(),
							execution: this.getExecutionId(),
							binaryMode: this.getWorkflowSettings().binaryMode,
						},
					},
				],
			];
		});
		const run = await runNode({
			node,
			onError: 'continueErrorOutput',
			executionId: '77',
			binaryMode: 'combined',
		});
		expect(json(run.items)).toEqual([{ continues: true, execution: '77', binaryMode: 'combined' }]);
	});

	test('cancelling ends the request in flight', async () => {
		const canceller = new AbortController();
		const baseUrl = await serve(() => canceller.abort());
		const { error } = await runNodeToError({
			node: fetcher,
			...testApi(baseUrl),
			signal: canceller.signal,
		});
		expect(error.cause).toMatchObject({ code: 'ERR_CANCELED' });
	});
});

describe('credentials', () => {
	test('the generic form sends resolved expressions over a real socket', async () => {
		const { items } = await runNode({ node: fetcher, ...testApi(await serve(echo)) });
		expect(json(items)).toEqual([
			{
				body: {
					url: '/default?via=generic',
					method: 'GET',
					authorization: `Bearer ${KEY}`,
				},
			},
		]);
	});

	test('the function form sends what it returns', async () => {
		const { items } = await runNode({
			node: fetcher,
			...testApi(await serve(echo)),
			credentialTypes: [functionCredential],
		});
		expect(json(items)).toMatchObject([{ body: { authorization: `Key ${KEY}` } }]);
	});

	test('nock sees what the helpers send', async () => {
		gateway()
			.get('/default')
			.query({ via: 'generic' })
			.matchHeader('authorization', `Bearer ${KEY}`)
			.reply(200, { from: 'nock' });
		const { items } = await runNode({ node: fetcher, ...testApi() });
		expect(json(items)).toEqual([{ body: { from: 'nock' } }]);
	});

	test('nothing but loopback can be reached', async () => {
		gateway();
		const { error } = await runNodeToError({ node: fetcher, ...testApi() });
		expect(error.message).toContain('Disallowed net connect');
	});

	test('defaults of the credential apply, and expressions in its data are resolved', async () => {
		const node = nodeThat(async function () {
			return [[{ json: await this.getCredentials('testApi') }]];
		});
		const { items } = await runNode({
			node,
			items: [{ json: { tenant: 'acme' } }],
			credentials: { testApi: { apiKey: '={{ $json.tenant }}-key' } },
			credentialTypes: [genericCredential],
		});
		expect(json(items)).toEqual([{ apiKey: 'acme-key', baseUrl: 'http://127.0.0.1/v1' }]);
	});

	test('a credential that the node does not have is refused as in n8n', async () => {
		const required = nodeThat(fetchPath, {
			credentials: [{ name: 'testApi', required: true }],
			properties: [text('path')],
		});
		const { error } = await runNodeToError({ node: required });
		expect(error.message).toBe('Node does not have any credentials set for "testApi"');
	});

	test('a token that expires is fetched before the first request and kept', async () => {
		let fetched = 0;
		const tokenCredential: ICredentialType = {
			...functionCredential,
			properties: [
				...functionCredential.properties,
				{ ...text('token'), type: 'hidden', typeOptions: { expirable: true } },
			],
			preAuthentication: async () => ({ token: `token-${++fetched}` }),
			authenticate: async ({ token }, options) => ({
				...options,
				headers: { authorization: token as string },
			}),
		};
		const { items } = await runNode({
			node: fetcher,
			items: [{ json: {} }],
			...testApi(await serve(echo)),
			credentialTypes: [tokenCredential],
		});
		expect(json(items)).toMatchObject([{ body: { authorization: 'token-1' } }]);
	});
});

describe('virtual time', () => {
	test('a wait of hours is over at once, and to the millisecond', async () => {
		const time = new VirtualTime();
		const started = time.now();
		const node = nodeThat(async () => {
			await time.sleep(3 * HOUR);
			return [[{ json: { waited: time.now() - started } }]];
		});
		expect(json((await runNode({ node, time })).items)).toEqual([{ waited: 3 * HOUR }]);
		expect(time.waits).toEqual([3 * HOUR]);
	});

	test('it stands still while a request is on its way', async () => {
		const time = new VirtualTime();
		const baseUrl = await serve((_request, response) => {
			let turns = 0;
			const answerLater = () => (++turns < 200 ? setImmediate(answerLater) : response.end('late'));
			answerLater();
		});
		const node = nodeThat(async function () {
			const watchdog = time.sleep(SECOND).then(() => 'timed out');
			const answer = this.helpers.httpRequest({ url: baseUrl }) as Promise<string>;
			return [[{ json: { first: await Promise.race([answer, watchdog]) } }]];
		});
		expect(json((await runNode({ node, time })).items)).toEqual([{ first: 'late' }]);
	});

	test('it goes on while the gateway waits on the same clock', async () => {
		const time = new VirtualTime();
		const started = time.now();
		const baseUrl = await serve(
			(_request, response) =>
				void time.gateway.sleep(20 * SECOND).then(() => response.end('rested')),
		);
		const node = nodeThat(async function () {
			const body = (await this.helpers.httpRequest({ url: baseUrl })) as string;
			return [[{ json: { body, waited: time.now() - started } }]];
		});
		expect(json((await runNode({ node, time })).items)).toEqual([
			{ body: 'rested', waited: 20 * SECOND },
		]);
	});

	test.each([
		['on disk', storeBinaryOnDisk],
		['in memory', storeBinaryInMemory],
	])('a stream that pauses is stored %s, and each pause counts once', async (_where, store) => {
		const storage = await store();
		const time = new VirtualTime();
		const started = time.now();
		const baseUrl = await serve((_request, response) => {
			const drip = async () => {
				for (let part = 0; part < 3; part++) {
					response.write(Buffer.alloc(100_000, part));
					await time.gateway.sleep(10 * SECOND);
				}
				response.end();
			};
			void drip();
		});
		const node = nodeThat(async function () {
			const watchdog = time.sleep(31 * SECOND).then(() => {
				throw new Error('woke up before the stream ended');
			});
			const store = async () => {
				const { body } = await openStream(this, baseUrl);
				return await this.helpers.prepareBinaryData(body, 'a.bin', 'application/octet-stream');
			};
			const data = await Promise.race([store(), watchdog]);
			watchdog.catch(() => undefined);
			return [[{ json: { waited: time.now() - started }, binary: { data } }]];
		});
		const { items } = await runNode({ node, time });
		expect(json(items)).toEqual([{ waited: 30 * SECOND }]);
		expect(await readBinary(items[0]?.binary?.data)).toHaveLength(300_000);
		await storage.remove();
	});
});

const openStream = async (context: IExecuteFunctions, url: string) =>
	(await context.helpers.httpRequest({
		url,
		encoding: 'stream',
		returnFullResponse: true,
	} as IHttpRequestOptions)) as IN8nHttpFullResponse & { body: Readable };

describe('binary data', () => {
	const picture = Buffer.from('89504e470d0a1a0a00ff', 'hex');
	let storage: BinaryStorage;

	const downloader = (check: (chunk: Buffer) => void = () => undefined) =>
		nodeThat(
			async function () {
				const { body } = await openStream(this, this.getNodeParameter('url', 0) as string);
				const checked = async function* () {
					for await (const chunk of body) {
						check(chunk as Buffer);
						yield chunk as Buffer;
					}
				};
				const stream = Readable.from(checked(), { objectMode: false });
				const data = await this.helpers.prepareBinaryData(stream, 'p.png', 'image/png');
				return [[{ json: {}, binary: { data } }]];
			},
			{ properties: [text('url')] },
		);

	afterEach(async () => await storage.remove());

	test('a stream goes to disk and can be read back', async () => {
		storage = await storeBinaryOnDisk();
		const url = await serve((_request, response) => response.end(picture));
		const { items } = await runNode({ node: downloader(), parameters: { url } });
		const data = items[0]?.binary?.data;
		expect(data).toMatchObject({
			data: 'filesystem-v2',
			fileName: 'p.png',
			mimeType: 'image/png',
			bytes: picture.length,
		});
		expect(await readBinary(data)).toEqual(picture);
		expect(await storage.files()).toHaveLength(2);
	});

	test('a stream goes into the item in memory mode and can be read back', async () => {
		storage = await storeBinaryInMemory();
		const url = await serve((_request, response) => response.end(picture));
		const { items } = await runNode({ node: downloader(), parameters: { url } });
		expect(items[0]?.binary?.data?.data).toBe(picture.toString('base64'));
		expect(await readBinary(items[0]?.binary?.data)).toEqual(picture);
	});

	test('a stream that fails on the way leaves no file behind', async () => {
		storage = await storeBinaryOnDisk();
		const url = await serve((_request, response) => response.end(picture));
		const node = downloader(() => {
			throw new Error('not a picture');
		});
		const { error } = await runNodeToError({ node, parameters: { url } });
		expect(error.message).toBe('not a picture');
		expect(await storage.files()).toEqual([]);
	});

	test('a node reads the file of its input item', async () => {
		storage = await storeBinaryOnDisk();
		const url = await serve((_request, response) => response.end(picture));
		const { items } = await runNode({ node: downloader(), parameters: { url } });
		const reader = nodeThat(async function () {
			const bytes = await this.helpers.getBinaryDataBuffer(0, 'data');
			return [[{ json: { hex: bytes.toString('hex') } }]];
		});
		const read = await runNode({ node: reader, items, time: new VirtualTime() });
		expect(json(read.items)).toEqual([{ hex: picture.toString('hex') }]);
	});
});

describe('running a workflow', () => {
	interface Placed {
		name: string;
		type: string;
	}

	const place = (name: string, type: string, more: object = {}): Placed => ({
		name,
		type,
		...{ typeVersion: 1, position: [0, 0], parameters: {} },
		...more,
	});

	/** A workflow of these nodes, one after the other. */
	const chain = (...nodes: Placed[]) => ({
		name: 'Chain',
		nodes,
		connections: Object.fromEntries(
			nodes
				.slice(0, -1)
				.map(({ name }, index): [string, object] => [
					name,
					{ main: [[{ node: nodes[index + 1]?.name, type: 'main', index: 0 }]] },
				]),
		),
	});

	const trigger = place('Trigger', 'n8n-nodes-base.manualTrigger');

	test('each node gets the items of the one before, and results are found by name', async () => {
		const done: string[] = [];
		const run = await runWorkflow({
			workflow: chain(
				trigger,
				place('Fetch', 'x.test', { parameters: { path: '=/{{ $json.p }}' } }),
			),
			nodeTypes: { 'x.test': fetcher },
			triggerItems: [{ json: { p: 'a' } }, { json: { p: 'b' } }],
			...testApi(await serve(echo)),
			onNodeDone: (name) => void done.push(name),
		});
		expect(run.error).toBeUndefined();
		expect(run.status).toBe('success');
		expect(json(run.items('Fetch'))).toMatchObject([
			{ body: { url: '/a?via=generic' } },
			{ body: { url: '/b?via=generic' } },
		]);
		expect(done).toEqual(['Trigger', 'Fetch']);
		expect(() => run.items('Fetsch')).toThrow('No node is called "Fetsch"');
	});

	test('a failing node is tried again, and finds its context as it left it', async () => {
		const flaky = nodeThat(async function () {
			const context = this.getContext('node');
			const tries = ((context.tries as number | undefined) ?? 0) + 1;
			context.tries = tries;
			if (tries < 3) throw new Error('not yet');
			return [[{ json: { tries } }]];
		});
		const run = await runWorkflow({
			workflow: chain(trigger, place('Flaky', 'x.test', { retryOnFail: true, maxTries: 3 })),
			nodeTypes: { 'x.test': flaky },
			time: new VirtualTime(),
		});
		expect(json(run.items('Flaky'))).toEqual([{ tries: 3 }]);
	});

	test('an item with an error goes to the error output, linked to its input', async () => {
		const partial = nodeThat(async function () {
			const error = new NodeApiError(this.getNode(), {}, { message: 'No' });
			return [
				[
					{ json: { fine: true }, pairedItem: { item: 0 } },
					{ json: {}, error, pairedItem: { item: 1 } },
				],
			];
		});
		const run = await runWorkflow({
			workflow: chain(trigger, place('Partial', 'x.test', { onError: 'continueErrorOutput' })),
			nodeTypes: { 'x.test': partial },
			triggerItems: [{ json: { n: 0 } }, { json: { n: 1 } }],
		});
		expect(json(run.items('Partial'))).toEqual([{ fine: true }]);
		expect(run.items('Partial', 1)).toMatchObject([
			{ json: { error: 'No' }, pairedItem: { item: 1 } },
		]);
	});

	test('the error of a node ends the run and stands in the result', async () => {
		const broken = nodeThat(async function () {
			throw new NodeOperationError(this.getNode(), 'Out of order');
		});
		const run = await runWorkflow({
			workflow: chain(trigger, place('Broken', 'x.test'), place('After', 'n8n-nodes-base.noOp')),
			nodeTypes: { 'x.test': broken },
		});
		expect(run.error).toMatchObject({ message: 'Out of order' });
		expect(run.runs('Broken')).toMatchObject([{ executionStatus: 'error' }]);
		expect(run.runs('After')).toEqual([]);
	});

	test('a node type that is missing is reported as in n8n', async () => {
		const workflow = chain(trigger, place('Odd', 'x.unknown'));
		await expect(runWorkflow({ workflow, nodeTypes: {} })).rejects.toThrow(
			'Node Type "x.unknown" is not known.',
		);
	});

	test('cancelling ends the run', async () => {
		const canceller = new AbortController();
		const waiting = nodeThat(async function () {
			const signal = this.getExecutionCancelSignal();
			canceller.abort();
			signal?.throwIfAborted();
			return [[]];
		});
		const run = await runWorkflow({
			workflow: chain(trigger, place('Waiting', 'x.test'), place('After', 'n8n-nodes-base.noOp')),
			nodeTypes: { 'x.test': waiting },
			signal: canceller.signal,
		});
		expect(run.error).toBeDefined();
		expect(run.runs('After')).toEqual([]);
	});

	test('time is driven through the whole run, and progress is reported', async () => {
		const time = new VirtualTime();
		const started = time.now();
		const progress: unknown[] = [];
		const sleeper = nodeThat(async function () {
			this.sendMessageToUI('asleep');
			await time.sleep(HOUR);
			return [[{ json: { waited: time.now() - started } }]];
		});
		const run = await runWorkflow({
			workflow: chain(trigger, place('First', 'x.test'), place('Second', 'x.test')),
			nodeTypes: { 'x.test': sleeper },
			time,
			onProgress: (source, messages) => void progress.push([source, ...messages]),
		});
		expect(json(run.items('Second'))).toEqual([{ waited: 2 * HOUR }]);
		expect(progress).toEqual([
			['[Node: "First"]', 'asleep'],
			['[Node: "Second"]', 'asleep'],
		]);
	});

	test('Edit Fields sets typed and nested fields, and keeps the others if told', async () => {
		const assignment = (name: string, value: unknown, type: string) => ({ name, value, type });
		const fields = {
			assignments: {
				assignments: [
					assignment('name', '={{ $json.first }} {{ $("Trigger").item.json.last }}', 'string'),
					assignment('size.width', '1024', 'number'),
					assignment('tags', '["a","b"]', 'array'),
				],
			},
		};
		const set = (name: string, parameters: object) =>
			place(name, 'n8n-nodes-base.set', { typeVersion: 3.4, parameters });
		const run = await runWorkflow({
			workflow: chain(
				trigger,
				set('Add', { ...fields, includeOtherFields: true }),
				set('Raw', { mode: 'raw', jsonOutput: '={{ { count: $json.tags.length } }}' }),
			),
			nodeTypes: {},
			triggerItems: [{ json: { first: 'Ada', last: 'L' } }],
		});
		expect(json(run.items('Add'))).toEqual([
			{ first: 'Ada', last: 'L', name: 'Ada L', size: { width: 1024 }, tags: ['a', 'b'] },
		]);
		expect(json(run.items('Raw'))).toEqual([{ count: 2 }]);
	});

	test('Edit Fields refuses a value that does not fit its type', async () => {
		const parameters = {
			assignments: { assignments: [{ name: 'n', value: 'many', type: 'number' }] },
		};
		const run = await runWorkflow({
			workflow: chain(
				trigger,
				place('Set', 'n8n-nodes-base.set', { typeVersion: 3.4, parameters }),
			),
			nodeTypes: {},
		});
		expect(run.error?.message).toContain("'n' expects a number but we got 'many'");
	});

	test('If sends each item one way, by conditions that n8n evaluates', async () => {
		const parameters = {
			conditions: {
				options: { caseSensitive: true, leftValue: '', typeValidation: 'strict', version: 2 },
				combinator: 'and',
				conditions: [
					{
						leftValue: '={{ $json.status }}',
						rightValue: 'completed',
						operator: { type: 'string', operation: 'equals' },
					},
					{
						leftValue: '={{ $json.file }}',
						rightValue: '',
						operator: { type: 'string', operation: 'exists', singleValue: true },
					},
				],
			},
		};
		const run = await runWorkflow({
			workflow: chain(trigger, place('If', 'n8n-nodes-base.if', { typeVersion: 2.2, parameters })),
			nodeTypes: {},
			triggerItems: [
				{ json: { status: 'completed', file: 'a.png' } },
				{ json: { status: 'completed' } },
				{ json: { status: 'failed', file: 'c.png' } },
			],
		});
		expect(json(run.items('If', 0))).toEqual([{ status: 'completed', file: 'a.png' }]);
		expect(json(run.items('If', 1))).toEqual([
			{ status: 'completed' },
			{ status: 'failed', file: 'c.png' },
		]);
	});

	test('Write File writes into the given folder, and nowhere else', async () => {
		const folder = await mkdtemp(join(tmpdir(), 'support-test-'));
		const parameters = { operation: 'write', fileName: '=/elsewhere/{{ $binary.data.fileName }}' };
		const storage = await storeBinaryInMemory();
		const run = await runWorkflow({
			workflow: chain(trigger, place('Write', 'n8n-nodes-base.readWriteFile', { parameters })),
			nodeTypes: {},
			fileFolder: folder,
			triggerItems: [
				{
					json: {},
					binary: {
						data: {
							data: Buffer.from('bytes').toString('base64'),
							mimeType: 'text/plain',
							fileName: 'note.txt',
						},
					},
				},
			],
		});
		expect(json(run.items('Write'))).toEqual([{ fileName: '/elsewhere/note.txt' }]);
		expect(await readFile(join(folder, 'note.txt'), 'utf8')).toBe('bytes');
		await storage.remove();
		await rm(folder, { recursive: true });
	});
});

describe('what the editor does', () => {
	const withList: INodeType = {
		...fetcher,
		methods: {
			listSearch: {
				async models(this: ILoadOptionsFunctions, filter?: string, paginationToken?: string) {
					const { baseUrl } = await this.getCredentials<{ baseUrl: string }>('testApi');
					const { authorization } = (await this.helpers.httpRequestWithAuthentication.call(
						this,
						'testApi',
						{ url: baseUrl },
					)) as { authorization: string };
					const path = this.getCurrentNodeParameter('path') as string;
					return {
						results: [{ name: `${path} ${filter} ${paginationToken}`, value: authorization }],
					};
				},
			},
		},
	};

	test('a list is searched with the real helpers and the current parameters', async () => {
		const list = await runListSearch({
			node: withList,
			method: 'models',
			filter: 'gpt',
			paginationToken: 'page-2',
			parameters: { path: '/now' },
			time: new VirtualTime(),
			...testApi(await serve(echo)),
		});
		expect(list).toEqual({ results: [{ name: '/now gpt page-2', value: `Bearer ${KEY}` }] });
	});

	test('a credential test that passes', async () => {
		gateway()
			.get('/v1/models')
			.query(true)
			.matchHeader('authorization', `Bearer ${KEY}`)
			.reply(200, { data: [] });
		const data = { apiKey: KEY, baseUrl: 'http://gateway.test/v1' };
		await expect(runCredentialTest({ credentialType: genericCredential, data })).resolves.toEqual({
			status: 'OK',
			message: 'Connection successful!',
		});
	});

	// n8n sends the request a second time after a 401.
	test.each([
		['a status without a rule', 401, {}, 'Unauthorized'],
		[
			'a status with a rule',
			403,
			{
				rules: [
					{ type: 'responseCode', properties: { value: 403, message: 'The key may not list.' } },
				],
			},
			'The key may not list.',
		],
	])('a credential test that fails: %s', async (_case, status, more, message) => {
		gateway().get('/v1/models').query(true).times(2).reply(status, { error: {} });
		const result = await runCredentialTest({
			credentialType: {
				...genericCredential,
				test: { ...genericCredential.test, ...more } as ICredentialType['test'],
			},
			data: { apiKey: KEY, baseUrl: 'http://gateway.test/v1' },
			time: new VirtualTime(),
		});
		expect(result).toEqual({ status: 'Error', message });
	});

	test('a credential test that reaches nobody names the fault', async () => {
		gateway()
			.get('/v1/models')
			.query(true)
			.replyWithError(Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }));
		const data = { apiKey: KEY, baseUrl: 'http://gateway.test/v1' };
		await expect(runCredentialTest({ credentialType: genericCredential, data })).resolves.toEqual({
			status: 'Error',
			message: 'ECONNREFUSED',
		});
	});

	test('the HTTP Request node may use the credential, by either helper', async () => {
		const baseUrl = await serve(echo);
		const as = { credentialType: functionCredential, data: { apiKey: KEY, baseUrl } };
		const modern = await requestAs({
			...as,
			helper: 'httpRequestWithAuthentication',
			options: { url: `${baseUrl}/a` },
		});
		const older = await requestAs({
			...as,
			helper: 'requestWithAuthentication',
			options: { uri: `${baseUrl}/b`, json: true },
			time: new VirtualTime(),
		});
		expect([modern, older]).toMatchObject([
			{ url: '/a', authorization: `Key ${KEY}` },
			{ url: '/b', authorization: `Key ${KEY}` },
		]);
	});
});

describe('looking for a secret', () => {
	const hidden = (field: string) =>
		Object.defineProperty(new Error('outside'), field, { value: KEY, enumerable: false });
	const circular: Record<string, unknown> = { deep: { key: KEY } };
	circular.self = circular;

	test.each<[string, unknown, string]>([
		['a string', `Bearer ${KEY}`, 'it (plain)'],
		['a nested value', { a: [{ b: KEY }] }, 'it.a.0.b (plain)'],
		['a property name', { [KEY]: 1 }, 'a key of it (plain)'],
		['a circular structure', circular, 'it.deep.key (plain)'],
		['the message of an error', new Error(KEY), 'it.message (plain)'],
		[
			'the cause of an error',
			new Error('x', { cause: new Error(KEY) }),
			'it.cause.message (plain)',
		],
		['a hidden field of an error', hidden('request'), 'it.request (plain)'],
		['a Map', new Map([['a', KEY]]), 'it.value(0) (plain)'],
		['the key of a Map', new Map([[KEY, 1]]), 'it.key(0) (plain)'],
		['a Set', new Set([KEY]), 'it.value(0) (plain)'],
		['bytes', { body: Buffer.from(`x${KEY}`) }, 'it.body (plain)'],
		['headers', new Headers({ authorization: KEY }), 'it.authorization (plain)'],
		['a URL', `https://a.test/?k=${encodeURIComponent(KEY)}`, 'it (URL-encoded)'],
		['base64', btoa(KEY), 'it (base64 at offset 0)'],
		['base64 behind one byte', btoa(`:${KEY}`), 'it (base64 at offset 1)'],
		['base64 behind two bytes', btoa(`u:${KEY}!`), 'it (base64 at offset 2)'],
		['hex', Buffer.from(KEY).toString('hex'), 'it (hex)'],
		['JSON only', { toJSON: () => ({ k: KEY }) }, 'JSON(it) (plain)'],
	])('finds it in %s', (_where, thing, place) => {
		expect(findSecret(KEY, thing)).toContain(place);
	});

	test('finds nothing where there is nothing', () => {
		const clean = { a: new Error('x'), b: new Map([['k', Buffer.from('v')]]), c: KEY.slice(0, 10) };
		expect(findSecret(KEY, clean, undefined, null, 7)).toEqual([]);
		expect(() => expectNoSecret(KEY, clean)).not.toThrow();
	});

	test('says where, and does not repeat the secret', () => {
		const check = () => expectNoSecret(KEY, 'clean', { token: KEY });
		expect(check).toThrow('#2.token (plain)');
		expect(check).not.toThrow(KEY);
	});

	test('finds the key in what the helpers throw', async () => {
		const baseUrl = await serve((_request, response) => response.destroy());
		const { error } = await runNodeToError({ node: fetcher, ...testApi(baseUrl) });
		expect(findSecret(KEY, error)).toContain('it.cause.config.headers.Authorization (plain)');
		expect(error).toMatchObject({ node: { name: NODE_NAME } });
	});
});
