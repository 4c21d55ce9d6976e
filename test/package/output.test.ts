import { execFileSync } from 'node:child_process';
import os from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { classFiles, install, manifest, project, readBuilt } from './built';

let built: Record<string, string>;
beforeAll(async () => {
	built = await readBuilt();
});

const scripts = () => Object.entries(built).filter(([file]) => file.endsWith('.js'));

describe('the built files', () => {
	it('are the bundle, the file of each class, icons, search words and previews, and the licences', () => {
		const expected =
			/^dist\/(bundle\.js|THIRD-PARTY-LICENSES\.md|(nodes|credentials)\/.+(\.node\.js|\.credentials\.js|\.node\.json|\.svg|__schema__\/.+\.json))$/;
		expect(Object.keys(built).filter((file) => !expected.test(file))).toEqual([]);
	});

	it('hold no path of the machine that built them', () => {
		for (const [file, text] of Object.entries(built)) {
			const local = [project, path.join(os.homedir(), '/'), 'file:///'];
			expect([file, local.filter((place) => text.includes(place))]).toEqual([file, []]);
		}
	});

	it('stay well under what a tarball may weigh', () => {
		const bytes = Object.values(built).reduce((sum, text) => sum + gzipSync(text).length, 0);
		expect(bytes).toBeLessThan(100 * 1024);
	});

	it('have icons that are drawn for both themes, small and self-contained', () => {
		const icons = Object.keys(built).filter((file) => file.endsWith('.svg'));
		for (const file of icons.filter((icon) => !icon.endsWith('.dark.svg'))) {
			const dark = file.replace('.svg', '.dark.svg');
			expect(icons).toContain(dark);
			expect(built[dark]).not.toBe(built[file]);
		}
		for (const icon of icons) {
			expect(built[icon]?.length).toBeLessThan(2048);
			expect(built[icon]).toContain('viewBox="0 0 60 60"');
			expect(built[icon]).not.toMatch(/href|<script|<text|url\(/);
		}
	});
});

describe('the built scripts', () => {
	it('require nothing but what n8n provides, and the bundle', () => {
		const provided = ['n8n-workflow', '@n8n/ai-node-sdk', 'crypto'];
		for (const [file, text] of scripts()) {
			const required = [...text.matchAll(/\b(?:require|import)\(\s*["'`]([^"'`]+)/g)];
			const names = required.map(([, name = '']) =>
				name.startsWith('.') ? path.join(path.dirname(file), name) : name,
			);
			const allowed = file === 'dist/bundle.js' ? provided : ['dist/bundle.js'];
			expect([file, names.filter((name) => !allowed.includes(name))]).toEqual([file, []]);
		}
	});

	it('hold all code once: the file of a class only takes it from the bundle', () => {
		for (const [name, file] of Object.entries(classFiles)) {
			expect(built[file]).toMatch(
				new RegExp(`^exports\\.${name} = require\\('[./]+/bundle\\.js'\\)\\.${name};\\n$`),
			);
		}
	});

	it('are readable', () => {
		for (const [, text] of scripts()) {
			expect(text).not.toContain('sourceMappingURL');
			expect(text.length / text.split('\n').length).toBeLessThan(80);
		}
	});

	it.each(Object.entries(classFiles))('keep the name of %s', (name, file) => {
		const exported = jest.requireActual<Record<string, new () => object>>(path.join(project, file));
		const Exported = exported[name];
		expect(Exported?.name).toBe(name);
		expect(Exported && new Exported().constructor.name).toBe(name);
	});
});

describe('the licences of what is bundled', () => {
	it('are those of each package in the bundles, and no more', () => {
		const bundled = scripts().flatMap(([, text]) =>
			[...text.matchAll(/^\s*\/\/ node_modules\/((?:@[^/]+\/)?[^/]+)\//gm)].map(([, name]) => name),
		);
		const licensed = [
			...(built['dist/THIRD-PARTY-LICENSES.md'] ?? '').matchAll(/^## (\S+) \S+ \((?:MIT|ISC)\)$/gm),
		].map(([, name]) => name);
		expect(licensed).toEqual([...new Set(bundled)].sort());
		expect(licensed).toContain('zod');
	});

	it('stand there in full', () => {
		const sections = (built['dist/THIRD-PARTY-LICENSES.md'] ?? '').split(/^## /m).slice(1);
		for (const section of sections) {
			expect(section).toMatch(/Copyright \(c\)/);
			expect(section).toMatch(/WITHOUT WARRANTY OF ANY KIND|DISCLAIMS ALL WARRANTIES/);
		}
	});
});

describe('index.js', () => {
	it('exports every node and credential class', () => {
		const exported = jest.requireActual<Record<string, { name: string }>>(project);
		expect(Object.keys(exported).sort()).toEqual(Object.keys(classFiles).sort());
		for (const [name, value] of Object.entries(exported)) expect(value.name).toBe(name);
	});

	it('says what to do where the package is not built', async () => {
		const { folder, remove } = await install();
		try {
			execFileSync('rm', ['-r', path.join(folder, 'dist')]);
			const load = () =>
				execFileSync(process.execPath, ['-e', `require(${JSON.stringify(folder)})`], {
					stdio: 'pipe',
				});
			expect(load).toThrow(`${manifest.name} is not built yet: run "npm run build"`);
		} finally {
			await remove();
		}
	});
});
