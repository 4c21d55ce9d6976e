import { isObject, type JsonObject } from '../body';
import { classify, moodOf, numberOf } from './language';

/** Depth from which optional parts of a schema are left out, so that recursion ends. */
const DEEP = 5;

interface Place {
	root: JsonObject;
	subject: string;
	depth: number;
	/** Position in an array, to make its elements different. */
	index: number;
}

/**
 * A value that conforms to a JSON schema. The subject decides it:
 * - An enum takes the label that fits the text.
 * - A number takes the first number of the text within its bounds, else its lower bound.
 * - A string without format is the text itself.
 * - A boolean says whether the mood of the text is not negative.
 * - An object has all its properties, an array its minimum of elements and at least one.
 *
 * Supported are type (also a list), properties, required, items, prefixItems, enum and const. Also
 * anyOf, oneOf, allOf, $ref into the same document, bounds and the usual formats. `pattern` is
 * ignored.
 * @param subject the text that decides the value
 */
export function sampleOf(schema: unknown, subject: string): unknown {
	return sample(schema, { root: isObject(schema) ? schema : {}, subject, depth: 0, index: 0 });
}

function sample(schema: unknown, place: Place): unknown {
	if (!isObject(schema)) return place.subject;
	if (typeof schema.$ref === 'string') {
		const { $ref, ...rest } = schema;
		const target = resolve($ref, place.root);
		return sample({ ...(isObject(target) ? target : {}), ...rest }, deeper(place));
	}
	if ('const' in schema) return schema.const;
	if (Array.isArray(schema.enum) && schema.enum.length > 0) return pick(schema.enum, place);
	const choices = schema.anyOf ?? schema.oneOf;
	if (Array.isArray(choices) && choices.length > 0) {
		const common = { ...schema, anyOf: undefined, oneOf: undefined };
		return sample(merge(common, choiceOf(choices, place)), deeper(place));
	}
	if (Array.isArray(schema.allOf)) {
		const { allOf, ...rest } = schema;
		const parts = (allOf as unknown[]).map((part) =>
			isObject(part) && typeof part.$ref === 'string' ? resolve(part.$ref, place.root) : part,
		);
		return sample(parts.reduce(merge, rest), deeper(place));
	}
	switch (typeOf(schema, place)) {
		case 'object':
			return sampleObject(schema, place);
		case 'array':
			return sampleArray(schema, place);
		case 'integer':
			return sampleNumber(schema, place, 1);
		case 'number':
			return sampleNumber(schema, place, 0);
		case 'boolean':
			return moodOf(place.subject) !== 'negative';
		case 'null':
			return null;
		default:
			return sampleString(schema, place);
	}
}

const deeper = (place: Place): Place => ({ ...place, depth: place.depth + 1 });

