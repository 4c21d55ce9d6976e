import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { IDataObject, INodeExecutionData, INodeProperties } from 'n8n-workflow';
import { ModelAccessApi } from '../../credentials/ModelAccessApi.credentials';
import { properties as chatModelFields } from '../../nodes/LmChatModelAccess/supply-model';
import { resources as textResources } from '../../nodes/ModelAccess/ModelAccess.node';
import { resources as imageResources } from '../../nodes/ModelAccessImage/ModelAccessImage.node';
import { normalizeApiKey } from '../../nodes/shared/client/api-key';
import { normalizeBaseUrl } from '../../nodes/shared/client/base-url';
import { faultFailure, IN_DOUBT_ADVICE } from '../../nodes/shared/client/failure';
import { RETRY_TABLE } from '../../nodes/shared/client/retry';
import { adviceFor, EVERY_CONTROL } from '../../nodes/shared/client/advice';
import { STATUS_TABLE } from '../../nodes/shared/client/status-table';
import { TransportFault, type FaultKind } from '../../nodes/shared/client/transport';
import {
	byId,
	createResponse,
	editImage,
	generateImage,
	getModels,
	getTask,
	startStory,
	submitted,
	waitForTask,
	type Story,
} from '../nodes/arrange';
import { SMOKE_VERSIONS } from '../../scripts/n8n/installation';
import { storeBinaryInMemory } from '../../scripts/engine/index';
import { filesBelow, manifest, project } from './built';

const DOCUMENTS = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md'];
const GUIDES = ['bench/README.md', 'docs/gateway.md', 'gateway/README.md'];
const read = (file: string) => readFileSync(path.join(project, file), 'utf8');
const readme = read('README.md');
const withoutCode = (text: string) => text.replace(/^```[^]*?^```$/gm, '');

