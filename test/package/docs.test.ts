import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { SMOKE_VERSIONS } from '../../scripts/n8n/installation';
import { manifest, project } from './built';
import { anchors, GUIDES, PAGES, read, section, withoutCode } from './pages';

const OTHERS = ['bench', 'examples', 'gateway'].map((folder) => `${folder}/README.md`);
const DOCUMENTS = [...PAGES, 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md', ...OTHERS];

const linksOf = (file: string) =>
	[...withoutCode(read(file)).matchAll(/\]\(([^)\s]+)\)/g)]
		.map(([, target]) => target!)
		.filter((target) => !/^(https|mailto):/.test(target));

describe.each(DOCUMENTS)('%s', (file) => {
	test('has links that lead somewhere', () => {
		const dead = linksOf(file).filter((link) => {
			const [name, anchor] = link.split('#') as [string, string?];
			const target = name === '' ? file : path.join(path.dirname(file), name);
			if (!existsSync(path.join(project, target))) return true;
			return anchor !== undefined && !anchors(read(target)).includes(anchor);
		});
		expect(dead).toEqual([]);
	});

	test('names only commands that are there', () => {
		const named = [...read(file).matchAll(/npm run ([\w:]+)/g)].map(([, script]) => script!);
		expect(named.filter((script) => !(script in manifest.scripts))).toEqual([]);
	});
});

/** Lines above which a page needs a table of contents. */
const LONG_PAGE = 120;

describe.each(GUIDES)('%s', (page) => {
	const text = read(page);

	test('begins with a few sentences that say for whom it is', () => {
		const [title, opening = ''] = text.split('\n\n');
		expect(title).toMatch(/^# .+$/);
		expect(opening).toMatch(/^For /);
		expect([2, 3, 4]).toContain(opening.split(/(?<=\.) /).length);
	});

	test('has a table of contents if it is long', () => {
		const headings = [...withoutCode(text).matchAll(/^## .*$/gm)].flatMap(([line]) =>
			anchors(line),
		);
		const missing = headings.filter((anchor) => !linksOf(page).includes(`#${anchor}`));
		expect(text.split('\n').length > LONG_PAGE ? missing : []).toEqual([]);
	});

	test('is linked from the README and from another page', () => {
		expect(linksOf('README.md')).toContain(page);
		const siblings = DOCUMENTS.filter((other) => other !== page && other !== 'README.md');
		const targets = siblings.flatMap((other) =>
			linksOf(other).map((link) => path.join(path.dirname(other), link.split('#')[0]!)),
		);
		expect(targets).toContain(page);
	});
});

test('the README is short', () => {
	const readme = read('README.md');
	expect(readme.split('\n').length).toBeLessThanOrEqual(250);
	expect(Buffer.byteLength(readme)).toBeLessThanOrEqual(16 * 1024);
});

test('CONTRIBUTING is short, and names only files that are there, and every folder of tests', () => {
	const contributing = read('CONTRIBUTING.md');
	expect(contributing.trimEnd().split('\n').length).toBeLessThanOrEqual(120);
	const links = [...contributing.matchAll(/\]\(([\w./-]+)\)|`((?:nodes|test|docs)\/[\w./-]+)`/g)];
	const named = links.map(([, link, code]) => link ?? code!);
	expect(named.length).toBeGreaterThan(20);
	expect(named.filter((file) => !existsSync(path.join(project, file)))).toEqual([]);
	const tests = readdirSync(path.join(project, 'test'), { recursive: true, encoding: 'utf8' });
	const folders = tests
		.map((file) => path.dirname(file).split('/')[0])
		.filter((name) => name !== '.');
	const missing = folders.filter((name) => !contributing.includes(`\`test/${name}\``));
	expect(missing).toEqual([]);
});

test('the page of the examples names every example, and the README only such', () => {
	const files = readdirSync(path.join(project, 'examples')).filter((f) => f.endsWith('.json'));
	const listed = read('examples/README.md');
	expect(files.filter((file) => !listed.includes(file))).toEqual([]);
	const shown = [...section('README.md', 'Examples').matchAll(/examples\/([\w-]+\.json)/g)];
	expect(shown.length).toBeGreaterThan(3);
	expect(shown.map(([, file]) => file!).filter((file) => !files.includes(file))).toEqual([]);
});

test('the pages name the versions that the tests and the weekly workflow run with', () => {
	expect(/^## \[?(\d[^\]\s]*)/m.exec(read('CHANGELOG.md'))?.[1]).toBe(manifest.version);
	const said = section('docs/hosting.md', 'n8n versions');
	for (const name of ['n8n-core', 'n8n-workflow']) {
		expect(said).toContain(`${name} ${manifest.devDependencies[name]}`);
	}
	expect(SMOKE_VERSIONS.filter((version) => !said.includes(`| ${version} `))).toEqual([]);
	const [, list = ''] = /^ +n8n: \[(.*)\]$/m.exec(read('.github/workflows/versions.yml')) ?? [];
	expect(list.split(', ')).toEqual(SMOKE_VERSIONS);
	const inReadme = section('README.md', 'Compatibility').match(/\d+\.\d+\.\d+/g) ?? [];
	expect(inReadme.filter((version) => !said.includes(`| ${version} `))).toEqual([]);
});
