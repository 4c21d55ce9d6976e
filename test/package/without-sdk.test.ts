import path from 'node:path';
import { SupplyDataContext } from 'n8n-core';
import type { INodeType, ISupplyDataFunctions } from 'n8n-workflow';
import { ModelAccessApi } from '../../credentials/ModelAccessApi.credentials';
import { byId, generateImage, getModels, type ShownError } from '../nodes/arrange';
import { startGateway, type Gateway } from '../../gateway';
import { prepareNode, runNode, type RunNodeOptions } from '../../scripts/engine/index';
import { classFiles, install } from './built';

// The package as an older n8n has it: beside n8n-workflow, and without the kit for AI nodes.
let installed: Awaited<ReturnType<typeof install>>;
let gateway: Gateway;
beforeAll(async () => {
	installed = await install();
	gateway = await startGateway();
});
afterAll(async () => {
	await gateway.close();
	await installed.remove();
});

function load(name: string): INodeType {
	const file = path.join(installed.folder, classFiles[name] ?? '');
	const exported = jest.requireActual<Record<string, new () => INodeType>>(file);
	return new exported[name]!();
}

const options = (node: INodeType, parameters: object): RunNodeOptions => ({
	node,
	parameters: parameters as RunNodeOptions['parameters'],
	credentials: { modelAccessApi: { baseUrl: gateway.baseUrl, apiKey: gateway.keys.active } },
	credentialTypes: [new ModelAccessApi()],
});

describe('an n8n without @n8n/ai-node-sdk', () => {
	it('lists models', async () => {
		const run = await runNode(options(load('ModelAccess'), getModels()));
		expect(run.items.length).toBeGreaterThan(0);
	});

	it('submits pictures', async () => {
		const parameters = generateImage({ waitForCompletion: false });
		const run = await runNode(options(load('ModelAccessImage'), parameters));
		expect(run.items[0]?.json).toMatchObject({ status: 'processing' });
	});

	it('shows the chat model, which says what it needs as soon as it is used', async () => {
		const node = load('LmChatModelAccess');
		expect(node.description.name).toBe('lmChatModelAccess');
		const prepared = prepareNode(options(node, { model: byId('aurora-text-1') }));
		const { workflow, additionalData, runExecutionData } = prepared;
		const context = new SupplyDataContext(
			workflow,
			prepared.node,
			additionalData,
			'manual',
			runExecutionData,
			0,
			[],
			{},
			'ai_languageModel',
			{ node: prepared.node, data: {}, source: null },
			[],
		);
		const supplying = node.supplyData?.call(context as ISupplyDataFunctions, 0);
		const error = await Promise.resolve(supplying).catch((reason: ShownError) => reason);
		expect(error).toMatchObject({
			message: 'Model Access Chat Model needs n8n 2.16 or newer',
			description: expect.stringContaining('Update n8n.') as string,
			functionality: 'configuration-node',
		});
	});
});
