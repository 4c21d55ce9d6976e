import { createRequire } from 'node:module';
import type { DynamicStructuredTool } from '@langchain/core/tools';
import { SupplyDataContext } from 'n8n-core';
import type { IDataObject, INode, INodeType } from 'n8n-workflow';
import { ModelAccessApi } from '../../credentials/ModelAccessApi.credentials';
import { pictureBelongsTo, sizeOf } from '../../gateway';
import {
	prepareNode,
	readBinary,
	storeBinaryInMemory,
	storeBinaryOnDisk,
} from '../../scripts/engine/index';
import {
	byId,
	createResponse,
	itemsOf,
	shown,
	startHarness,
	textNode,
	type Harness,
} from './arrange';

let harness: Harness;
beforeEach(async () => {
	await storeBinaryInMemory();
	harness = await startHarness();
});
afterEach(async () => await harness.close());

/** Answers with this response, whatever is asked. */
function answerWith(response: object) {
	harness.gateway.settings.intercept = () => ({ kind: 'reply', status: 200, body: response });
}

describe('The item of a response', () => {
	test('is the simplified response', async () => {
		const run = await harness.text(createResponse());
		expect(run.items).toEqual([
			{
				json: {
					id: expect.stringMatching(/^resp_/) as string,
					status: 'completed',
					model: 'aurora-text-1',
					text: 'You said: Hello there',
					usage: expect.objectContaining({ input_tokens: 2, output_tokens: 4 }) as object,
					request_id: harness.gateway.requests[0]?.id,
				},
				pairedItem: { item: 0 },
			},
		]);
	});

	test('is the gateway’s object to the letter where Simplify is off', async () => {
		const response = {
			id: 'resp_1',
			object: 'response',
			status: 'completed',
			output: [
				{ type: 'telemetry', beat: 1 },
				{ type: 'message', content: [{ type: 'output_text', text: '{ "no JSON": ' }] },
			],
			usage: { input_tokens: 2, extra: null },
			unknown_field: { kept: ['as', 'it', 'is'] },
			request_number: 1e21,
		};
		answerWith(response);
		const options = { outputFormat: { format: { type: 'json_object' } } };
		const run = await harness.text(createResponse({ simplify: false, options }));
		expect(run.items).toEqual([{ json: response, pairedItem: { item: 0 } }]);
		expect(JSON.stringify(run.items[0]?.json)).toBe(JSON.stringify(response));
	});

	const schema = '{ "type": "object", "properties": { "answer": { "type": "string" } } }';
	test.each<[string, IDataObject]>([
		['Output Format', { outputFormat: { format: { schema } } }],
		['Extra Body', { extraBody: '{ "text": { "format": { "type": "json_object" } } }' }],
	])('has the JSON that %s asked for, parsed', async (_name, options) => {
		const { items } = await harness.text(createResponse({ options }));
		const { parsed, text } = items[0]!.json as { parsed: unknown; text: string };
		expect(parsed).toEqual({ answer: expect.any(String) as string });
		expect(parsed).toEqual(JSON.parse(text));
	});

	test('has the calls of tools', async () => {
		const parameters = { type: 'object', properties: { city: { type: 'string' } } };
		const tools = JSON.stringify([{ type: 'function', name: 'get_weather', parameters }]);
		const given = createResponse({ prompt: 'get weather of Oslo', options: { tools } });
		expect((await harness.text(given)).items[0]?.json).toMatchObject({
			text: '',
			tool_calls: [{ name: 'get_weather', arguments: { city: 'get weather of Oslo' } }],
		});
	});

	test('that was cut off says why, and the node points it out to the user', async () => {
		const run = await harness.text(
			createResponse({ prompt: '={{ $json.say }}', options: { maxOutputTokens: 3 } }),
			{ items: itemsOf({ say: 'Hi' }, { say: 'A much longer text than that' }) },
		);
		expect(run.items.map(({ json }) => json.status)).toEqual(['completed', 'incomplete']);
		expect(run.items[0]?.json).not.toHaveProperty('incomplete_details');
		expect(run.items[1]?.json).toMatchObject({
			text: 'You said: A',
			incomplete_details: { reason: 'max_output_tokens' },
		});
		expect(run.hints).toEqual([
			{
				message: expect.stringMatching(/^Item 1: The model stopped at Max Output Tokens/) as string,
				type: 'warning',
				location: 'outputPane',
			},
		]);
	});
});

