import { asRecord } from '../shared/api/http/json';

type Json = Record<string, unknown>;

/** A schema of zod 4, as far as it is read. Every copy and release of zod 4 has these parts. */
interface Schema {
	description?: unknown;
	_zod: {
		def: Json & { type: string };
		/** What its checks demand: bounds, patterns, a format. */
		bag?: Json;
		/** Whether a value may leave it out. */
		optin?: string;
	};
}

/** Converts an inner schema. */
type Convert = (schema: unknown) => Json;

/**
 * Makes a JSON Schema of a schema of zod 4, for what a tool takes. Only late releases have
 * `toJSONSchema` as a method. As a function it is in zod's own copy, which this package cannot
 * import.
 * @returns undefined if it is none, or holds what JSON Schema cannot say
 */
export function fromZod4(schema: unknown): Json | undefined {
	let isReadable = true;
	const json = converter([], () => {
		isReadable = false;
		return {};
	})(schema);
	return isReadable ? json : undefined;
}

/**
 * @param above the schemas around; one that holds itself is not followed again
 * @param onUnknown called for a schema that cannot be converted
 */
function converter(above: unknown[], onUnknown: () => Json): Convert {
	return (given) => {
		if (above.includes(given)) return {};
		const schema = given as Schema;
		const { def, bag = {} } = asRecord(asRecord(given)._zod) as Partial<Schema['_zod']>;
		const kind = typeof def?.type === 'string' ? KINDS[def.type] : undefined;
		if (def === undefined || kind === undefined) return onUnknown();
		const json = kind(def, { inner: converter([...above, given], onUnknown), bag });
		const { description } = schema;
		return typeof description === 'string' ? { ...json, description } : json;
	};
}

interface Needs {
	inner: Convert;
	bag: Json;
}

type Kind = (def: Json, needs: Needs) => Json;

const list = (value: unknown): unknown[] => (Array.isArray(value) ? (value as unknown[]) : []);

const simple =
	(json: Json): Kind =>
	() =>
		json;

const wrapped: Kind = ({ innerType }, { inner }) => inner(innerType);

const withDefault: Kind = ({ innerType, defaultValue }, { inner }) => ({
	...inner(innerType),
	default: defaultValue,
});

/** Leaves out what is not set. */
const set = (fields: Json): Json =>
	Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

const FORMATS: Record<string, string> = {
	guid: 'uuid',
	url: 'uri',
	datetime: 'date-time',
	regex: '',
};

const string: Kind = (def, { bag }) => {
	const format = String(bag.format ?? def.format ?? '');
	const [pattern] = bag.patterns instanceof Set ? [...(bag.patterns as Set<RegExp>)] : [];
	return set({
		type: 'string',
		minLength: bag.minimum,
		maxLength: bag.maximum,
		format: (FORMATS[format] ?? format) || undefined,
		pattern: format === 'regex' ? pattern?.source : undefined,
	});
};

const finite = (value: unknown) =>
	typeof value === 'number' && Math.abs(value) < Number.MAX_SAFE_INTEGER ? value : undefined;

const number: Kind = (_def, { bag }) =>
	set({
		type: String(bag.format ?? '').includes('int') ? 'integer' : 'number',
		minimum: finite(bag.minimum),
		maximum: finite(bag.maximum),
		exclusiveMinimum: finite(bag.exclusiveMinimum),
		exclusiveMaximum: finite(bag.exclusiveMaximum),
		multipleOf: finite(bag.multipleOf),
	});

const array: Kind = ({ element }, { inner, bag }) =>
	set({ type: 'array', items: inner(element), minItems: bag.minimum, maxItems: bag.maximum });

const object: Kind = ({ shape, catchall }, { inner }) => {
	const fields = Object.entries(asRecord(shape));
	const required = fields.filter(([, field]) => (field as Schema)._zod.optin !== 'optional');
	return {
		type: 'object',
		properties: Object.fromEntries(fields.map(([name, field]) => [name, inner(field)])),
		...(required.length > 0 && { required: required.map(([name]) => name) }),
		additionalProperties: catchall === undefined ? false : orFalse(inner(catchall)),
	};
};

/** What fits nothing is `false`, as JSON Schema writes it for other properties. */
const orFalse = (json: Json) => ('not' in json ? false : json);

const typeOf = (values: unknown[]) => {
	const types = new Set(values.map((value) => (value === null ? 'null' : typeof value)));
	return types.size === 1 ? { type: [...types][0] } : {};
};

const choices = (values: unknown[]): Json => ({ ...typeOf(values), enum: values });

/** Of an enum of TypeScript, whose numbers name their words as well. */
const entriesOf = (entries: Json): unknown[] =>
	Object.entries(entries)
		.filter(([name]) => typeof entries[String(entries[name])] !== 'number')
		.map(([, value]) => value);

const literal: Kind = ({ values }) => {
	const all = list(values);
	return all.length === 1 ? { ...typeOf(all), const: all[0] } : choices(all);
};

const record: Kind = ({ keyType, valueType }, { inner }) => ({
	type: 'object',
	propertyNames: inner(keyType),
	additionalProperties: inner(valueType),
});

const tuple: Kind = ({ items, rest }, { inner }) => ({
	type: 'array',
	prefixItems: list(items).map(inner),
	minItems: list(items).length,
	items: rest ? inner(rest) : false,
});

/** A pipe takes what its first step takes; a transformation takes anything. */
const pipe: Kind = ({ in: first, out }, { inner }) => {
	const isTransform = (first as Schema)._zod.def.type === 'transform';
	return inner(isTransform ? out : first);
};

const ANYTHING = simple({});
const NOTHING = simple({ not: {} });

const KINDS: Record<string, Kind> = {
	any: ANYTHING,
	unknown: ANYTHING,
	transform: ANYTHING,
	custom: ANYTHING,
	never: NOTHING,
	undefined: NOTHING,
	void: NOTHING,
	null: simple({ type: 'null' }),
	boolean: simple({ type: 'boolean' }),
	bigint: simple({ type: 'integer' }),
	date: simple({ type: 'string', format: 'date-time' }),
	template_literal: simple({ type: 'string' }),
	string,
	number,
	int: number,
	array,
	object,
	literal,
	record,
	tuple,
	pipe,
	enum: ({ entries }) => choices(entriesOf(asRecord(entries))),
	set: ({ valueType }, { inner }) => ({
		type: 'array',
		uniqueItems: true,
		items: inner(valueType),
	}),
	union: ({ options }, { inner }) => ({ anyOf: list(options).map(inner) }),
	intersection: ({ left, right }, { inner }) => ({ allOf: [inner(left), inner(right)] }),
	nullable: ({ innerType }, { inner }) => ({ anyOf: [inner(innerType), { type: 'null' }] }),
	lazy: ({ getter }, { inner }) => inner((getter as () => unknown)()),
	default: withDefault,
	prefault: withDefault,
	optional: wrapped,
	nonoptional: wrapped,
	readonly: wrapped,
	catch: wrapped,
	promise: wrapped,
};
