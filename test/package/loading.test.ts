import { existsSync } from 'node:fs';
import path from 'node:path';
import { loadOutputSchema, PackageDirectoryLoader } from 'n8n-core';
import type { ICredentialType, INodeTypeDescription } from 'n8n-workflow';
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
