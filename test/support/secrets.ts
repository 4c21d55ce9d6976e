import { inspect, types } from 'node:util';

/**
 * The texts in which `secret` stands in `things`, in any of its forms: in keys and values of every
 * depth, in hidden fields, and in what `JSON.stringify`, `inspect` and `String` make of them.
 */
export function findSecret(secret: string, ...things: unknown[]): string[] {
	if (secret.length < 8) throw new Error('A secret this short is found by chance');
	// What cannot be printed one way cannot leak this way.
	const printed = things.flatMap((thing) => PRINTERS.map((print) => attempt(() => print(thing))));
	const texts = new Set([...textsIn(things), ...printed]);
	return formsOf(secret).flatMap((form) =>
		[...texts].flatMap((text) => {
			const at = text?.indexOf(form) ?? -1;
			return at < 0 ? [] : text!.slice(Math.max(0, at - 80), at + form.length);
		}),
	);
}

/** Throws an error that shows where `secret` stands in `things`: see {@link findSecret}. */
export function expectNoSecret(secret: string, ...things: unknown[]): void {
	const findings = findSecret(secret, ...things);
	if (findings.length > 0) throw new Error(`The secret was found:\n  ${findings.join('\n  ')}`);
}

/** As a text, in a URL, in hex, and in both kinds of base64 behind no, one and two bytes. */
function formsOf(secret: string): string[] {
	const bytes = Buffer.from(secret);
	const base64 = [0, 1, 2].map((offset) => alignedBase64(bytes, offset));
	const base64url = base64.map((text) => text.replaceAll('+', '-').replaceAll('/', '_'));
	return [secret, encodeURIComponent(secret), bytes.toString('hex'), ...base64, ...base64url];
}

/** The characters that stand for `bytes` whatever comes before (`offset` bytes) and after. */
function alignedBase64(bytes: Buffer, offset: number): string {
	const encoded = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
	const whole = Math.floor(((offset + bytes.length) * 8) / 6);
	return encoded.slice([0, 2, 3][offset], whole);
}

function* textsIn(root: unknown): Generator<string> {
	const visited = new Set<unknown>();
	const waiting = [root];
	while (waiting.length > 0) {
		const value = waiting.pop();
		if (visited.has(value)) continue;
		visited.add(value);
		if (typeof value === 'string' || typeof value === 'symbol') yield String(value);
		else if (types.isAnyArrayBuffer(value)) yield Buffer.from(value).toString('latin1');
		else if (ArrayBuffer.isView(value)) {
			const { buffer, byteOffset, byteLength } = value;
			yield Buffer.from(buffer, byteOffset, byteLength).toString('latin1');
		} else if (Object(value) === value) waiting.push(...partsOf(value as object));
	}
}

/** What others can read by a getter of the class, as errors and responses have them. */
const GETTERS = ['message', 'stack', 'cause', 'description', 'context', 'messages', 'href'];

function partsOf(value: object): unknown[] {
	const keys = [...Reflect.ownKeys(value), ...GETTERS.filter((key) => key in value)];
	const parts = keys.map((key) => attempt((): unknown => Reflect.get(value, key)));
	const lists = [Map, Set, Headers, URLSearchParams, FormData];
	const isList = lists.some((list) => value instanceof list);
	return [...keys, ...parts, ...(isList ? (value as Iterable<unknown>) : [])];
}

function attempt<T>(work: () => T): T | undefined {
	try {
		return work();
	} catch {
		return undefined;
	}
}

const ALL = { depth: 12, maxArrayLength: null, maxStringLength: null, breakLength: Infinity };

const PRINTERS: Array<(thing: unknown) => string> = [
	(thing) => JSON.stringify(thing),
	(thing) => String(thing),
	(thing) => inspect(thing, ALL),
];
