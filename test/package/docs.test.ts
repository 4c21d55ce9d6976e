import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import type { INodeProperties } from 'n8n-workflow';
import { ModelAccessApi } from '../../credentials/ModelAccessApi.credentials';
import { properties as chatModelFields } from '../../nodes/LmChatModelAccess/fields';
import { resources as textResources } from '../../nodes/ModelAccess/ModelAccess.node';
import { resources as imageResources } from '../../nodes/ModelAccessImage/ModelAccessImage.node';
import { normalizeApiKey } from '../../nodes/shared/api/credential/api-key';
import { normalizeBaseUrl } from '../../nodes/shared/api/credential/base-url';
import { failureFromFault, MAYBE_EXECUTED_ADVICE } from '../../nodes/shared/api/errors/from-reply';
import { RETRY_TABLE } from '../../nodes/shared/api/http/retry';
import { formatAdvice } from '../../nodes/shared/api/errors/advice';
import { ALL_OPTION_NAMES } from '../support/option-names';
import { STATUS_TABLE } from '../../nodes/shared/api/errors/status-table';
import { TransportFault, type FaultKind } from '../../nodes/shared/api/http/transport';
import { SMOKE_VERSIONS } from '../../scripts/n8n/installation';
import { filesBelow, manifest, project } from './built';
import { plain, read, readme, rows, section, withoutCode, type Row } from './readme';

const DOCUMENTS = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md'];
const GUIDES = ['bench/README.md', 'docs/gateway.md', 'gateway/README.md'];
const filesIn = async (folder: string) =>
	(await filesBelow(path.join(project, folder))).map((file) => `${folder}/${file}`);