describe('A response that is of no use', () => {
	test('because it failed is an error with the reason, and is not asked for again', async () => {
		const run = await harness.textError(createResponse({ prompt: '[[fail]] Hello' }));
		expect(run.error.message).toBe(
			'The model’s response failed (server_error): The model failed on purpose.',
		);
		expect(shown(run).description).toMatch(/may have been charged.*Request ID: req_000001\.$/);
		const details = { code: 'server_error', retryable: false };
		expect(shown(run).context.details).toMatchObject(details);
		expect(harness.gateway.count()).toBe(1);
	});

	test('because it does not fit the schema is an error with its text', async () => {
		const text = '{"other":1}';
		const content = [{ type: 'output_text', text }];
		answerWith({ id: 'r1', status: 'completed', output: [{ type: 'message', content }] });
		const options = { outputFormat: { format: { schema: '{ "required": ["label"] }' } } };
		const run = await harness.textError(createResponse({ options }));
		expect(run.error.message).toBe(
			'The model’s answer does not fit the schema (Instance does not have required property "label"): {"other":1}',
		);
		expect(shown(run).context.details).toMatchObject({ partial_text: text, retryable: false });
	});

	test('keeps its text in its item where the node continues', async () => {
		const options = { outputFormat: { format: { type: 'json_object' } } };
		const given = createResponse({ prompt: '[[bad-json]] Hi', options });
		const run = await harness.text(given, { onError: 'continueRegularOutput' });
		expect(run.items[0]?.json).toMatchObject({
			error: 'The model’s answer is not JSON: { "answer":',
			error_details: { partial_text: '{ "answer": ', request_id: 'req_000001' },
		});
	});
});

describe('Images that the model draws', () => {
	const PNG = Buffer.from('89504e470d0a1a0a', 'hex').toString('base64');
	const JPEG = Buffer.from('ffd8ffe000104a464946', 'hex').toString('base64');
	const drawn = (...images: Array<{ id?: string; result: string }>) => ({
		id: 'r1',
		status: 'completed',
		output: images.map((image) => ({ type: 'image_generation_call', ...image })),
	});
	const tools = '[{ "type": "image_generation", "size": "32x24" }]';

	test.each([true, false])('are binary data, named and typed (simplify: %p)', async (simplify) => {
		answerWith(
			drawn(
				{ id: 'ig_1', result: PNG },
				{ id: '../../etc/x', result: `data:image/jpeg;base64,${JPEG}` },
				{ result: 'AAAA' },
			),
		);
		const run = await harness.text(createResponse({ simplify }));
		const binary = run.items[0]?.binary ?? {};
		expect(
			Object.entries(binary).map(([key, { fileName, mimeType }]) => [key, fileName, mimeType]),
		).toEqual([
			['data', 'ig_1.png', 'image/png'],
			['data_1', 'image-1.jpg', 'image/jpeg'],
			['data_2', 'image-2.bin', 'application/octet-stream'],
		]);
		expect((await readBinary(binary.data_1)).toString('base64')).toBe(JPEG);
		expect(JSON.stringify(run.items[0]?.json).includes(PNG)).toBe(!simplify);
	});

	test('go into the field that was asked for, and without any there is none', async () => {
		const options = { tools, binaryPropertyName: '={{ $json.field }}' };
		const run = await harness.text(createResponse({ options }), {
			items: itemsOf({ field: ' drawing ' }, { field: ' ' }),
		});
		expect(run.items.map(({ binary }) => Object.keys(binary ?? {}))).toEqual([
			['drawing'],
			['data'],
		]);
		expect((await harness.text(createResponse())).items[0]).not.toHaveProperty('binary');
	});

	test.each([true, false])('go to n8n’s storage on disk (stream: %p)', async (stream) => {
		const storage = await storeBinaryOnDisk();
		try {
			const run = await harness.text(
				createResponse({ prompt: 'A red boat', stream, options: { tools } }),
			);
			const data = run.items[0]?.binary?.data;
			expect(data?.id).toMatch(/^filesystem/);
			const png = await readBinary(data);
			expect(sizeOf(png)).toEqual({ width: 32, height: 24 });
			expect(pictureBelongsTo('A red boat', png)).toBe(true);
			expect(run.items[0]?.json.text).toBe('You said: A red boat');
		} finally {
			await storage.remove();
		}
	});
});

