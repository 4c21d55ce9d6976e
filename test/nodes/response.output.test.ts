import { createRequire } from 'node:module';
import type { DynamicStructuredTool } from '@langchain/core/tools';
import { SupplyDataContext } from 'n8n-core';
import type { IDataObject, INode, INodeExecutionData, INodeType } from 'n8n-workflow';
import { pictureBelongsTo } from '../../gateway';
import {
	prepareNode,
	readBinary,
	storeBinaryInMemory,
	storeBinaryOnDisk,
} from '../../scripts/engine/index';
import { ModelAccessApi } from '../../credentials/ModelAccessApi.credentials';
import { createResponse, itemsOf, shown, startStory, textNode, type Story } from './arrange';

let story: Story;
beforeEach(async () => {
	await storeBinaryInMemory();
	story = await startStory();
});
afterEach(async () => await story.close());

const answered = async (given: IDataObject, items?: INodeExecutionData[]) =>
	(await story.text(createResponse(given), { items })).items[0]?.json;

const functions = (...names: string[]) =>
	JSON.stringify(
		names.map((name) => ({
			type: 'function',
			name,
			parameters: {
				type: 'object',
				properties: { city: { type: 'string' }, days: { type: 'integer' } },
			},
		})),
	);

/** Answers with this response, whatever is asked. */
function answerWith(response: object) {
	story.gateway.settings.intercept = () => ({ kind: 'reply', status: 200, body: response });
}

