import { once } from 'node:events';
import fc from '../support/fast-check';
import { keyRedactor } from '../../nodes/shared/api/credential/api-key';
import { ModelAccessError } from '../../nodes/shared/api/errors/errors';
import type { Client } from '../../nodes/shared/api/http/request';
import type { GatewayReply } from '../../nodes/shared/api/http/transport';

/** A key with every kind of character that is written differently in a URL or in base64. */
export const KEY = 'sk-fuzz-7f+Qz/40%Rt_2mZ~91Lk';

export const NOW = Date.UTC(2026, 0, 1);

/** A client whose every request is answered by this, at once; no wait takes time. */
export function answeredBy(reply: Partial<GatewayReply> & { chunks?: Uint8Array[] }): Client {
	const { status = 200, headers = {}, body = '' } = reply;
	const whole: GatewayReply = { status, headers, body };
	let now = NOW;
	async function* chunks() {
		yield* reply.chunks ?? [Buffer.from(body)];
	}
	return {
		transport: {
			send: async () => whole,
			open: async () => {
				return { status, headers, chunks: chunks(), whole: async () => whole, close: () => {} };
			},
		},
		time: {
			now: () => now,
			random: () => 0.5,
			sleep: async (ms, signal) => {
				// The watch over a stream sleeps until the stream ends.
				if (signal && ms >= WATCH_MS) {
					await once(signal, 'abort');
					throw signal.reason;
				}
				now += ms;
			},
		},
		maxRetries: 2,
		timeoutMs: WATCH_MS * 2,
		deadline: NOW + 3_600_000,
		redact: keyRedactor(KEY),
	};
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
