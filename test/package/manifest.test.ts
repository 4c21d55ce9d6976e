import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { manifest, project } from './built';

const repository = 'https://github.com/example/n8n-nodes-model-access';

describe('what n8n and npm read in package.json', () => {
	it('is found as a community node, verified strictly, and names one repository', () => {
		expect(manifest).toMatchObject({
			name: 'n8n-nodes-model-access',
			keywords: expect.arrayContaining(['n8n-community-node-package']) as string[],
			license: 'MIT',
			n8n: { n8nNodesApiVersion: 1, strict: true },
			homepage: `${repository}#readme`,
			repository: { type: 'git', url: `git+${repository}.git` },
			bugs: { url: `${repository}/issues` },
		});
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

	it('brings nothing but its own files to a host, and runs nothing there', () => {
		expect(manifest).toMatchObject({ files: ['dist', 'index.js'], main: 'index.js' });
		expect(manifest.dependencies).toEqual({});
		for (const key of ['optionalDependencies', 'bundleDependencies', 'overrides']) {
			expect(manifest).not.toHaveProperty(key);
		}
		const onInstall = ['preinstall', 'install', 'postinstall', 'prepare', 'prepublish'];
		expect(Object.keys(manifest.scripts).filter((name) => onInstall.includes(name))).toEqual([]);
	});

	it('expects of its host n8n-workflow, and the kit for AI nodes only where n8n has it', () => {
		expect(manifest.peerDependencies).toEqual({ 'n8n-workflow': '*', '@n8n/ai-node-sdk': '*' });
		expect(manifest.peerDependenciesMeta).toEqual({ '@n8n/ai-node-sdk': { optional: true } });
		expect(manifest.n8n.aiNodeSdkVersion).toBe(1);
	});

	it('works on the oldest Node that it names', () => {
		expect(manifest.engines.node).toBe('>=20.19');
		expect(readFileSync(path.join(project, '.nvmrc'), 'utf8').trim()).toBe('20');
	});

	it('is developed with one version of each package, from whichever registry', () => {
		const pinned = /^(npm:n8n-workflow@)?\d+\.\d+\.\d+$/;
		const loose = Object.entries(manifest.devDependencies).filter(([, v]) => !pinned.test(v));
		expect(loose).toEqual([]);
		const lock = readFileSync(path.join(project, 'package-lock.json'), 'utf8');
		expect(lock).not.toContain('"resolved": "http');
	});
});
