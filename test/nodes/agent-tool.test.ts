import { createRequire } from 'node:module';
import type { DynamicStructuredTool } from '@langchain/core/tools';
import { SupplyDataContext } from 'n8n-core';
import { NodeHelpers } from 'n8n-workflow';
import type { IDataObject, INode, INodeParameters, INodeType } from 'n8n-workflow';
import { prepareNode } from '../../scripts/engine/index';
import { CONTINUE, credentialOf, imageNode, textNode, useHarness } from './arrange';
import type { RunOptions } from './arrange';
import { byId, createResponse, generateImage, getModels } from './parameters';

const harness = useHarness();

const fromCore = createRequire(require.resolve('n8n-core'));
const utils = './execution-engine/node-execution-context/utils';
type Handler = (args: IDataObject) => Promise<string>;
type Placed = { node: INode; nodeType: INodeType; handleToolInvocation: Handler };
const { createNodeAsTool } = fromCore(`${utils}/create-node-as-tool.js`) as {
	createNodeAsTool: (options: Placed) => { response: DynamicStructuredTool };
};
const { makeHandleToolInvocation } = fromCore(`${utils}/get-input-connection-data.js`) as {
	makeHandleToolInvocation: (...given: unknown[]) => Handler;
};

const text = () => textNode(harness.time);
const image = () => imageNode(harness.time);

/** A node as n8n gives it to an agent. */
function toTool({ description, ...node }: INodeType): INodeType {
	const { usableAsTool, ...rest } = description;
	expect(usableAsTool).toBe(true);
	const names = { name: `${rest.name}Tool`, displayName: `${rest.displayName} Tool` };
	return { ...node, description: { ...rest, ...names, inputs: [], outputs: ['ai_tool'] } };
}

/** The tool that n8n hands to an agent, made of a node with these parameters; how the agent calls it. */
function tool(node: INodeType, parameters: IDataObject, options: RunOptions = {}) {
	const nodeType = toTool(node);
	const prepared = prepareNode({
		node: nodeType,
		parameters: parameters as INodeParameters,
		...credentialOf(harness.access),
		mode: 'chat',
		...options,
	});
	const { workflow, node: placed, additionalData, runExecutionData, record } = prepared;
	const data = { node: placed, data: { main: [] }, source: null };
	const own = [workflow, placed, additionalData, 'chat', runExecutionData] as const;
	const context = (runIndex: number) =>
		new SupplyDataContext(...own, runIndex, [], {}, 'ai_tool', data, []);
	const handle = makeHandleToolInvocation(context, placed, nodeType, runExecutionData);
	const made = { node: placed, nodeType, handleToolInvocation: handle };
	const { response } = createNodeAsTool(made);
	const call = async (args: IDataObject = {}) =>
		await harness.time.drive(response.func(args as never) as Promise<string>);
	return { record, response, call };
}

/** The items that a call returns. */
const itemsOf = async (node: INodeType, parameters: IDataObject, options = {}) =>
	JSON.parse(await tool(node, parameters, options).call()) as [IDataObject];

describe('What a tool says of itself', () => {
	const settingsOf = ({ description }: INodeType, given: INodeParameters, withDefaults = true) => {
		const of = [withDefaults, false, null, description] as const;
		return NodeHelpers.getNodeParameters(description.properties, given, ...of)!;
	};

	// Each text is in description.table.ts.
	test.each<[string, () => INodeType, INodeParameters, RegExp]>([
		['Image → Generate', image, {}, /^Generates an image /],
		['Image → Edit', image, { operation: 'edit' }, /^Edits images /],
		['Task → Get', image, { resource: 'task' }, /^Looks .* once/],
		['Task → Wait', image, { resource: 'task', operation: 'wait' }, /^Waits until /],
		['Response → Create', text, {}, /^Asks an AI model /],
		['Model → Get Many', text, { resource: 'model' }, /^Lists the AI models /],
	])(
		'%s tells an agent what it does and gives back, by a field that the canvas does not have',
		(_name, node, given, says) => {
			expect(tool(node(), given).response.description).toMatch(says);
			const shown = (nodeType: INodeType) => {
				const settings = settingsOf(nodeType, given);
				return nodeType.description.properties.filter(
					(field) =>
						field.name === 'toolDescription' &&
						NodeHelpers.displayParameter(settings, field, null, nodeType.description),
				);
			};
			expect([shown(toTool(node())).length, shown(node())]).toEqual([1, []]);
		},
	);

	test('another operation brings its own description, unless the user has written one', () => {
		const nodeType = toTool(image());
		/** As the editor does: what equals a default goes, and comes back with the new choice. */
		const changed = (before: INodeParameters, change: INodeParameters) => {
			const own = settingsOf(nodeType, settingsOf(nodeType, before), false);
			return settingsOf(nodeType, { ...own, ...change }).toolDescription;
		};
		expect(changed({}, { operation: 'edit' })).toMatch(/^Edits images/);
		expect(changed({ toolDescription: 'Draws' }, { operation: 'edit' })).toBe('Draws');
		expect(tool(image(), { toolDescription: 'Draws' }).response.description).toBe('Draws');
	});
});