/** The text from a heading to the next one of its level or above. */
function section(heading: string): string {
	const lines = readme.split('\n');
	const start = lines.findIndex((line) => line.replace(/^#+ /, '') === heading);
	if (start < 0) throw new Error(`The README has no heading "${heading}"`);
	const level = /^#+/.exec(lines[start]!)![0].length;
	const length = lines
		.slice(start + 1)
		.findIndex((line) => new RegExp(`^#{1,${level}} `).test(line));
	return lines.slice(start, length < 0 ? undefined : start + 1 + length).join('\n');
}

type Row = Record<string, string>;

/** All rows of the tables in a text, by the names of their columns. */
function rows(text: string): Row[] {
	const tables = withoutCode(text).match(/(^\|.*\|\n?)+/gm) ?? [];
	return tables.flatMap((table) => {
		const [columns, , ...cells] = table.trim().split('\n').map(cellsOf);
		return cells.map((row) => Object.fromEntries(columns!.map((name, at) => [name, row[at]!])));
	});
}

const cellsOf = (line: string) => {
	const cells = line.split(/(?<!\\)\|/).slice(1, -1);
	return cells.map((cell) => cell.trim().replaceAll('\\|', '|'));
};
const plain = (cell: string) => cell.replace(/^(\*\*|`)(.*)\1$/, '$2');

/** The JSON examples of a text, in order. */
const examples = (text: string): unknown[] =>
	[...text.matchAll(/^```json\n([^]*?)^```$/gm)].map(([, json]) => JSON.parse(json!) as unknown);

describe('what the README says of errors', () => {
	test('is, status by status, what the user reads', () => {
		const said = rows(section('Errors by status'));
		expect(said).toEqual(
			Object.entries(STATUS_TABLE).map(([status, { title, advice }]) => ({
				Status: status,
				'What you read': title,
				'What to do': adviceFor(advice, EVERY_CONTROL),
			})),
		);
	});

	test('quotes what is said where something may have been charged', () => {
		expect(section('Errors by status')).toContain(IN_DOUBT_ADVICE.response);
		expect(section('Errors by status')).toContain(IN_DOUBT_ADVICE.image);
	});

	test('is found in the sources, apart from what is filled in', async () => {
		const sources = await Promise.all(
			['nodes', 'credentials'].map(async (folder) => {
				const files = await filesBelow(path.join(project, folder));
				return files
					.filter((file) => file.endsWith('.ts'))
					.map((file) => read(`${folder}/${file}`));
			}),
		);
		const source = sources.flat().join('\n');
		const quoted = rows(readme).flatMap((row) => row['The error says'] ?? []);
		expect(quoted.length).toBeGreaterThan(20);
		const pieces = quoted.flatMap((text) => text.split('…')).map((piece) => piece.trim());
		const texts = pieces
			.filter((piece) => /\w{2}/.test(piece))
			.map((piece) => piece.replace(/^[:,] /, ''));
		expect(texts.filter((piece) => !source.includes(piece.replace(/ \(HTTP$|:$/, '')))).toEqual([]);
	});

	test('holds every fault of the network', () => {
		const kinds: Record<Exclude<FaultKind, 'cancelled'>, true> = {
			unreached: true,
			timeout: true,
			lost: true,
			certificate: true,
			tls: true,
			blocked: true,
		};
		const said = rows(section('Faults of the network')).map((row) => row['The error says']);
		for (const kind of Object.keys(kinds) as FaultKind[]) {
			const failure = faultFailure(new TransportFault(kind), 'Timeout');
			expect(said).toContain(failure.toError({ advice: '', retryable: false }).message);
		}
	});

	test('is the retry table, row by row', () => {
		const words = { bounded: 'up to Max Retries', once: 'once more', never: 'never' };
		const said = rows(section('What is sent again, and what never'));
		expect(
			said.map((row) => [
				row['Lists and looks at tasks'],
				row['Response → Create'],
				row['Image → Generate, Edit'],
			]),
		).toEqual(RETRY_TABLE.map((row) => [words[row.read], words[row.response], words[row.image]]));
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

	test('covers both fields', () => {
		expect(said.filter(isKey).length).toBeGreaterThan(4);
		expect(said.filter((row) => !isKey(row)).length).toBeGreaterThan(10);
		for (const { displayName } of new ModelAccessApi().properties) {
			expect(section('Credentials')).toContain(`**${displayName}**`);
		}
	});

	test('stands where the credential’s link leads', () => {
		const { hash } = new URL(new ModelAccessApi().documentationUrl);
		expect(anchors(readme)).toContain(hash.slice(1));
	});
});

/** Where the fields and options of each operation stand. */
const CHAT_MODEL = 'The Model Access Chat Model node';
const PLACES: Record<string, { fields: string[]; options: string }> = {
	[CHAT_MODEL]: { fields: [CHAT_MODEL], options: CHAT_MODEL },
	'Response → Create': { fields: ['Response → Create'], options: 'Options of Response → Create' },
	'Model → Get Many': { fields: ['Model → Get Many'], options: 'Model → Get Many' },
	'Image → Generate': { fields: ['Image → Generate'], options: 'Options of the image node' },
	'Image → Edit': {
		fields: ['Image → Edit', 'Image → Generate'],
		options: 'Options of the image node',
	},
	'Task → Get': { fields: ['Task → Get'], options: 'Options of the image node' },
	'Task → Wait': { fields: ['Task → Wait', 'Task → Get'], options: 'Options of the image node' },
};

const optionsOf = (fields: INodeProperties[]) =>
	(fields.find(({ name }) => name === 'options')?.options ?? []) as INodeProperties[];

const operations = [
	...[...textResources, ...imageResources].flatMap((resource) =>
		resource.operations.map((operation) => ({
			name: `${resource.name} → ${operation.name}`,
			short: operation.name,
			fields: operation.properties,
			options: optionsOf(operation.properties),
		})),
	),
	{
		name: CHAT_MODEL,
		short: CHAT_MODEL,
		fields: chatModelFields.filter(({ type }) => type !== 'notice'),
		options: optionsOf(chatModelFields),
	},
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

describe.each(operations)('what the README says of $name', ({ name, short, fields, options }) => {
	const places = PLACES[name]!;
	const text = places.fields.map(section).join('\n');
	const named = (table: Row[], column: string, { displayName }: INodeProperties) =>
		table.filter((row) => plain(row[column] ?? '') === displayName);

	test('explains every field, its default and its choices', () => {
		for (const field of fields.flatMap((property) => [property, ...inner(property)])) {
			const found = named(rows(text), 'Field', field);
			expect([field.displayName, found.length > 0]).toEqual([field.displayName, true]);
			const wanted = defaultCell(field);
			if (wanted !== undefined) {
				expect([field.displayName, ...found.map((row) => row.Default)]).toContain(wanted);
			}
			for (const choice of choices(field)) expect(text).toContain(choice);
		}
	});

	test('explains every option, its default and its choices, and no other', () => {
		const all = rows(section(places.options)).filter((row) => row.Option !== undefined);
		const own = all.filter(({ In: where = 'all' }) => where === 'all' || where.includes(short));
		expect(own.map((row) => plain(row.Option!)).sort()).toEqual(
			options.map(({ displayName }) => displayName).sort(),
		);
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

describe('the outputs in the README', () => {
	let story: Story;
	beforeEach(async () => {
		await storeBinaryInMemory();
		story = await startStory();
	});
	afterEach(async () => await story.close());

	/** Without what differs from run to run. */
	const tidy = (json: unknown) =>
		JSON.parse(
			JSON.stringify(json, (key, value: unknown) =>
				['id', 'request_id', 'usage'].includes(key) ? '' : value,
			),
		) as IDataObject;

	/** What a response gives is told by its request, but for IDs. */
	const expectResponse = async (
		given: IDataObject,
		shown: unknown,
		items?: INodeExecutionData[],
	) => {
		const run = await story.text(createResponse(given), items && { items });
		expect(tidy(run.items[0]?.json)).toEqual(tidy(shown));
		expect(run.items[0]?.json.usage).toMatchObject((shown as IDataObject).usage as IDataObject);
	};

	/** IDs and times differ from run to run; the fields do not. */
	const expectFields = (json: IDataObject | undefined, shown: unknown) => {
		expect(Object.keys(shown as IDataObject)).toEqual(Object.keys(json ?? {}));
		const inside = (value: unknown) =>
			Object.values(value as IDataObject).flatMap((part) =>
				Object.keys(Object(part ?? {}) as object),
			);
		expect(inside(shown).filter((key) => !/^\d+$/.test(key))).toEqual(
			inside(json).filter((key) => !/^\d+$/.test(key)),
		);
	};

	const create = examples(section('Response → Create'));
	const [simplified, raw] = create;

	test('of Response → Create: simplified and raw', async () => {
		await expectResponse({ prompt: 'Write an image prompt for a lighthouse at dusk' }, simplified);
		const run = await story.text(createResponse({ simplify: false }));
		expect(tidy(run.items[0]?.json)).toMatchObject(tidy(raw));
	});

	test('of Text', async () => {
		const [item, shown] = examples(section('Text'));
		const prompt = '=Summarize this in one sentence: {{ $json.text }}';
		expect(section('Text')).toContain(prompt.slice(1));
		await expectResponse({ prompt }, shown, [{ json: item as IDataObject }]);
	});

	test('of Messages: the conversation in the table, and a picture', async () => {
		const [conversation, picture] = examples(section('Messages'));
		const message = rows(section('Messages'))
			.filter((row) => row.Content === 'Text')
			.map((row) => ({ role: row.Role!.toLowerCase(), type: 'text', text: row.Text }));
		expect(message).toHaveLength(4);
		await expectResponse({ inputType: 'messages', messages: { message } }, conversation);
		const seen = [{ role: 'user', type: 'image', text: 'What is in this picture?' }];
		const given = { inputType: 'messages', messages: { message: seen } };
		await expectResponse(given, picture, (await story.image(generateImage())).items);
	});

	test('of JSON', async () => {
		const [input, shown] = examples(section('JSON'));
		await expectResponse({ inputType: 'json', inputJson: JSON.stringify(input) }, shown);
	});

	test('of structured output', async () => {
		const [schema, shown] = examples(section('Structured output'));
		const format = { type: 'json_schema', schema: JSON.stringify(schema) };
		const prompt = 'Classify as bug, wish or praise: The export button does nothing';
		expect(section('Structured output')).toContain(`\`${prompt}\``);
		await expectResponse({ prompt, options: { outputFormat: { format } } }, shown);
	});

	test('of tools, and of the turn after', async () => {
		const [, tools, shown, next] = examples(section('Tools'));
		const options = { tools: JSON.stringify(tools) };
		await expectResponse({ prompt: 'Bergen', options }, shown);
		const inputJson = JSON.stringify(next);
		const run = await story.text(createResponse({ inputType: 'json', inputJson, options }));
		expect(run.items[0]?.json.text).toContain('Rain, 9 degrees');
	});

	test('of pictures that a model draws while it answers', async () => {
		const [, tool] = /`(\[\{ "type": "image_generation" \}\])`/.exec(section('Pictures out'))!;
		const model = byId('aurora-omni-1');
		const run = await story.text(createResponse({ model, options: { tools: tool } }));
		expect(Object.keys(run.items[0]?.binary ?? {})).toEqual(['data']);
	});

	test('of Model → Get Many', async () => {
		const run = await story.text(getModels({ options: { search: 'image' } }));
		expect(run.items[0]?.json).toEqual(examples(section('Model → Get Many'))[0]);
	});

	test('of Image → Generate, waiting and not', async () => {
		const [done, submission] = examples(section('Image → Generate'));
		expectFields((await story.image(generateImage())).items[0]?.json, done);
		const notWaiting = generateImage({ waitForCompletion: false });
		expectFields((await story.image(notWaiting)).items[0]?.json, submission);
	});

	test('of Image → Edit', async () => {
		const run = await story.image(editImage({ options: { n: 2 } }));
		expectFields(run.items[0]?.json, examples(section('Image → Edit'))[0]);
	});

	test('of Task → Get and Task → Wait', async () => {
		const { id } = await submitted(story);
		const seen = await story.image(getTask(id));
		expectFields(seen.items[0]?.json, examples(section('Task → Get'))[0]);
		const waited = await story.image(waitForTask(id));
		expectFields(waited.items[0]?.json, examples(section('Task → Wait'))[0]);
	});

	test('of an item that failed', async () => {
		const run = await story.image(generateImage(), {
			onError: 'continueRegularOutput',
			access: { apiKey: story.gateway.keys.textOnly },
		});
		const [shown] = examples(section('The three choices')) as Array<{ error_details: object }>;
		expect(run.items[0]?.json).toEqual({
			...shown,
			error_details: { ...shown!.error_details, request_id: expect.any(String) as string },
		});
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

test('CONTRIBUTING names only files that are there', () => {
	const named = [...read('CONTRIBUTING.md').matchAll(/`((?:client|n8n)\/[\w-]+\.ts)`/g)];
	expect(named.length).toBeGreaterThan(10);
	const files = named.map(([, file]) => `nodes/shared/${file}`);
	expect(files.filter((file) => !existsSync(path.join(project, file)))).toEqual([]);
});

test('CONTRIBUTING names every folder of tests', () => {
	const folders = readdirSync(path.join(project, 'test'), { withFileTypes: true })
		.filter((entry) => entry.isDirectory())
		.filter(({ name }) => readdirSync(path.join(project, 'test', name)).length > 0)
		.map(({ name }) => `\`test/${name}\``);
	expect(folders.filter((folder) => !read('CONTRIBUTING.md').includes(`| ${folder}`))).toEqual([]);
});

test('the README shows every example', () => {
	const shown = section('Examples');
	const files = readdirSync(path.join(project, 'examples')).filter((f) => f.endsWith('.json'));
	expect(files.filter((file) => !shown.includes(`(examples/${file})`))).toEqual([]);
});

test('the README names the versions that the tests run with', () => {
	const said = section('Compatibility');
	for (const name of ['n8n-core', 'n8n-workflow']) {
		expect(said).toContain(`${name} ${manifest.devDependencies[name]}`);
	}
});

test('the README and the weekly workflow name each n8n that the short story is run in', () => {
	const said = section('Compatibility');
	expect(SMOKE_VERSIONS.filter((version) => !said.includes(`| ${version} `))).toEqual([]);
	const [, list = ''] = /^ +n8n: \[(.*)\]$/m.exec(read('.github/workflows/versions.yml')) ?? [];
	expect(list.split(', ')).toEqual(SMOKE_VERSIONS);
});

test('the changelog begins with the version of the package', () => {
	const [, newest] = /^## \[?(\d[^\]\s]*)/m.exec(read('CHANGELOG.md')) ?? [];
	expect(newest).toBe(manifest.version);
});