describe('As a tool of an agent', () => {
	/** What n8n makes of a node whose description says that it is usable as a tool. */
	function asTool(node: INodeType): INodeType {
		const { usableAsTool, ...description } = node.description;
		expect(usableAsTool).toBe(true);
		return {
			...node,
			description: {
				...description,
				name: `${description.name}Tool`,
				displayName: `${description.displayName} Tool`,
				inputs: [],
				outputs: ['ai_tool'],
			},
		};
	}

	const fromCore = createRequire(require.resolve('n8n-core'));
	const { createNodeAsTool } = fromCore(
		'./execution-engine/node-execution-context/utils/create-node-as-tool.js',
	) as {
		createNodeAsTool: (options: {
			node: INode;
			nodeType: INodeType;
			handleToolInvocation: (args: IDataObject) => Promise<unknown>;
		}) => { response: DynamicStructuredTool };
	};
	const { makeHandleToolInvocation } = fromCore(
		'./execution-engine/node-execution-context/utils/get-input-connection-data.js',
	) as {
		makeHandleToolInvocation: (
			contextFactory: (runIndex: number) => SupplyDataContext,
			node: INode,
			nodeType: INodeType,
			runExecutionData: unknown,
		) => (args: IDataObject) => Promise<unknown>;
	};

	/** The tool that n8n hands to an agent, made of our node with these parameters. */
	function tool(parameters: IDataObject, options: { streaming?: boolean } = {}) {
		const nodeType = asTool(textNode(harness.time));
		const prepared = prepareNode({
			node: nodeType,
			parameters: parameters as INode['parameters'],
			credentials: { modelAccessApi: { ...harness.access } },
			credentialTypes: [new ModelAccessApi()],
			mode: 'chat',
			...options,
		});
		const { workflow, node, additionalData, runExecutionData, record } = prepared;
		const context = (runIndex: number) =>
			new SupplyDataContext(
				workflow,
				node,
				additionalData,
				'chat',
				runExecutionData,
				runIndex,
				[],
				{},
				'ai_tool',
				{ node, data: { main: [] }, source: null },
				[],
			);
		const handleToolInvocation = makeHandleToolInvocation(
			context,
			node,
			nodeType,
			runExecutionData,
		);
		return { record, ...createNodeAsTool({ node, nodeType, handleToolInvocation }) };
	}

	/** Parameters that the agent fills in. */
	const byAgent = (given: IDataObject = {}) =>
		createResponse({
			prompt: "={{ $fromAI('prompt', 'What to ask the model', 'string') }}",
			options: {
				instructions: "={{ $fromAI('instructions', 'How to answer', 'string', '') }}",
				maxOutputTokens: "={{ $fromAI('max_tokens', 'Longest answer', 'number', 100) }}",
			},
			...given,
		});

	/** Calls a tool as the agent does. */
	const call = async ({ response }: ReturnType<typeof tool>, args: IDataObject) =>
		await harness.time.drive(response.func(args as never) as Promise<string>);

	test('it says in a few words what it does, and describes what the agent fills in', () => {
		const models = tool({ resource: 'model', operation: 'getAll' });
		expect(models.response.description).toBe('Get many models in Model Access');
		const { response } = tool(byAgent());
		expect(response.description).toBe('Create a response in Model Access');
		const { shape } = response.schema as unknown as {
			shape: Record<
				string,
				{ description?: string; safeParse(value: unknown): { success: boolean } }
			>;
		};
		expect(Object.keys(shape).sort()).toEqual(['instructions', 'max_tokens', 'prompt']);
		expect(shape.prompt?.description).toBe('What to ask the model');
		expect(shape.prompt?.safeParse('Hi').success).toBe(true);
		expect(shape.max_tokens?.safeParse('many').success).toBe(false);
	});

	test('it answers the agent in few fields, and says nothing to the caller of the workflow', async () => {
		const created = tool(byAgent(), { streaming: true });
		const answer = await call(created, { prompt: 'Boats?', instructions: 'Short', max_tokens: 50 });
		expect(harness.gateway.requests.map(({ body }) => body)).toEqual([
			{ model: 'aurora-text-1', input: 'Boats?', instructions: 'Short', max_output_tokens: 50 },
		]);
		const parsed = JSON.parse(answer) as IDataObject[];
		expect(parsed).toMatchObject([{ text: 'You said: Boats?\nI keep to: Short' }]);
		const fields = ['id', 'status', 'model', 'text', 'usage', 'request_id'];
		expect(Object.keys(parsed[0] ?? {})).toEqual(fields);
		expect(answer.length).toBeLessThan(500);
		expect(created.record.chunks).toEqual([]);
	});

	test.each<[string, IDataObject, unknown]>([
		[
			'messages',
			{
				inputType: 'messages',
				messages: {
					message: [
						{ role: 'system', type: 'text', text: 'Be kind' },
						{ role: 'user', type: 'text', text: "={{ $fromAI('prompt', 'The question') }}" },
					],
				},
			},
			[
				{ role: 'system', content: 'Be kind' },
				{ role: 'user', content: 'Boats?' },
			],
		],
		[
			'JSON',
			{ inputType: 'json', inputJson: "={{ $fromAI('input', 'Items', 'json') }}" },
			[{ role: 'user', content: 'Boats?' }],
		],
	])('it sends %s and the model as the agent fills them in', async (_name, given, input) => {
		const model = byId("={{ $fromAI('model', 'ID of the model', 'string') }}");
		const args = { prompt: 'Boats?', input: [{ role: 'user', content: 'Boats?' }] };
		await call(tool(createResponse({ ...given, model })), { ...args, model: 'aurora-omni-1' });
		expect(harness.gateway.requests.map(({ body }) => body)).toEqual([
			{ model: 'aurora-omni-1', input },
		]);
	});

	test('its failure tells the agent what happened and what to do', async () => {
		const args = { prompt: '[[status:403]]', instructions: '', max_tokens: 5 };
		await expect(call(tool(byAgent()), args)).rejects.toThrow(
			/\(HTTP 403, not_permitted\).*\n\nDetails: \w+/s,
		);
	});
});
