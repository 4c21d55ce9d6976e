import { readdirSync } from 'node:fs';
import path from 'node:path';
import { N8N_VERSION } from '../../scripts/n8n/installation';
import { manifest, project } from './built';
import { read } from './pages';

// Name, keyword, license, scripts of npm and versions of peers: n8n's own rules, in `npm run lint:n8n`.
describe('what n8n and npm read in package.json', () => {
	it('is verified strictly, and lists every node and credential that has a source file', () => {
		const sources = (folder: string, ending: string) =>
			readdirSync(path.join(project, folder), { recursive: true, encoding: 'utf8' })
				.filter((file) => file.endsWith(ending))
				.map((file) => `dist/${folder}/${file.replace(/\.ts$/, '.js')}`)
				.sort();
		expect(manifest.n8n).toMatchObject({ n8nNodesApiVersion: 1, strict: true });
		expect([...manifest.n8n.nodes].sort()).toEqual(sources('nodes', '.node.ts'));
		expect([...manifest.n8n.credentials].sort()).toEqual(sources('credentials', '.credentials.ts'));
	});

	it('brings no packages to a host: the kit for AI nodes is n8n’s; it works on the oldest Node', () => {
		expect(manifest).not.toHaveProperty('optionalDependencies');
		expect(manifest).not.toHaveProperty('bundleDependencies');
		expect([manifest.engines.node, read('.nvmrc').trim()]).toEqual(['>=20.19', '20']);
		expect(manifest.peerDependencies).toEqual({ 'n8n-workflow': '*', '@n8n/ai-node-sdk': '*' });
		expect(manifest.peerDependenciesMeta).toEqual({ '@n8n/ai-node-sdk': { optional: true } });
		expect(manifest.n8n.aiNodeSdkVersion).toBe(1);
	});

	it('pins n8n’s packages to those of the n8n that the end-to-end tests run', () => {
		const { packages } = JSON.parse(read('scripts/n8n/package-lock.json')) as {
			packages: Record<string, { version: string }>;
		};
		const versionInN8n = (name: string) => packages[`node_modules/${name}`]?.version;
		expect(versionInN8n('n8n')).toBe(N8N_VERSION);
		// Tools of a developer are no part of n8n.
		const shared = Object.keys(manifest.devDependencies).filter(
			(name) => /^(n8n-core|n8n-workflow|@n8n\/.*)$/.test(name) && versionInN8n(name),
		);
		expect(shared.length).toBeGreaterThan(4);
		for (const name of shared) expect(manifest.devDependencies[name]).toBe(versionInN8n(name));
	});

	it('is developed with one version of each package, from whichever registry', () => {
		const pinned = /^(npm:n8n-workflow@)?\d+\.\d+\.\d+$/;
		const loose = Object.entries(manifest.devDependencies).filter(([, v]) => !pinned.test(v));
		expect(loose).toEqual([]);
		expect(read('package-lock.json')).not.toContain('"resolved": "http');
	});
});
