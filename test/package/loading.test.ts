import { existsSync } from 'node:fs';
import path from 'node:path';
import { loadOutputSchema, PackageDirectoryLoader, SupplyDataContext } from 'n8n-core';
import type {
	ICredentialType,
	INodeType,
	INodeTypeDescription,
	ISupplyDataFunctions,
} from 'n8n-workflow';
import { ModelAccessApi } from '../../credentials/ModelAccessApi.credentials';
import { startGateway, type Gateway } from '../../gateway';
import { prepareNode, runNode, type RunNodeOptions } from '../../scripts/engine/index';
import { byId, generateImage, getModels, type ShownError } from '../nodes/arrange';
import { classFiles, install, manifest } from './built';

let installed: Awaited<ReturnType<typeof install>>;
let loader: PackageDirectoryLoader;
beforeAll(async () => {
	installed = await install();
	loader = new PackageDirectoryLoader(installed.folder);
	await loader.loadAll();
});
afterAll(() => installed.remove());

const node = (name: string) => loader.getNode(name).type.description as INodeTypeDescription;
const builtFile = (name: string) => loader.getNode(name).sourcePath;
const credential = (name: string) => loader.getCredential(name).type;

/** Where n8n's `icons/<package>/…` addresses lead. */
function iconFiles({ iconUrl }: Pick<INodeTypeDescription | ICredentialType, 'iconUrl'>) {
	const prefix = `icons/${manifest.name}/`;
	if (typeof iconUrl !== 'object') throw new Error('No icon for each theme');
	return [iconUrl.light, iconUrl.dark].map((url) => {
		expect(url.startsWith(prefix)).toBe(true);
		return path.join(installed.folder, url.slice(prefix.length));
	});
}

/** Each operation of a node as its selectors offer them. */
function operations({ properties }: INodeTypeDescription) {
	const selectors = properties.filter(({ name }) => name === 'operation');
	return selectors.flatMap((selector) =>
		(selector.displayOptions?.show?.['resource'] ?? []).flatMap((resource) =>
			(selector.options ?? []).map((option) => ({
				resource: resource as string,
				operation: 'value' in option ? String(option.value) : '',
				action: 'action' in option ? option.action : undefined,
			})),
		),
	);
}

describe("n8n's own loader, on the installed package", () => {
	it('knows each node and credential by the name that workflows save', () => {
		expect(Object.keys(loader.known.nodes).sort()).toEqual([
			'lmChatModelAccess',
			'modelAccess',
			'modelAccessImage',
		]);
		expect(Object.keys(loader.known.credentials)).toEqual(['modelAccessApi']);
		const known = [
			...Object.values(loader.known.nodes),
			...Object.values(loader.known.credentials),
		];
		expect(Object.fromEntries(known.map((k) => [k.className, k.sourcePath]))).toEqual(classFiles);
	});

	it('ties the credential to its nodes, and leaves it to the HTTP Request node too', () => {
		const { supportedNodes, httpRequestNode, test } = credential('modelAccessApi');
		expect(supportedNodes?.slice().sort()).toEqual([
			'lmChatModelAccess',
			'modelAccess',
			'modelAccessImage',
		]);
		expect(httpRequestNode).toBeUndefined();
		expect(test).toBeDefined();
	});

	it('finds the icons of the credential', () => {
		for (const file of iconFiles(credential('modelAccessApi'))) expect(existsSync(file)).toBe(true);
	});
});

describe.each(['lmChatModelAccess', 'modelAccess', 'modelAccessImage'])('%s, loaded', (name) => {
	it('has its version and the package version', () => {
		expect(node(name)).toMatchObject({
			version: 1,
			communityNodePackageVersion: manifest.version,
		});
	});

	it('has icons for both themes', () => {
		for (const file of iconFiles(node(name))) expect(existsSync(file)).toBe(true);
	});

	it('is found in the nodes panel by its category and its search words', () => {
		const { codex } = node(name);
		expect(codex?.categories).toEqual(['AI']);
		expect(codex?.alias?.length).toBeGreaterThan(5);
		expect(codex?.resources?.primaryDocumentation?.[0]?.url).toBe(manifest.homepage);
		const file = path.join(installed.folder, `${builtFile(name)}on`);
		expect(jest.requireActual(file)).toMatchObject({
			node: `${manifest.name}.${name}`,
			nodeVersion: '1.0',
			codexVersion: '1.0',
		});
	});
});

describe('the chat model, loaded', () => {
	it('stands among the chat models of the nodes panel, where n8n’s own ones are', () => {
		expect(node('lmChatModelAccess').codex?.subcategories).toEqual({
			AI: ['Language Models', 'Root Nodes'],
			'Language Models': ['Chat Models (Recommended)'],
		});
		expect(node('lmChatModelAccess').outputs).toEqual(['ai_languageModel']);
	});
});

describe.each(['modelAccess', 'modelAccessImage'])('the operations of %s, loaded', (name) => {
	it('are there for an agent as tools', () => {
		expect(node(name).usableAsTool).toBe(true);
	});

	it('previews the output of each operation before it has run', () => {
		const all = operations(node(name));
		expect(all.length).toBeGreaterThan(0);
		const nodeDir = path.join(installed.folder, path.dirname(builtFile(name)));
		for (const { resource, operation } of all) {
			const schema = loadOutputSchema({ nodeDir, version: 1, resource, operation });
			expect({ resource, operation, ...schema }).toMatchObject({ type: 'object', version: 1 });
			expect(Object.keys(schema?.['properties'] ?? {})).not.toEqual([]);
		}
	});

	it('says what each operation does, for the list of actions', () => {
		for (const { operation, action } of operations(node(name))) {
			expect([operation, action]).toEqual([operation, expect.stringMatching(/^[A-Z][a-z]+ /)]);
		}
	});
});

/** A built class as it is installed, of a node. */
function built(name: string): INodeType {
	const file = path.join(installed.folder, classFiles[name] ?? '');
	const exported = jest.requireActual<Record<string, new () => INodeType>>(file);
	return new exported[name]!();
}

// As an older n8n has the package: beside n8n-workflow, and without the kit for AI nodes.
describe('an n8n without @n8n/ai-node-sdk', () => {
	let gateway: Gateway;
	beforeAll(async () => {
		gateway = await startGateway();
	});
	afterAll(async () => await gateway.close());

	const options = (name: string, parameters: object): RunNodeOptions => ({
		node: built(name),
		parameters: parameters as RunNodeOptions['parameters'],
		credentials: { modelAccessApi: { baseUrl: gateway.baseUrl, apiKey: gateway.keys.active } },
		credentialTypes: [new ModelAccessApi()],
	});

	it('lists models', async () => {
		const run = await runNode(options('ModelAccess', getModels()));
		expect(run.items.length).toBeGreaterThan(0);
	});

	it('submits pictures', async () => {
		const parameters = generateImage({ waitForCompletion: false });
		const run = await runNode(options('ModelAccessImage', parameters));
		expect(run.items[0]?.json).toMatchObject({ status: 'processing' });
	});

	it('shows the chat model, which says what it needs as soon as it is used', async () => {
		const prepared = prepareNode(options('LmChatModelAccess', { model: byId('aurora-text-1') }));
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
		const supplying = built('LmChatModelAccess').supplyData?.call(
			context as ISupplyDataFunctions,
			0,
		);
		const error = await Promise.resolve(supplying).catch((reason: ShownError) => reason);
		expect(error).toMatchObject({
			message: 'Model Access Chat Model needs n8n 2.16 or newer',
			description: expect.stringContaining('Update n8n.') as string,
			functionality: 'configuration-node',
		});
	});
});
