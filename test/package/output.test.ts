import { rmSync } from 'node:fs';
import { SourceMap } from 'node:module';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { classFiles, install, manifest, readBuilt, readSourceMap } from './built';

let built: Record<string, string>;
beforeAll(async () => (built = await readBuilt()));

// What may be in the package, and that each class loads: scripts/scan.mjs, on the tarball.
describe('the built files', () => {
	it('weigh little', () => {
		const bytes = Object.values(built).reduce((sum, text) => sum + gzipSync(text).length, 0);
		expect(bytes).toBeLessThan(100_000);
	});

	it('have icons that are drawn for both themes, small and self-contained', () => {
		for (const [name, file] of Object.entries(classFiles)) {
			const icon = path.join(path.dirname(file), name.charAt(0).toLowerCase() + name.slice(1));
			const drawings = [built[`${icon}.svg`]!, built[`${icon}.dark.svg`]!];
			expect(new Set(drawings).size).toBe(2);
			for (const drawing of drawings) {
				expect(drawing.length).toBeLessThan(2048);
				expect(drawing).toContain('viewBox="0 0 60 60"');
				expect(drawing).not.toMatch(/href|<script|<text|url\(/);
			}
		}
	});
});

describe('the built scripts', () => {
	it('require nothing but what n8n provides, and the bundle', () => {
		const provided = ['n8n-workflow', '@n8n/ai-node-sdk', 'crypto'];
		for (const [file, text] of Object.entries(built)) {
			if (!file.endsWith('.js')) continue;
			const required = [...text.matchAll(/\b(?:require|import)\(\s*["'`]([^"'`]+)/g)];
			const names = required.map(([, name = '']) =>
				name.replace(/^\.+\//, `${path.dirname(file)}/$&`),
			);
			const allowed = file === 'dist/bundle.js' ? provided : ['dist/bundle.js'];
			const others = names.filter((name) => !allowed.includes(path.normalize(name)));
			expect([file, others]).toEqual([file, []]);
		}
	});

	it('get the names in a stack trace back by the source map', () => {
		const text = built['dist/bundle.js']!;
		const before = text.slice(0, text.indexOf('Nothing more was sent.')).split('\n');
		const [line, column] = [before.length - 1, before.at(-1)!.length];
		const entry = new SourceMap(readSourceMap()).findEntry(line, column);
		expect(entry).toMatchObject({ originalSource: '../nodes/shared/api/errors/errors.ts' });
		expect(text).not.toContain('sourceMappingURL');
	});

	it('come with the license of each package that they hold, in full, and no other', () => {
		const bundled = readSourceMap().sources.flatMap(
			(source) => /\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(source)?.[1] ?? [],
		);
		const sections = built['dist/THIRD-PARTY-LICENSES.md']!.split(/^## /m).slice(1);
		const licensed = sections.map((text) => /^(\S+) \S+ \((?:MIT|ISC)\)$/m.exec(text)?.[1]);
		expect(licensed).toEqual([...new Set(bundled)].sort());
		expect(licensed).toContain('zod');
		for (const text of sections) {
			expect(text).toMatch(/Copyright \(c\)/);
			expect(text).toMatch(/WITHOUT WARRANTY OF ANY KIND|DISCLAIMS ALL WARRANTIES/);
		}
	});
});

test('index.js says what to do if the package is not built', async () => {
	const { folder, remove } = await install();
	rmSync(path.join(folder, 'dist'), { recursive: true });
	const says = `${manifest.name} is not built yet: run "npm run build"`;
	expect(() => jest.requireActual<object>(folder)).toThrow(says);
	await remove();
});