describe('The simplified answer', () => {
	test('of a model that refuses has its refusal', async () => {
		await expect(answered({ prompt: '[[refuse]] Hi' })).resolves.toMatchObject({
			status: 'completed',
			text: '',
			refusal: 'I cannot help with that.',
		});
	});

	test('that was cut off says why, and the node shows it for its item', async () => {
		const run = await story.text(
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

	test('has several calls of tools, their arguments parsed', async () => {
		const prompt = 'get weather and get time in Oslo for 3 days';
		const options = { tools: functions('get_weather', 'get_time') };
		const json = await answered({ prompt, options });
		const id = expect.stringMatching(/^call_/) as string;
		const args = { city: prompt, days: 3 };
		expect(json).toMatchObject({ text: '', status: 'completed' });
		expect(json?.tool_calls).toEqual([
			{ id, name: 'get_weather', arguments: args },
			{ id, name: 'get_time', arguments: args },
		]);
	});

	test('has one call where parallel ones are switched off', async () => {
		const options = { tools: functions('get_weather', 'get_time'), parallelToolCalls: false };
		const json = await answered({ prompt: 'get weather and get time', options });
		expect(json?.tool_calls).toHaveLength(1);
	});

	test('has only the function that was chosen', async () => {
		const options = { tools: functions('get_weather', 'get_time'), toolChoice: 'get_time' };
		const json = await answered({ prompt: 'get weather', options });
		expect(json?.tool_calls).toMatchObject([{ name: 'get_time' }]);
	});

	test('has the JSON that a schema describes', async () => {
		const schema = {
			type: 'object',
			properties: {
				label: { type: 'string', enum: ['spam', 'ham'] },
				score: { type: 'number', minimum: 0, maximum: 1 },
				tags: { type: 'array', items: { type: 'string' } },
			},
			required: ['label', 'score', 'tags'],
		};
		const outputFormat = { format: { type: 'json_schema', schema: JSON.stringify(schema) } };
		const json = await answered({ prompt: 'This is spam, 0.9 sure', options: { outputFormat } });
		expect(json?.parsed).toEqual({ label: 'spam', score: 0.9, tags: ['This is spam, 0.9 sure'] });
		expect(JSON.parse(String(json?.text as string))).toEqual(json?.parsed);
	});

	test('is an error with the text where the JSON does not fit the schema', async () => {
		const text = '{"other":1}';
		answerWith({
			id: 'r1',
			status: 'completed',
			output: [{ type: 'message', content: [{ type: 'output_text', text }] }],
		});
		const schema = '{ "type": "object", "required": ["label"] }';
		const run = await story.textError(
			createResponse({ options: { outputFormat: { format: { schema } } } }),
		);
		expect(run.error.message).toBe(
			'The model’s answer lacks what the schema requires (label): {"other":1}',
		);
		expect(shown(run).context.details).toMatchObject({ partial_text: text, retryable: false });
	});

	test('keeps such a text in its item where the node continues', async () => {
		const run = await story.text(
			createResponse({
				prompt: '[[bad-json]] Hi',
				options: { outputFormat: { format: { type: 'json_object' } } },
			}),
			{ onError: 'continueRegularOutput' },
		);
		expect(run.items[0]?.json).toMatchObject({
			error: 'The model’s answer is not JSON: { "answer":',
			error_details: { partial_text: '{ "answer": ', request_id: 'req_000001' },
		});
	});

	test('has the sources that it cites', async () => {
		const json = await answered({
			prompt: 'Boats',
			options: { tools: '[{ "type": "web_search" }]' },
		});
		const [citation, ...others] = json?.citations as IDataObject[];
		expect(others).toEqual([]);
		expect(citation).toMatchObject({
			type: 'url_citation',
			url: expect.stringMatching(/^https:/) as string,
			title: 'Example Encyclopedia',
		});
		const { start_index, end_index } = citation as Record<string, number>;
		expect(String(json?.text as string).slice(start_index, end_index)).toBe('Example Encyclopedia');
	});

	test('has summaries of what the model thought', async () => {
		const json = await answered({ prompt: 'Boats', options: { reasoningSummary: 'auto' } });
		expect(json?.reasoning).toEqual(['**Reading the request**\n\nIt says: Boats']);
		expect(json?.usage).toMatchObject({
			output_tokens_details: { reasoning_tokens: expect.any(Number) as number },
		});
	});

	test('joins two messages', async () => {
		const json = await answered({ prompt: '[[two]] Hi' });
		expect(json?.text).toBe('You said: HiAnd one more thing.');
	});

	test('is not troubled by items that nobody knows', async () => {
		const json = await answered({ prompt: '[[unknown]] Hi' });
		expect(json).toMatchObject({ text: 'You said: Hi' });
		expect(JSON.stringify(json)).not.toContain('telemetry');
	});

	test('of nothing has an empty text', async () => {
		const json = await answered({ prompt: '[[empty]] Hi' });
		expect(Object.keys(json ?? {}).sort()).toEqual([
			'id',
			'model',
			'request_id',
			'status',
			'text',
			'usage',
		]);
		expect(json).toMatchObject({ text: '', status: 'completed' });
	});
});

describe('The raw answer', () => {
	test.each(['[[unknown]] Hi', '[[refuse]] Hi', '[[two]] Hi', '[[empty]] Hi', '[[bad-json]] Hi'])(
		'to %s is the gateway’s object to the letter',
		async (prompt) => {
			let sent = '';
			story.gateway.settings.intercept = ({ reply }) => {
				if (reply) sent = String(reply.body);
				return undefined;
			};
			const outputFormat = { format: { type: 'json_object' } };
			const json = await answered({ prompt, simplify: false, options: { outputFormat } });
			expect(JSON.stringify(json)).toBe(sent);
		},
	);
});

describe('Pictures in an answer', () => {
	const twice = (...pictures: Array<{ id?: string; result: string }>) => ({
		id: 'r1',
		status: 'completed',
		output: pictures.map((picture) => ({ type: 'image_generation_call', ...picture })),
	});
	const png = Buffer.from('89504e470d0a1a0a', 'hex').toString('base64');
	const jpeg = Buffer.from('ffd8ffe000104a464946', 'hex').toString('base64');

	test.each([true, false])(
		'become data and data_1, named and typed (simplify: %p)',
		async (simplify) => {
			answerWith(twice({ id: 'ig_1', result: png }, { id: 'ig_2', result: jpeg }));
			const run = await story.text(createResponse({ simplify }));
			expect(run.items[0]?.binary).toMatchObject({
				data: { fileName: 'ig_1.png', mimeType: 'image/png' },
				data_1: { fileName: 'ig_2.jpg', mimeType: 'image/jpeg' },
			});
			expect(Object.keys(run.items[0]?.binary ?? {})).toEqual(['data', 'data_1']);
			if (simplify) expect(JSON.stringify(run.items[0]?.json)).not.toContain(png);
			else expect(JSON.stringify(run.items[0]?.json)).toContain(png);
		},
	);

	test('get names that a file may have, whatever the gateway calls them', async () => {
		answerWith(twice({ id: '../../etc/x', result: png }, { result: 'AAAA' }));
		const run = await story.text(createResponse());
		expect(run.items[0]?.binary).toMatchObject({
			data: { fileName: 'image-0.png' },
			data_1: { fileName: 'image-1.bin', mimeType: 'application/octet-stream' },
		});
	});

	test.each([true, false])('go to n8n’s storage on disk (stream: %p)', async (stream) => {
		const storage = await storeBinaryOnDisk();
		try {
			const run = await story.text(
				createResponse({
					prompt: 'A red boat',
					stream,
					options: { tools: '[{ "type": "image_generation", "size": "32x24" }]' },
				}),
			);
			const data = run.items[0]?.binary?.data;
			expect(data?.id).toMatch(/^filesystem/);
			expect(pictureBelongsTo('A red boat', await readBinary(data))).toBe(true);
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
		const nodeType = asTool(textNode(story.time));
		const prepared = prepareNode({
			node: nodeType,
			parameters: parameters as INode['parameters'],
			credentials: { modelAccessApi: { ...story.access } },
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

	const byModel = {
		prompt: "={{ $fromAI('prompt', 'What to ask the model', 'string') }}",
		options: {
			instructions: "={{ $fromAI('instructions', 'How to answer', 'string', '') }}",
			maxOutputTokens: "={{ $fromAI('max_tokens', 'Longest answer', 'number', 100) }}",
		},
	};

	test('it says in a few words what it does', () => {
		const { response } = tool(createResponse());
		expect(response.description).toBe('Create a response in Model Access');
		const models = tool({ resource: 'model', operation: 'getAll' });
		expect(models.response.description).toBe('Get many models in Model Access');
	});

	test('it has a parameter for each that the agent fills in', () => {
		const { response } = tool(createResponse(byModel));
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

	test.each<[string, IDataObject]>([
		['a text', byModel],
		[
			'a message',
			{
				inputType: 'messages',
				messages: {
					message: [
						{ role: 'system', type: 'text', text: 'Be kind' },
						{ role: 'user', type: 'text', text: "={{ $fromAI('prompt', 'The question') }}" },
					],
				},
			},
		],
		['input items', { inputType: 'json', inputJson: "={{ $fromAI('prompt', 'Items', 'json') }}" }],
	])('what the agent fills in is sent as %s', async (name, given) => {
		const { response } = tool(createResponse(given));
		const prompt = name === 'input items' ? [{ role: 'user', content: 'Boats?' }] : 'Boats?';
		const filled = { prompt, instructions: 'Short', max_tokens: 50 };
		await story.time.drive(response.func(filled as never) as Promise<unknown>);
		expect(JSON.stringify(story.gateway.requests[0]?.body)).toContain('Boats?');
		if (name === 'a text') {
			expect(story.gateway.requests[0]?.body).toEqual({
				model: 'aurora-text-1',
				input: 'Boats?',
				instructions: 'Short',
				max_output_tokens: 50,
			});
		}
	});

	test('the model may be chosen by the agent', async () => {
		const model = {
			__rl: true,
			mode: 'id',
			value: "={{ $fromAI('model', 'ID of the model', 'string') }}",
		};
		const { response } = tool(createResponse({ model }));
		await story.time.drive(response.func({ model: 'aurora-omni-1' } as never) as Promise<unknown>);
		expect(story.gateway.requests[0]?.body).toMatchObject({ model: 'aurora-omni-1' });
	});

	test('its answer is compact', async () => {
		const { response } = tool(createResponse(byModel));
		const filled = { prompt: 'Boats?', instructions: '', max_tokens: 50 };
		const answer = await story.time.drive(response.func(filled as never) as Promise<string>);
		const parsed = JSON.parse(answer) as IDataObject[];
		expect(parsed).toHaveLength(1);
		expect(Object.keys(parsed[0] ?? {})).toEqual([
			'id',
			'status',
			'model',
			'text',
			'usage',
			'request_id',
		]);
		expect(parsed[0]?.text).toBe('You said: Boats?');
		expect(answer.length).toBeLessThan(500);
	});

	test('its failure tells the agent what happened and what to do', async () => {
		const { response } = tool(createResponse(byModel));
		const filled = { prompt: '[[status:403]]', instructions: '', max_tokens: 5 };
		const call = story.time.drive(response.func(filled as never) as Promise<string>);
		await expect(call).rejects.toThrow(/\(HTTP 403\).*\n\nDetails: \w+/s);
	});

	test('its words are for the agent, not for the caller of the workflow', async () => {
		const { response, record } = tool(createResponse(byModel), { streaming: true });
		const filled = { prompt: 'Boats?', instructions: '', max_tokens: 50 };
		await story.time.drive(response.func(filled as never) as Promise<unknown>);
		expect(record.chunks).toEqual([]);
		expect(story.gateway.requests[0]?.body).not.toHaveProperty('stream');
	});

	test('every operation and field that it shows is described in a sentence or two', () => {
		const { properties } = textNode(story.time).description;
		for (const { name, description, type, displayOptions } of properties) {
			if (name === 'operation' || type === 'collection') continue;
			if (displayOptions?.show?.resource?.[0] !== 'response') continue;
			expect([name, description ?? 'none']).toEqual([
				name,
				expect.stringMatching(/^(?!none$).{8,160}$/),
			]);
		}
	});
});