const json = { outputFormat: { format: { type: 'json_object' } } };
const DRAWN = ['expires_at', 'image_url', 'prompt', 'status', 'task_id'];
const SUBMITTED = ['expires_at', 'status', 'task_id'];
test.each<[string, () => INodeType, IDataObject, string[]]>([
	['an answer', text, createResponse(), ['text']],
	['an answer with JSON', text, createResponse({ options: json }), ['parsed', 'text']],
	['a model', text, getModels({ limit: 1 }), ['id']],
	['an image', image, generateImage({ options: { downloadImages: true } }), DRAWN],
	['a task', image, generateImage({ waitForCompletion: false }), SUBMITTED],
])('a tool hands the agent few fields of %s, and no file', async (_name, node, given, fields) => {
	const [item] = await itemsOf(node(), given);
	const known = Object.keys(item).sort();
	expect(known.filter((name) => name !== 'prompt' || fields.includes(name))).toEqual(fields);
	expect(harness.gateway.storageRequests).toEqual([]);
});

test('raw data stay whole', async () => {
	const [item] = await itemsOf(text(), createResponse({ simplify: false }));
	expect(item).toMatchObject({ object: 'response', output: [{}] });
});

describe('What the agent fills in', () => {
	test('is described to it, and sent; the answer goes to the agent, not to the workflow’s caller', async () => {
		const maxOutputTokens = "={{ $fromAI('max_tokens', 'Longest answer', 'number', 100) }}";
		const parameters = createResponse({
			prompt: "={{ $fromAI('prompt', 'What to ask the model', 'string') }}",
			instructions: "={{ $fromAI('instructions', 'How to answer', 'string', '') }}",
			options: { maxOutputTokens },
		});
		const { call, record, response } = tool(text(), parameters, { streaming: true });
		type Field = { description?: string; safeParse(value: unknown): { success: boolean } };
		const { shape } = response.schema as unknown as { shape: Record<string, Field> };
		expect(Object.keys(shape).sort()).toEqual(['instructions', 'max_tokens', 'prompt']);
		expect(shape.prompt?.description).toBe('What to ask the model');
		expect(shape.max_tokens?.safeParse('many').success).toBe(false);

		const answer = await call({ prompt: 'Boats?', instructions: 'Short', max_tokens: 50 });
		const texts = { input: 'Boats?', instructions: 'Short' };
		expect(harness.bodies()).toEqual([{ model: 'aurora-text-1', ...texts, max_output_tokens: 50 }]);
		expect(JSON.parse(answer)).toEqual([{ text: 'You said: Boats?\nI keep to: Short' }]);
		expect(record.chunks).toEqual([]);
	});

	const row = { role: 'user', type: 'text', text: "={{ $fromAI('prompt', 'The question') }}" };
	const inputJson = "={{ $fromAI('input', 'Items', 'json') }}";
	test.each<[string, IDataObject]>([
		['messages', { inputType: 'messages', messages: { message: [row] } }],
		['JSON', { inputType: 'json', inputJson }],
	])('may be %s and the model', async (_name, given) => {
		const model = byId("={{ $fromAI('model', 'ID of the model', 'string') }}");
		const input = [{ role: 'user', content: 'Boats?' }];
		const { call } = tool(text(), createResponse({ ...given, model }));
		await call({ prompt: 'Boats?', input, model: 'aurora-omni-1' });
		expect(harness.bodies()).toEqual([{ model: 'aurora-omni-1', input }]);
	});
});

test('a failure is one text for the agent, also under Continue: what happened, what to do, and the IDs', async () => {
	harness.gateway.settings.failTask = () => ({ httpStatus: 502, message: 'Not stored' });
	const failing = tool(image(), generateImage()).call();
	await expect(failing).rejects.toThrow(/^[^\n]*502[^\n]*\. [^\n]+ Task ID: imgtask_\w+\./);
	const { message } = (await failing.catch((thrown: Error) => thrown)) as Error;
	expect(message).not.toContain('Details:');
	expect(message.match(/imgtask_/g)).toHaveLength(1);
	const parameters = createResponse({ prompt: '[[status:403]]' });
	const error = expect.stringMatching(/HTTP 403.*\. .* Request ID: \S+\.$/) as string;
	expect(await itemsOf(text(), parameters, CONTINUE)).toEqual([{ error }]);
});