function resolve(ref: string, root: JsonObject): unknown {
	return ref
		.replace(/^#\/?/, '')
		.split('/')
		.filter((step) => step !== '')
		.map((step) => decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~'))
		.reduce<unknown>((at, step) => (isObject(at) ? at[step] : undefined), root);
}

function pick(values: unknown[], { subject }: Place): unknown {
	const [first, ...rest] = values.filter((value) => typeof value === 'string');
	if (first !== undefined) return classify([first, ...rest], subject);
	return values[numberOf(subject, values.length)];
}

const isNull = (schema: unknown) =>
	isObject(schema) && (schema.type === 'null' || schema.const === null);

function choiceOf(choices: unknown[], { depth }: Place): unknown {
	const none = choices.find(isNull);
	if (depth >= DEEP && none !== undefined) return none;
	return choices.find((choice) => !isNull(choice)) ?? none;
}

function merge(one: unknown, other: unknown): JsonObject {
	const [left, right] = [isObject(one) ? one : {}, isObject(other) ? other : {}];
	const merged: JsonObject = { ...left, ...right };
	if (isObject(left.properties) && isObject(right.properties)) {
		merged.properties = { ...left.properties, ...right.properties };
	}
	if (Array.isArray(left.required) && Array.isArray(right.required)) {
		merged.required = [...(left.required as unknown[]), ...(right.required as unknown[])];
	}
	return merged;
}

function typeOf({ type, properties, items, prefixItems }: JsonObject, { depth }: Place): unknown {
	if (Array.isArray(type)) {
		const types = type as unknown[];
		if (depth >= DEEP && types.includes('null')) return 'null';
		return types.find((candidate) => candidate !== 'null') ?? 'null';
	}
	return type ?? (properties ? 'object' : (items ?? prefixItems) ? 'array' : 'string');
}

function sampleObject(schema: JsonObject, place: Place): JsonObject {
	const { properties, additionalProperties, required } = schema;
	if (!isObject(properties)) {
		return isObject(additionalProperties) && place.depth < DEEP
			? { entry: sample(additionalProperties, deeper(place)) }
			: {};
	}
	const needed = Array.isArray(required) ? (required as unknown[]) : [];
	return Object.fromEntries(
		Object.entries(properties)
			.filter(([name]) => place.depth < DEEP || needed.includes(name))
			.map(([name, property]) => [name, sample(property, deeper(place))]),
	);
}

function sampleArray(schema: JsonObject, place: Place): unknown[] {
	const prefix = Array.isArray(schema.prefixItems) ? (schema.prefixItems as unknown[]) : [];
	const least = numeric(schema.minItems) ?? (place.depth < DEEP ? 1 : 0);
	const most = numeric(schema.maxItems) ?? Infinity;
	const items = isObject(schema.items) ? schema.items : {};
	const length = Math.min(Math.max(least, prefix.length), most);
	return Array.from({ length }, (_unused, index) =>
		sample(prefix[index] ?? items, { ...deeper(place), index }),
	);
}

const numeric = (value: unknown) => (typeof value === 'number' ? value : undefined);

/** @param step 1 for integers, 0 for any number */
function sampleNumber(schema: JsonObject, { subject, index }: Place, step: 0 | 1): number {
	const multiple = numeric(schema.multipleOf) ?? step;
	const above = numeric(schema.exclusiveMinimum);
	const below = numeric(schema.exclusiveMaximum);
	const fits = (value: number) =>
		value >= (numeric(schema.minimum) ?? -Infinity) &&
		value <= (numeric(schema.maximum) ?? Infinity) &&
		(above === undefined || value > above) &&
		(below === undefined || value < below) &&
		(multiple === 0 || Number.isInteger(Number((value / multiple).toFixed(9)))) &&
		(step === 0 || Number.isInteger(value));
	const named = (subject.match(/-?\d+(\.\d+)?/g) ?? []).map(Number).find(fits);
	const floor =
		numeric(schema.minimum) ?? above ?? Math.min(1, numeric(schema.maximum) ?? below ?? 1);
	const grid = multiple || 1;
	const start = multiple ? Math.ceil(floor / grid) * grid : floor;
	const between = above !== undefined && below !== undefined ? (above + below) / 2 : floor;
	const candidates = [named, start, start + grid, floor + 0.5, between];
	const found = candidates.find((value) => value !== undefined && fits(value)) ?? start;
	return index > 0 && fits(found + index * grid) ? found + index * grid : found;
}

const FORMATS: Record<string, string> = {
	date: '2026-01-31',
	'date-time': '2026-01-31T12:00:00Z',
	time: '12:00:00Z',
	duration: 'P1D',
	email: 'someone@example.com',
	hostname: 'example.com',
	ipv4: '192.0.2.1',
	ipv6: '2001:db8::1',
	uri: 'https://example.com/',
	uuid: '123e4567-e89b-42d3-a456-426614174000',
};

function sampleString(schema: JsonObject, { subject, index }: Place): string {
	const format = typeof schema.format === 'string' ? FORMATS[schema.format] : undefined;
	if (format !== undefined) return format;
	const text = index > 0 ? `${index + 1}. ${subject}` : subject;
	return text.slice(0, numeric(schema.maxLength)).padEnd(numeric(schema.minLength) ?? 0, '.');
}
