import { createRequire } from 'node:module';
import { SupplyDataContext } from 'n8n-core';
import type { IDataObject, INode, INodeType } from 'n8n-workflow';
import { ModelAccessApi } from '../../credentials/ModelAccessApi.credentials';
import { prepareNode } from '../../scripts/engine/index';
import {
	createResponse,
	generateImage,
	getModels,
	imageNode,
	textNode,
	useHarness,
} from './arrange';

const harness = useHarness();

const { makeHandleToolInvocation } = createRequire(require.resolve('n8n-core'))(
	`${require.resolve('n8n-core').replace(/index\.js$/, '')}execution-engine/node-execution-context/utils/get-input-connection-data.js`,
) as {
	makeHandleToolInvocation: (
		contextFactory: (runIndex: number) => SupplyDataContext,
		node: INode,
		nodeType: INodeType,
		runExecutionData: unknown,
	) => (args: IDataObject) => Promise<string>;
};

/** Calls a node as n8n does for an agent; what the agent reads. */
async function call(
	nodeType: INodeType,
	parameters: IDataObject,
	more: { onError?: INode['onError'] } = {},
) {
	const { workflow, node, additionalData, runExecutionData } = prepareNode({
		node: nodeType,
		parameters: parameters as INode['parameters'],
		credentials: { modelAccessApi: { ...harness.access } },
		credentialTypes: [new ModelAccessApi()],
		...more,
	});
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
	const handle = makeHandleToolInvocation(context, node, nodeType, runExecutionData);
	return await harness.time.drive(handle({}));
}

const text = () => textNode(harness.time);
const image = () => imageNode(harness.time);

test.each<[string, () => INodeType, () => IDataObject, string[]]>([
	['an answer', text, createResponse, ['text']],
	[
		'an answer with JSON',
		text,
		() => createResponse({ options: { outputFormat: { format: { type: 'json_object' } } } }),
		['parsed', 'text'],
	],
	['a model', text, () => getModels({ limit: 1 }), ['id']],
	[
		'an image',
		image,
		() => generateImage(),
		['expires_at', 'image_url', 'prompt', 'status', 'task_id'],
	],
	[
		'a task',
		image,
		() => generateImage({ waitForCompletion: false }),
		['expires_at', 'status', 'task_id'],
	],
])('as a tool a node hands the agent few fields of %s', async (_name, node, parameters, fields) => {
	const [item] = JSON.parse(await call(node(), parameters())) as IDataObject[];
	const known = Object.keys(item ?? {}).sort();
	expect(known.filter((name) => name !== 'prompt' || fields.includes(name))).toEqual(fields);
});

test('an agent cannot take files: the node downloads none, whatever its options say', async () => {
	const item = await call(image(), generateImage({ options: { downloadImages: true } }));
	expect(JSON.parse(item)).toMatchObject([{ status: 'completed' }]);
	expect(harness.gateway.storageRequests).toEqual([]);
});

test('raw data stay whole', async () => {
	const answer = await call(text(), createResponse({ simplify: false }));
	expect(JSON.parse(answer)).toMatchObject([{ object: 'response', output: [{}] }]);
});

test('a failure is one text for the agent: what happened, what to do, and the task ID', async () => {
	harness.gateway.settings.failTask = () => ({ httpStatus: 502, message: 'Not stored' });
	const failing = call(image(), generateImage());
	await expect(failing).rejects.toThrow(/^[^\n]*502[^\n]*\. [^\n]+ Task ID: imgtask_\w+\./);
	const error: Error = (await failing.catch((thrown: Error) => thrown)) as Error;
	expect(error.message).not.toContain('Details:');
	expect(error.message.match(/imgtask_/g)).toHaveLength(1);
});

test('a failure is the same text under Continue', async () => {
	const prompt = '[[status:403]]';
	const more = { onError: 'continueRegularOutput' } as const;
	const [item] = JSON.parse(await call(text(), createResponse({ prompt }), more)) as IDataObject[];
	expect(Object.keys(item ?? {})).toEqual(['error']);
	expect(item?.error).toMatch(/HTTP 403.*\. .* Request ID: \S+\.$/);
});
