import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { manifest, project } from './built';

// package.json holds owner, repository and contact. A fork changes them there, and in each place named here.

const homepage = manifest.homepage.replace(/#.*$/, '');
const { name: author, email } = manifest.author;

/** The page of each node, below docs/. */
const PAGES: Record<string, string> = {
	LmChatModelAccess: 'chat-model',
	ModelAccess: 'responses',
	ModelAccessImage: 'images',
};

/** Made-up addresses, in tests and samples: those listed, and all at reserved hosts. */
const MADE_UP = /^(builder|me|someone)@example\.com$|@(.+\.example\.com|.+\.ex(ample)?)$/;

/** A repository, on any of GitHub's hosts. */
const REPOSITORY =
	/\b(?:github\.com|githubusercontent\.com)[/:]([\w-]+\/[\w.-]*[\w-])|\b([\w-]+\.github\.io\/[\w.-]*[\w-])/g;

const MAIL = /[\w.+-]+@(?:[\w-]+\.)+[a-z]{2,}/gi;

/** The text of each tracked file, by its path. Lock files name the repositories of all packages. */
const texts = new Map(
	execFileSync('git', ['ls-files', '-z'], { cwd: project, encoding: 'utf8' })
		.split('\0')
		.filter((file) => file !== '' && !/package-lock\.json$|\.(png|jpe?g|webp|gif)$/.test(file))
		.map((file) => [file, readFileSync(path.join(project, file), 'utf8')]),
);

/** Where a pattern (its group, if it has one) finds something that is not allowed. */
function others(pattern: RegExp, isAllowed: (found: string) => boolean): string[] {
	return [...texts].flatMap(([file, text]) =>
		text
			.split('\n')
			.flatMap((line, index) =>
				[...line.matchAll(pattern)]
					.map(([whole, ...groups]) => groups.find((group) => group !== undefined) ?? whole)
					.flatMap((found) => (isAllowed(found) ? [] : `${file}:${index + 1}: ${found}`)),
			),
	);
}

const filesLike = (pattern: RegExp) => [...texts].filter(([file]) => pattern.test(file));

test('package.json names one repository in each field', () => {
	expect(homepage).toMatch(/^https:\/\/github\.com\/[\w-]+\/[\w.-]+$/);
	expect(manifest).toMatchObject({
		homepage: `${homepage}#readme`,
		repository: { type: 'git', url: `git+${homepage}.git` },
		bugs: { url: `${homepage}/issues` },
	});
});

const ours = homepage.replace('https://github.com/', '');
const isOurMail = (found: string) => found === email || MADE_UP.test(found);
const onNpm = /\bnpmjs\.com\/package\/((?:@[\w-]+\/)?[\w.-]*[\w-])/g;

it.each<[string, RegExp, (found: string) => boolean]>([
	['repository', REPOSITORY, (found) => [ours, 'n8n-io/n8n'].includes(found.replace(/\.git$/, ''))],
	['mail address, apart from made-up ones,', MAIL, isOurMail],
	['package on npm', onNpm, (found) => found === manifest.name],
])('tracked files name no %s but ours', (_, pattern, isAllowed) => {
	expect(others(pattern, isAllowed)).toEqual([]);
});

describe('what has to name them', () => {
	it('each credential and node leads to its page, which is there', () => {
		const page = (name: string) => `${homepage}/blob/main/docs/${name}.md`;
		const url = page('credential');
		const credentials = filesLike(/^credentials\/.*\.credentials\.ts$/);
		expect(credentials).toHaveLength(manifest.n8n.credentials.length);
		for (const [, text] of credentials) {
			expect(text).toMatch(`documentationUrl =
		'${url}'`);
			expect(text).toContain(`<a href="${url}"`);
		}
		const pages = ['credential', ...Object.values(PAGES)].map((name) => `docs/${name}.md`);
		expect([...texts.keys()]).toEqual(expect.arrayContaining(pages));
		const codexFiles = filesLike(/^nodes\/.*\.node\.json$/);
		expect(codexFiles).toHaveLength(manifest.n8n.nodes.length);
		for (const [file, text] of codexFiles) {
			const own = page(PAGES[path.basename(file, '.node.json')]!);
			const primaryDocumentation = [{ url: own }];
			const resources = { primaryDocumentation, credentialDocumentation: [{ url }] };
			expect(JSON.parse(text)).toMatchObject({ resources });
		}
	});

	it.each([
		['SECURITY.md', `[${email}](mailto:${email})`],
		['LICENSE', `Copyright (c) ${author}`],
		['CHANGELOG.md', `\n[${manifest.version}]: ${homepage}/releases/tag/v${manifest.version}\n`],
		['.github/ISSUE_TEMPLATE/config.yml', `url: ${homepage}/security/policy\n`],
	])('%s', (file, text) => expect(texts.get(file)).toContain(text));
});
