import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { manifest, project } from './built';

const repository = 'https://github.com/example/n8n-nodes-model-access';

describe('what n8n and npm read in package.json', () => {
	it('has a name and a keyword that n8n finds community nodes by', () => {
		expect(manifest.name).toBe('n8n-nodes-model-access');
		expect(manifest.keywords).toContain('n8n-community-node-package');
		expect(manifest.license).toBe('MIT');
	});

	it('asks for the strict verification', () => {
		expect(manifest.n8n.n8nNodesApiVersion).toBe(1);
		expect(manifest.n8n.strict).toBe(true);
	});

	it('lists every node and credential that has a source file', () => {
		const sources = (folder: string, ending: string) =>
			readdirSync(path.join(project, folder), { recursive: true, encoding: 'utf8' })
				.filter((file) => file.endsWith(ending))
				.map((file) => `dist/${folder}/${file.replace(/\.ts$/, '.js')}`)
				.sort();
		expect([...manifest.n8n.nodes].sort()).toEqual(sources('nodes', '.node.ts'));
		expect([...manifest.n8n.credentials].sort()).toEqual(sources('credentials', '.credentials.ts'));
	});

	it('brings nothing but its own files to a host', () => {
		expect(manifest.files).toEqual(['dist', 'index.js']);
		expect(manifest.main).toBe('index.js');
		expect(manifest.dependencies).toEqual({});
		expect(manifest).not.toHaveProperty('optionalDependencies');
		expect(manifest).not.toHaveProperty('bundleDependencies');
		expect(manifest).not.toHaveProperty('overrides');
	});

	it('expects of its host only what n8n provides', () => {
		const provided = ['n8n-workflow', '@n8n/ai-node-sdk'];
		expect(manifest.peerDependencies).toHaveProperty('n8n-workflow', '*');
		for (const [name, range] of Object.entries(manifest.peerDependencies)) {
			expect(provided).toContain(name);
			expect(range).toBe('*');
		}
	});

	it('asks for no second copy of n8n’s kit for AI nodes, and not for a new n8n', () => {
		expect(manifest.n8n.aiNodeSdkVersion).toBe(1);
		expect(manifest.peerDependencies).toHaveProperty(['@n8n/ai-node-sdk'], '*');
		expect(manifest.peerDependenciesMeta).toEqual({ '@n8n/ai-node-sdk': { optional: true } });
	});

	it('runs nothing on install', () => {
		const onInstall = ['preinstall', 'install', 'postinstall', 'prepare', 'prepublish'];
		expect(Object.keys(manifest.scripts).filter((name) => onInstall.includes(name))).toEqual([]);
	});

	it('works on the oldest Node that it names', () => {
		expect(manifest.engines.node).toBe('>=20.19');
		expect(readFileSync(path.join(project, '.nvmrc'), 'utf8').trim()).toBe('20');
	});

	it.each(Object.entries(manifest.devDependencies))('pins %s to one version', (_, version) => {
		expect(version).toMatch(/^(npm:n8n-workflow@)?\d+\.\d+\.\d+$/);
	});

	it('names one repository everywhere', () => {
		expect(manifest.homepage).toBe(`${repository}#readme`);
		expect(manifest.repository).toEqual({ type: 'git', url: `git+${repository}.git` });
		expect(manifest.bugs.url).toBe(`${repository}/issues`);
	});

	it('has a lock file that names no place to fetch packages from', () => {
		const lock = readFileSync(path.join(project, 'package-lock.json'), 'utf8');
		expect(lock).not.toContain('"resolved": "http');
	});
});
