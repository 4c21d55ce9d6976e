import path from 'node:path';
import { loadOutputSchema, PackageDirectoryLoader } from 'n8n-core';
import type { IDataObject, INodeType, INodeTypeDescription } from 'n8n-workflow';
import { resources as textResources } from '../../nodes/ModelAccess/ModelAccess.node';
import { resources as imageResources } from '../../nodes/ModelAccessImage/ModelAccessImage.node';
import { startGateway } from '../../gateway';
import { runNode, type RunNodeOptions } from '../../scripts/engine/index';
import { credentialOf, generateImage, getModels } from '../nodes/arrange';
import { classFiles, install, manifest } from './built';

let installed: Awaited<ReturnType<typeof install>>;
let loader: PackageDirectoryLoader;
beforeAll(async () => {
	installed = await install();
	loader = new PackageDirectoryLoader(installed.folder);
	await loader.loadAll();
});
afterAll(() => installed.remove());

const NODES = ['lmChatModelAccess', 'modelAccess', 'modelAccessImage'];
const node = (name: string) => loader.getNode(name).type.description as INodeTypeDescription;

/** Where n8n looks for icons; that each class has two, and not the same, is in output.test.ts. */
const iconUrl = (name: string, sourcePath: string) => {
	const icon = `icons/${manifest.name}/${path.dirname(sourcePath)}/${name}`;
	return { light: `${icon}.svg`, dark: `${icon}.dark.svg` };
};

describe("n8n's own loader, on the installed package", () => {
	it('knows each node and credential by the name that workflows save', () => {
		const { nodes, credentials } = loader.known;
		expect(Object.keys(nodes).sort()).toEqual(NODES);
		expect(Object.keys(credentials)).toEqual(['modelAccessApi']);
		const known = [...Object.values(nodes), ...Object.values(credentials)];
		expect(Object.fromEntries(known.map((k) => [k.className, k.sourcePath]))).toEqual(classFiles);
	});

	it('ties the credential to its nodes, and leaves it to the HTTP Request node too', () => {
		const { type, sourcePath } = loader.getCredential('modelAccessApi');
		expect([...(type.supportedNodes ?? [])].sort()).toEqual(NODES);
		expect(type.httpRequestNode).toBeUndefined();
		expect(type.test).toBeDefined();
		expect(type.iconUrl).toEqual(iconUrl('modelAccessApi', sourcePath));
	});

	it.each(NODES)('has %s with its version, its icons and its search words', (name) => {
		const { sourcePath } = loader.getNode(name);
		const { codex, ...rest } = node(name);
		const communityNodePackageVersion = manifest.version;
		const icons = iconUrl(name, sourcePath);
		expect(rest).toMatchObject({ version: 1, communityNodePackageVersion, iconUrl: icons });
		expect(codex?.categories).toEqual(['AI']);
		expect(codex?.alias?.length).toBeGreaterThan(5);
		const saved = { node: `${manifest.name}.${name}`, nodeVersion: '1.0', codexVersion: '1.0' };
		const file = path.join(installed.folder, `${sourcePath}on`);
		expect(jest.requireActual(file)).toMatchObject(saved);
	});

	it('has the chat model where n8n’s own ones are in the nodes panel', () => {
		const { codex, outputs } = node('lmChatModelAccess');
		const place = { 'Language Models': ['Chat Models (Recommended)'] };
		expect(codex?.subcategories).toEqual({ AI: ['Language Models', 'Root Nodes'], ...place });
		expect(outputs).toEqual(['ai_languageModel']);
	});

	it.each<[string, typeof textResources]>([
		['modelAccess', textResources],
		['modelAccessImage', imageResources],
	])('has %s as a tool, with an output preview of each operation', (name, resources) => {
		expect(node(name).usableAsTool).toBe(true);
		const nodeDir = path.join(installed.folder, path.dirname(loader.getNode(name).sourcePath));
		for (const { value: resource, operations } of resources) {
			for (const { value: operation } of operations) {
				const schema = loadOutputSchema({ nodeDir, version: 1, resource, operation });
				expect({ resource, operation, ...schema }).toMatchObject({ type: 'object', version: 1 });
				expect(Object.keys(schema?.properties ?? {})).not.toEqual([]);
			}
		}
	});
});

// As an older n8n has the package: beside n8n-workflow, and without the kit for AI nodes.
describe('an n8n without @n8n/ai-node-sdk', () => {
	const builtNode = (name: string) => {
		const file = path.join(installed.folder, classFiles[name] ?? '');
		return new (jest.requireActual<Record<string, new () => INodeType>>(file)[name]!)();
	};

	it('lists models and submits images', async () => {
		const gateway = await startGateway();
		const access = credentialOf({ baseUrl: gateway.baseUrl, apiKey: gateway.keys.active });
		const run = async (name: string, parameters: IDataObject) =>
			await runNode({ node: builtNode(name), ...access, parameters } as RunNodeOptions);
		const models = await run('ModelAccess', getModels());
		expect(models.items.length).toBeGreaterThan(0);
		const submitted = await run('ModelAccessImage', generateImage({ waitForCompletion: false }));
		expect(submitted.items[0]?.json).toMatchObject({ status: 'processing' });
		await gateway.close();
	});

	it('shows the chat model, which says what it needs as soon as it is used', async () => {
		const context = { getNode: () => ({ name: 'Model' }), getNodeParameter: () => ({}) };
		const supplying = builtNode('LmChatModelAccess').supplyData?.call(context as never, 0);
		await expect(supplying).rejects.toMatchObject({
			message: 'Model Access Chat Model needs n8n 2.16 or newer',
			description: expect.stringContaining('Update n8n.') as string,
			functionality: 'configuration-node',
		});
	});
});
