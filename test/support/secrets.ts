import { inspect, types } from 'node:util';

type Forms = Map<string, string>;

/**
 * Where `secret` stands in `things`, in any of its forms: in keys and values of every depth, in
 * fields that are not enumerable, and in what `JSON.stringify`, `inspect` and `String` make of them.
 */
export function findSecret(secret: string, ...things: unknown[]): string[] {
	if (secret.length < 8) throw new Error('A secret this short is found by chance');
	const forms = formsOf(secret);
	const findings = new Set<string>();
	for (const [index, thing] of things.entries()) {
		const name = things.length === 1 ? 'it' : `#${index + 1}`;
		search(thing, name, forms, findings);
		for (const [printer, print] of Object.entries(PRINTERS)) {
			// What cannot be printed this way cannot leak this way.
			const text = attempt(() => print(thing));
			look(text ?? '', `${printer}(${name})`, forms, findings);
		}
	}
	return [...findings];
}

/** Throws an error that names where `secret` stands in `things`: see {@link findSecret}. */
export function expectNoSecret(secret: string, ...things: unknown[]): void {
	const findings = findSecret(secret, ...things);
	if (findings.length > 0) throw new Error(`The secret was found:\n  ${findings.join('\n  ')}`);
}

function formsOf(secret: string): Forms {
	const forms: Forms = new Map([
		['plain', secret],
		['URL-encoded', encodeURIComponent(secret)],
		['hex', Buffer.from(secret).toString('hex')],
	]);
	for (const offset of [0, 1, 2]) {
		const text = alignedBase64(Buffer.from(secret), offset);
		forms.set(`base64 at offset ${offset}`, text);
		forms.set(`base64url at offset ${offset}`, text.replaceAll('+', '-').replaceAll('/', '_'));
	}
	return forms;
}

/** The characters that stand for `bytes` whatever comes before (`offset` bytes) and after. */
function alignedBase64(bytes: Buffer, offset: number): string {
	const encoded = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
	const first = [0, 2, 3][offset];
	const whole = Math.floor(((offset + bytes.length) * 8) / 6);
	return encoded.slice(first, whole);
}

function look(text: string, path: string, forms: Forms, findings: Set<string>) {
	const seen = new Set<string>();
	for (const [form, needle] of forms) {
		if (!text.includes(needle) || seen.has(needle)) continue;
		seen.add(needle);
		findings.add(`${path} (${form})`);
	}
}

function search(root: unknown, name: string, forms: Forms, findings: Set<string>) {
	const visited = new Set<unknown>();
	const waiting: Array<[value: unknown, path: string]> = [[root, name]];
	for (let next = waiting.pop(); next; next = waiting.pop()) {
		const [value, path] = next;
		if (typeof value === 'string') look(value, path, forms, findings);
		if (Object(value) !== value || visited.has(value)) continue;
		visited.add(value);
		if (ArrayBuffer.isView(value) || types.isAnyArrayBuffer(value)) {
			look(bytesOf(value).toString('latin1'), path, forms, findings);
			continue;
		}
		for (const [key, part] of partsOf(value as object)) {
			look(key, `a key of ${path}`, forms, findings);
			waiting.push([part, `${path}.${key}`]);
		}
	}
}

const bytesOf = (value: ArrayBufferView | ArrayBufferLike) =>
	ArrayBuffer.isView(value)
		? Buffer.from(value.buffer, value.byteOffset, value.byteLength)
		: Buffer.from(value);

/** What others can read by a getter of the class, as errors and responses have them. */
const GETTERS = ['message', 'stack', 'cause', 'description', 'context', 'messages', 'href'];

function partsOf(value: object): Array<[key: string, part: unknown]> {
	const keys = [...Reflect.ownKeys(value), ...GETTERS.filter((key) => key in value)];
	const parts = keys.map((key): [string, unknown] => [
		String(key),
		attempt((): unknown => Reflect.get(value, key)),
	]);
	const lists = [Map, Set, Headers, URLSearchParams, FormData];
	if (lists.some((list) => value instanceof list)) {
		parts.push(['entries', [...(value as Iterable<unknown>)]]);
	}
	return parts;
}

function attempt<T>(work: () => T): T | undefined {
	try {
		return work();
	} catch {
		return undefined;
	}
}

const ALL = { depth: 12, maxArrayLength: null, maxStringLength: null, breakLength: Infinity };

const PRINTERS: Record<string, (thing: unknown) => string | undefined> = {
	JSON: (thing) => JSON.stringify(thing),
	String: (thing) => String(thing),
	inspect: (thing) => inspect(thing, ALL),
};
