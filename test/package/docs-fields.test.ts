import type { INodeProperties } from 'n8n-workflow';
import { ModelAccessApi } from '../../credentials/ModelAccessApi.credentials';
import { properties as chatModelFields } from '../../nodes/LmChatModelAccess/fields';
import { resources as textResources } from '../../nodes/ModelAccess/ModelAccess.node';
import { normalizeApiKey } from '../../nodes/shared/api/credential/api-key';
import { normalizeBaseUrl } from '../../nodes/shared/api/credential/base-url';
import { resources as imageResources } from '../../nodes/ModelAccessImage/ModelAccessImage.node';
import { plain, read, rows, section, type Row } from './pages';

/** The page of each operation, and an operation whose fields it shares. */
const PLACES: Record<string, { page: string; shared?: string }> = {
	'Response → Create': { page: 'docs/responses.md' },
	'Model → Get Many': { page: 'docs/responses.md' },
	'Image → Generate': { page: 'docs/images.md' },
	'Image → Edit': { page: 'docs/images.md', shared: 'Image → Generate' },
	'Task → Get': { page: 'docs/images.md' },
	'Task → Wait': { page: 'docs/images.md', shared: 'Task → Get' },
	Fields: { page: 'docs/chat-model.md' },
};

const COLLECTIONS = ['Options', 'Advanced'];

const operations = [
	...[...textResources, ...imageResources].flatMap((resource) =>
		resource.operations.map(({ name: short, properties: fields }) => {
			return { name: `${resource.name} → ${short}`, short, fields };
		}),
	),
	{ name: 'Fields', short: 'Fields', fields: chatModelFields },
];

/** The fields in the rows of a fixed collection, or in the entries of a collection. */
function inner({ type, options = [] }: INodeProperties): INodeProperties[] {
	if (type === 'collection') return options as INodeProperties[];
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

const named = (table: Row[], column: string, { displayName }: INodeProperties) =>
	table.filter((row) => plain(row[column] ?? '') === displayName);

/** Whether a page names a field in bold, and each of its choices. */
function expectNamed(page: string, field: INodeProperties) {
	for (const name of [`**${field.displayName}**`, ...choices(field)]) expect(page).toContain(name);
}

describe.each(operations)('what the page of $name says', ({ name, short, fields }) => {
	const { page, shared = name } = PLACES[name]!;
	const all = read(page);
	const text = [...new Set([name, shared])].map((each) => section(page, each)).join('\n');
	const shown = fields.filter(({ displayName }) => !COLLECTIONS.includes(displayName));
	const own = shown
		.filter(({ type }) => type !== 'notice')
		.flatMap((field) => (field.type === 'fixedCollection' ? [field, ...inner(field)] : [field]));

	test('explains every field, its default and its choices', () => {
		for (const field of own) {
			const found = named(rows(text), 'Field', field);
			expect([field.displayName, found]).not.toEqual([field.displayName, []]);
			expect(found.map((row) => row.Default)).toContain(defaultCell(field) ?? found[0]!.Default);
			for (const choice of choices(field)) expect(text).toContain(choice);
		}
		const ofTools = shown.filter(({ type }) => type === 'collection').flatMap(inner);
		for (const field of [...ofTools, ...ofTools.flatMap(inner)]) expectNamed(all, field);
		const known = [...fields, ...own].map(({ displayName }) => displayName);
		const said = rows(text).flatMap(({ Field: field }) => (field ? [plain(field)] : []));
		expect(said.filter((field) => !known.includes(field))).toEqual([]);
	});

	test.each(COLLECTIONS)('explains every entry of %s and no other', (collection) => {
		const given = fields.find(({ displayName }) => displayName === collection);
		const entries = given ? inner(given) : [];
		const isInPlace = rows(text).some((row) => row.Option !== undefined);
		const place = !given ? '' : isInPlace ? text : section(page, collection);
		const isOfThis = ({ In: where = short }: Row) =>
			/^all$/.test(where) || where.split(', ').includes(short);
		const documented = rows(place).filter((row) => row.Option !== undefined && isOfThis(row));
		const names = entries.map(({ displayName }) => displayName);
		expect(documented.map((row) => plain(row.Option!)).sort()).toEqual(names.sort());
		for (const entry of entries) {
			const [row] = named(documented, 'Option', entry);
			const wanted = defaultCell(entry) ?? row?.Default;
			expect([entry.name, row?.Default]).toEqual([entry.name, wanted]);
			for (const choice of choices(entry)) expect(row?.['What it does']).toContain(choice);
			for (const field of inner(entry)) expectNamed(all, field);
		}
	});
});

const CREDENTIAL = 'docs/credential.md';
const said = rows(read(CREDENTIAL)).filter((row) => 'What is used' in row);

const USED = said.map((row) => [plain(row['You enter']!), row['What is used']!] as const);
test.each(USED)('the credential makes of %s what its page says: %s', (entered, used) => {
	const normalize = entered.includes('mak-') ? normalizeApiKey : normalizeBaseUrl;
	const [, refusal] = /^refused: (.*)/.exec(used) ?? [];
	if (refusal) expect(() => normalize(entered)).toThrow(refusal);
	else expect(normalize(entered)).toBe(plain(used));
});

test('README and page name every field of the credential, with enough that is entered', () => {
	const keys = said.filter((row) => row['You enter']!.includes('mak-'));
	expect(keys.length).toBeGreaterThan(4);
	expect(said.length - keys.length).toBeGreaterThan(10);
	const fields = new ModelAccessApi().properties.map(({ displayName }) => displayName);
	for (const text of [section('README.md', 'Credentials'), section(CREDENTIAL, 'Fields')]) {
		const names = rows(text).map((row) => plain(row.Field ?? ''));
		expect(names).toEqual(expect.arrayContaining(fields));
	}
});

test('the page says what the test says of an address without models', () => {
	const rules = new ModelAccessApi().test.rules ?? [];
	const details = rows(section(CREDENTIAL, 'The test')).map((row) => row['The details say']!);
	const isQuoted = (text: string) => rules.some((rule) => rule.properties.message.startsWith(text));
	expect(details.filter(isQuoted)).toHaveLength(1);
});
