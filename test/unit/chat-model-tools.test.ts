import { z as z3 } from 'zod';
import { z } from 'zod/v4';
import { toOutputSchema, toRequestTools, toToolChoice } from '../../nodes/LmChatModelAccess/tools';
import { fromZod4 } from '../../nodes/LmChatModelAccess/zod4';

test.each<[string, z.ZodType]>([
	['texts', z.string().min(1).max(9)],
	['texts of a form', z.union([z.email(), z.uuid(), z.iso.datetime()])],
	['numbers', z.tuple([z.number().gt(1).lt(2), z.number().multipleOf(5)])],
	['truths, nothing and anything', z.union([z.boolean(), z.null(), z.any(), z.unknown()])],
	['lists', z.array(z.string()).min(1).max(3)],
	['choices', z.union([z.literal('a'), z.literal([1, 2]), z.enum({ A: 'a', B: 'b' })])],
	['what may be null', z.nullable(z.string())],
	['what has a default', z.prefault(z.string(), 'a')],
	['both of two', z.intersection(z.looseObject({}), z.looseObject({ a: z.string() }))],
	['records', z.record(z.string(), z.number())],
	['what is changed afterwards', z.string().transform(Number)],
	['whole numbers that may be absent', z.object({ days: z.int().min(1).max(7).optional() })],
	['descriptions, and defaults', z.object({ a: z.string().describe('A').default('b') })],
])('a schema of zod 4 says what zod itself says: %s', (name, schema) => {
	const MORE = /,"(pattern|additionalProperties)":("(\\.|[^"])*"|false|\{\})/g;
	const loose = (json: unknown) => JSON.parse(JSON.stringify(json).replace(MORE, '')) as unknown;
	/** As JSON Schema has it, without what only says which draft it is. */
	const expected = { ...z.toJSONSchema(schema, { io: 'input' }), $schema: undefined };
	const { prefixItems } = expected;
	const found = loose(fromZod4(schema));
	if (name === 'numbers') expect(found).toMatchObject({ prefixItems });
	else expect(found).toEqual(loose(expected));
});

test('a schema of zod 4 that holds itself is written down once', () => {
	const node = z.object({
		name: z.string(),
		get children() {
			return z.array(node).optional();
		},
	});
	expect(fromZod4(node)).toMatchObject({
		additionalProperties: false,
		properties: { name: { type: 'string' }, children: { type: 'array', items: {} } },
		required: ['name'],
	});
	const list: z.ZodType = z.lazy(() => z.array(list));
	expect(fromZod4(list)).toEqual({ type: 'array', items: {} });
});

const tool = (inputSchema: unknown) =>
	({ type: 'function', name: 'weather', inputSchema }) as never;
const UNREADABLE = 'Tool "weather" describes its parameters in an unknown form';
const NO_OBJECT = 'Tool "weather" has parameters that are not an object';

test.each<[string, unknown, string]>([
	['a schema of zod 4 that JSON cannot say', z.map(z.string(), z.string()), UNREADABLE],
	['a schema of no kind', { _zod: { def: {} } }, UNREADABLE],
	['a schema of zod 4 without content', { _zod: {} }, UNREADABLE],
	['a schema of zod 3 without content', { _def: {} }, UNREADABLE],
	['a list', { type: 'array', items: { type: 'string' } }, NO_OBJECT],
	['zod’s list', z.array(z.string()), NO_OBJECT],
])('a tool whose parameters are %s is refused by its name', (_name, inputSchema, says) => {
	expect(() => toRequestTools([tool(inputSchema)])).toThrow(says);
});

const NUMBERS = { type: 'array', items: { type: 'number' } };
const UNION = { anyOf: [NUMBERS, { type: 'null' }] };
test('a wished output is sent as it is, a list, a union and nothing at its root too', () => {
	const all = [NUMBERS, z.array(z.number()), UNION, {}].map((one) => toOutputSchema(one, 'Output'));
	expect(all).toEqual([NUMBERS, NUMBERS, UNION, { type: 'object', properties: {} }]);
});

const properties = { city: { type: 'string' as const } };
const parameters = { type: 'object' as const, properties, required: ['city'] };
const schema = { $schema: 'http://json-schema.org/draft-07/schema#', ...parameters };
const weather = { type: 'function' as const, name: 'weather', inputSchema: schema };

test('tools are functions that are strict only where they say so, or are of the gateway', () => {
	const search = { type: 'provider' as const, name: 'web_search', args: { size: 'low' } };
	const described = { ...weather, description: 'Says it' };
	expect(toRequestTools([described, { ...weather, strict: true }, search])).toEqual([
		{ type: 'function', name: 'weather', description: 'Says it', parameters, strict: false },
		{ type: 'function', name: 'weather', parameters, strict: true },
		{ type: 'web_search', size: 'low' },
	]);
});

const CLOSED = { ...parameters, additionalProperties: false };
test.each<[string, unknown, object]>([
	['nothing', undefined, { type: 'object', properties: {} }],
	['an empty schema', {}, { type: 'object', properties: {} }],
	['a schema of zod, whichever copy of it', { ...z3.object({ city: z3.string() }) }, CLOSED],
	['a schema of zod 4', { _zod: {}, toJSONSchema: () => schema }, parameters],
])('tools have an object of parameters, even by %s', (_name, given, expected) => {
	expect(toRequestTools([tool(given)])[0]?.parameters).toEqual(expected);
});

const named = { type: 'function', name: 'weather' };
test.each<[unknown, unknown]>([
	...[undefined, 'auto', 'none', 'required'].map((one): [unknown, unknown] => [one, one]),
	['any', 'required'],
	[true, 'required'],
	['weather', named],
	[{ type: 'function', function: { name: 'weather' } }, named],
	[{ type: 'web_search' }, { type: 'web_search' }],
])('tools are chosen by %j as %j', (choice, expected) => {
	expect(toToolChoice(choice)).toEqual(expected);
});