describe('what the README says of errors', () => {
	test('is, status by status, what the user reads, and where something may be charged', () => {
		expect(rows(section('Errors by status'))).toEqual(
			Object.entries(STATUS_TABLE).map(([status, { title, advice }]) => ({
				Status: status,
				'What you read': title,
				'What to do': formatAdvice(advice, ALL_OPTION_NAMES),
			})),
		);
		expect(section('Errors by status')).toContain(MAYBE_EXECUTED_ADVICE.response);
		expect(section('Errors by status')).toContain(MAYBE_EXECUTED_ADVICE.image);
	});

	test('is found in the sources, apart from what is filled in', async () => {
		const files = [...(await filesIn('nodes')), ...(await filesIn('credentials'))];
		const source = files
			.filter((file) => file.endsWith('.ts'))
			.map(read)
			.join('\n');
		const quoted = rows(readme).flatMap((row) => row['The error says'] ?? []);
		expect(quoted.length).toBeGreaterThan(20);
		const texts = quoted
			.flatMap((text) => text.split('…'))
			.filter((piece) => /\w{2}/.test(piece))
			.map((piece) => piece.trim().replace(/^[:,] | \(HTTP$|:$/g, ''));
		expect(texts.filter((text) => !source.includes(text))).toEqual([]);
	});

	test('holds every fault of the network', () => {
		const kinds: FaultKind[] = [
			'unreached',
			'timeout',
			'lost',
			'certificate',
			'clientCertificate',
			'handshake',
			'tls',
			'blocked',
		];
		const said = rows(section('Faults of the network')).map((row) => row['The error says']);
		for (const kind of kinds) {
			const failure = failureFromFault(new TransportFault(kind), 'Timeout');
			expect(said).toContain(failure.toError({ advice: '', retryable: false }).message);
		}
	});

	test('is the retry table, row by row', () => {
		const words = {
			bounded: 'up to Max Retries',
			ifAsked: 'if told when',
			once: 'once more',
			queued: 'in the queue',
			never: 'never',
		};
		expect(rows(section('What is sent again, and what never'))).toEqual(
			RETRY_TABLE.map(
				({ read: looks, response, image }) =>
					expect.objectContaining({
						'Lists and looks at tasks': words[looks],
						'Response → Create': words[response],
						'Image → Generate, Edit': words[image],
					}) as Row,
			),
		);
	});
});

describe('what the README says of the credential', () => {
	const said = rows(section('Credentials')).filter((row) => 'What is used' in row);
	const isKey = ({ 'You enter': entered }: Row) => entered!.includes('mak-');

	test.each(said.map((row) => [plain(row['You enter']!), row] as const))('%s', (entered, row) => {
		const normalize = isKey(row) ? normalizeApiKey : normalizeBaseUrl;
		const used = row['What is used']!;
		if (used.startsWith('refused: ')) {
			expect(() => normalize(entered)).toThrow(used.replace('refused: ', ''));
		} else {
			expect(normalize(entered)).toBe(plain(used));
		}
	});

	test('covers both fields, where the credential’s link leads', () => {
		const { properties, documentationUrl } = new ModelAccessApi();
		expect(said.filter(isKey).length).toBeGreaterThan(4);
		expect(said.filter((row) => !isKey(row)).length).toBeGreaterThan(10);
		for (const field of properties)
			expect(section('Credentials')).toContain(`**${field.displayName}**`);
		expect(anchors(readme)).toContain(new URL(documentationUrl).hash.slice(1));
	});
});

/** Where the options of each operation stand, and fields that it shares with another one. */
const CHAT_MODEL = 'The Model Access Chat Model node';
const IMAGE_OPTIONS = 'Options of the image node';
const PLACES: Record<string, { options: string; shared?: string }> = {
	[CHAT_MODEL]: { options: CHAT_MODEL },
	'Response → Create': { options: 'Options of Response → Create' },
	'Model → Get Many': { options: 'Model → Get Many' },
	'Image → Generate': { options: IMAGE_OPTIONS },
	'Image → Edit': { options: IMAGE_OPTIONS, shared: 'Image → Generate' },
	'Task → Get': { options: IMAGE_OPTIONS },
	'Task → Wait': { options: IMAGE_OPTIONS, shared: 'Task → Get' },
};

const optionsOf = (fields: INodeProperties[]) =>
	fields
		.filter(({ name }) => name === 'options' || name === 'advanced')
		.flatMap(({ options }) => options as INodeProperties[]);

const operations = [
	...[...textResources, ...imageResources].flatMap((resource) =>
		resource.operations.map((operation) => ({
			name: `${resource.name} → ${operation.name}`,
			short: operation.name,
			fields: operation.properties,
		})),
	),
	{ name: CHAT_MODEL, short: CHAT_MODEL, fields: chatModelFields },
];

/** The fields in the rows of a fixed collection. */
function inner({ type, options = [] }: INodeProperties): INodeProperties[] {
	if (type !== 'fixedCollection') return [];
	return options.flatMap((option) => ('values' in option ? option.values : []));
}

/** The choices of a field, as they are called. */
const choices = ({ type, options = [] }: INodeProperties) =>
	type === 'options' ? options.map(({ name }) => name) : [];

/** What a cell for the default says; undefined where it says something of its own. */
function defaultCell({ type, default: value, options = [] }: INodeProperties) {
	if (typeof value === 'number') return `${value}`;
	if (type === 'boolean') return value ? 'on' : 'off';
	const chosen = options.find((option) => 'value' in option && option.value === value);
	return type === 'options' ? chosen?.name : undefined;
}

describe.each(operations)('what the README says of $name', ({ name, short, fields }) => {
	const { options: place, shared = name } = PLACES[name]!;
	const text = section(name) + section(shared);
	const shown = fields.filter(({ type }) => type !== 'notice');
	const options = optionsOf(fields);
	const named = (table: Row[], column: string, { displayName }: INodeProperties) =>
		table.filter((row) => plain(row[column] ?? '') === displayName);

	test('explains every field, its default and its choices', () => {
		for (const field of shown.flatMap((property) => [property, ...inner(property)])) {
			const found = named(rows(text), 'Field', field);
			expect([field.displayName, found.length > 0]).toEqual([field.displayName, true]);
			const wanted = defaultCell(field);
			const said = [field.displayName, ...found.map((row) => row.Default)];
			if (wanted !== undefined) expect(said).toContain(wanted);
			for (const choice of choices(field)) expect(text).toContain(choice);
		}
	});

	test('explains every option, its default and its choices, and no other', () => {
		const all = rows(section(place)).filter((row) => row.Option !== undefined);
		const own = all.filter(({ In: where = 'all' }) => where === 'all' || where.includes(short));
		const names = options.map(({ displayName }) => displayName);
		expect(own.map((row) => plain(row.Option!)).sort()).toEqual(names.sort());
		for (const option of options) {
			const [row] = named(own, 'Option', option);
			const wanted = defaultCell(option);
			if (wanted !== undefined) expect([option.name, row?.Default]).toEqual([option.name, wanted]);
			for (const choice of choices(option)) expect(row?.['What it does']).toContain(choice);
			for (const field of inner(option)) {
				expect(text).toContain(`**${field.displayName}**`);
				for (const choice of choices(field)) expect(text).toContain(choice);
			}
		}
	});
});

/** The anchors of a document's headings, as GitHub makes them. */
function anchors(text: string): string[] {
	const seen = new Map<string, number>();
	return [...withoutCode(text).matchAll(/^#+ (.*)$/gm)].map(([, heading]) => {
		const slug = heading!
			.toLowerCase()
			.replace(/[^\p{L}\p{N}\s_-]/gu, '')
			.replaceAll(' ', '-');
		const count = seen.get(slug) ?? 0;
		seen.set(slug, count + 1);
		return count === 0 ? slug : `${slug}-${count}`;
	});
}

describe.each([...DOCUMENTS, ...GUIDES])('%s', (file) => {
	const text = read(file);
	const links = [...withoutCode(text).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target!);

	test('has links that lead somewhere', () => {
		const dead = links.filter((link) => {
			if (/^(https|mailto):/.test(link)) return false;
			const [name, anchor] = link.split('#') as [string, string?];
			const target = name === '' ? file : path.join(path.dirname(file), name);
			if (!existsSync(path.join(project, target))) return true;
			return anchor !== undefined && !anchors(read(target)).includes(anchor);
		});
		expect(dead).toEqual([]);
	});

	test('names only commands that are there', () => {
		const named = [...text.matchAll(/npm run ([\w:]+)/g)].map(([, script]) => script!);
		expect(named.filter((script) => !(script in manifest.scripts))).toEqual([]);
	});
});

test('CONTRIBUTING names only files that are there, and every folder of tests', () => {
	const contributing = read('CONTRIBUTING.md');
	const links = [...contributing.matchAll(/\]\(([\w./-]+)\)|`((?:nodes|test|docs)\/[\w./-]+)`/g)];
	const named = links.map(([, link, code]) => link ?? code!);
	expect(named.length).toBeGreaterThan(20);
	expect(named.filter((file) => !existsSync(path.join(project, file)))).toEqual([]);
	const folders = readdirSync(path.join(project, 'test'), { withFileTypes: true })
		.filter((entry) => entry.isDirectory())
		.filter(({ name }) => readdirSync(path.join(project, 'test', name)).length > 0)
		.map(({ name }) => `\`test/${name}\``);
	expect(folders.filter((folder) => !contributing.includes(folder))).toEqual([]);
});

test('the README shows every example', () => {
	const shown = section('Examples');
	const files = readdirSync(path.join(project, 'examples')).filter((f) => f.endsWith('.json'));
	expect(files.filter((file) => !shown.includes(`(examples/${file})`))).toEqual([]);
});

test('the README names the versions that the tests and the weekly workflow run with', () => {
	const said = section('Compatibility');
	for (const name of ['n8n-core', 'n8n-workflow']) {
		expect(said).toContain(`${name} ${manifest.devDependencies[name]}`);
	}
	expect(SMOKE_VERSIONS.filter((version) => !said.includes(`| ${version} `))).toEqual([]);
	const [, list = ''] = /^ +n8n: \[(.*)\]$/m.exec(read('.github/workflows/versions.yml')) ?? [];
	expect(list.split(', ')).toEqual(SMOKE_VERSIONS);
});

test('the changelog begins with the version of the package', () => {
	const [, newest] = /^## \[?(\d[^\]\s]*)/m.exec(read('CHANGELOG.md')) ?? [];
	expect(newest).toBe(manifest.version);
});
