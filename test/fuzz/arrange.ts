import { once } from 'node:events';
import fc from '../support/fast-check';
import { ModelAccessError } from '../../nodes/shared/api/errors/errors';
import { arrange, KEY, reply, START, type Chunks } from '../unit/api/arrange';

/** A client whose every request is answered by this, at once; no wait takes time. */
export function answeredBy(given: Partial<ReturnType<typeof reply>> & { chunks?: Chunks }) {
	let now = START;
	const sleep = async (ms: number, signal?: AbortSignal) => {
		if (!signal || ms < WATCH_MS) {
			now += ms;
			return;
		}
		// The watch over a stream sleeps until the stream ends.
		await once(signal, 'abort');
		throw signal.reason;
	};
	const time = { now: () => now, random: () => 0.5, sleep };
	return arrange({ ...reply(200), ...given }, { time, maxRetries: 2, timeoutMs: 2 * WATCH_MS })
		.client;
}

/** Milliseconds that a stream may be silent here. */
export const WATCH_MS = 10 ** 7;

/** What work came to: its result, or the client's own error. Anything else is a crash. */
export async function outcomeOf<T>(work: () => T | Promise<T>) {
	type Outcome = { result?: T; error?: ModelAccessError };
	try {
		return { result: await work() } as Outcome;
	} catch (error) {
		if (error instanceof ModelAccessError) return { error } as Outcome;
		throw error;
	}
}

/** Pieces that mean something to one of the readers, and the key in the forms it is echoed in. */
const KEYS = [KEY, `Bearer ${KEY}`, encodeURIComponent(KEY), Buffer.from(KEY).toString('base64')];

export const wordsOf = (text: string) => text.trim().split(/\s+/);

const MEANINGFUL = wordsOf(`
	completed failed processing message output_text function_call image_generation_call <html>
	https://storage.example.com/a.png?signature=abc file:///etc/passwd javascript:alert(1)
`);

const TEXTS = fc.oneof(
	fc.string({ maxLength: 12 }),
	fc.string({ unit: 'binary', maxLength: 12 }),
	fc.constantFrom(...KEYS, ...MEANINGFUL, '\u0000\u001b[31m\u202e'),
);

const CONTRACT_NAMES = wordsOf(`
	id task_id status object data output content text type role usage input_tokens model error
	message code result url image_url expires_at created_at http_status arguments name call_id
	created refusal response item delta output_index content_index incomplete_details reason
	summary
`);

const OBJECT_NAMES = wordsOf('__proto__ constructor toString hasOwnProperty then length');

/** Field names of the contract, and of JavaScript. */
const NAMES = fc.oneof(
	{ weight: 6, arbitrary: fc.constantFrom(...CONTRACT_NAMES) },
	fc.constantFrom(...OBJECT_NAMES),
	fc.string({ maxLength: 6 }),
);

/** Any JSON value, made of what the contract's readers look for. */
export const { json: anyJson } = fc.letrec<{ json: unknown; leaf: unknown }>((tie) => ({
	leaf: fc.oneof(
		TEXTS,
		fc.constantFrom(null, true, false, 0, -1, 1, 1e308, 8.64e12, 1767225600),
		fc.double({ noNaN: true, noDefaultInfinity: true }),
	),
	json: fc.oneof(
		{ depthSize: 'small', withCrossShrink: true },
		tie('leaf'),
		fc.array(tie('json'), { maxLength: 4 }),
		fc.array(fc.tuple(NAMES, tie('json')), { maxLength: 6 }).map(Object.fromEntries),
	),
}));

/** A right document but for some of its places: each field may be missing, or be anything. */
export function spoiled(document: unknown): fc.Arbitrary<unknown> {
	if (typeof document !== 'object' || document === null) return rarely(fc.constant(document));
	const fields = Object.entries(document).map(([name, value]) =>
		spoiled(value).map((made): [string, unknown] => [name, made]),
	);
	return rarely(
		fc.tuple(...fields).map((made): unknown => {
			const kept = made.filter(([, value]) => value !== undefined);
			return Array.isArray(document) ? kept.map(([, value]) => value) : Object.fromEntries(kept);
		}),
	);
}

/** Mostly this; sometimes nothing, or anything. */
const rarely = (usual: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
	fc.oneof({ weight: 14, arbitrary: usual }, fc.constant(undefined), anyJson);

const textOf = (value: unknown) => JSON.stringify(value) ?? '';

/** A document as it travels: mostly JSON, sometimes cut off, or no JSON at all. */
export const bodyOf = (document: fc.Arbitrary<unknown>): fc.Arbitrary<string> =>
	fc.oneof(
		{ weight: 8, arbitrary: document.map(textOf) },
		fc.tuple(document, fc.nat(400)).map(([value, end]) => textOf(value).slice(0, end)),
		TEXTS,
	);
