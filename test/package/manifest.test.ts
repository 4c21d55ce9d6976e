import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { N8N_VERSION } from '../../scripts/n8n/installation';
import { manifest, project } from './built';

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

	it('pins n8n’s packages to those of the n8n that the end-to-end tests run', () => {
		const lock = JSON.parse(
			readFileSync(path.join(project, 'scripts/n8n/package-lock.json'), 'utf8'),
		) as { packages: Record<string, { version: string }> };
		const versionInN8n = (name: string) => lock.packages[`node_modules/${name}`]?.version;
		expect(versionInN8n('n8n')).toBe(N8N_VERSION);
		const ours = Object.keys(manifest.devDependencies).filter((name) =>
			/^(n8n-core|n8n-workflow|@n8n\/.*)$/.test(name),
		);
		// Tools of a developer are no part of n8n.
		const shared = ours.filter((name) => versionInN8n(name) !== undefined);
		expect(shared.length).toBeGreaterThan(4);
		for (const name of shared) {
			expect([name, manifest.devDependencies[name]]).toEqual([name, versionInN8n(name)]);
		}
	});

	it('has a lock file that names no place to fetch packages from', () => {
		const lock = readFileSync(path.join(project, 'package-lock.json'), 'utf8');
		expect(lock).not.toContain('"resolved": "http');
	});
});
