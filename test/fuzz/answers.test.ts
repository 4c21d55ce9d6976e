import fc from '../support/fast-check';
import { normalizeApiKey } from '../../nodes/shared/api/credential/api-key';
import { normalizeBaseUrl } from '../../nodes/shared/api/credential/base-url';
import { pollImageTask } from '../../nodes/shared/api/images/poll-task';
import { submitImageTask } from '../../nodes/shared/api/images/submit-task';
import { waitForImageTask } from '../../nodes/shared/api/images/wait-for-task';
import { findModels, listModels } from '../../nodes/shared/api/models/models';
import { pictureOutput, picturesOf } from '../../nodes/shared/api/images/task-images';
import { createResponse } from '../../nodes/shared/api/responses/response';
import { incompleteReason } from '../../nodes/shared/api/responses/incomplete';
import {
	outputPictures,
	outputText,
	simplifyResponse,
} from '../../nodes/shared/api/responses/response-output';
import { streamResponse } from '../../nodes/shared/api/responses/response-stream';
import { retryAfterSeconds } from '../../nodes/shared/api/http/retry-after';
import { findSecret } from '../support/secrets';
import {
	anyJson,
	answeredBy,
	bodyOf,
	KEY,
	NOW,
	outcomeOf,
	shown,
	spoiled,
	WATCH_MS,
} from './arrange';

/*
 * Whatever comes in, what comes out is a result or one of the client's own errors, soon, and no
 * error shows the key. What fails otherwise throws out of `outcomeOf`.
 */

/** The errors of the gateway, in the headers of which the key may stand as well. */
const headers = fc.record(
	{
		'content-type': fc.constantFrom('application/json', 'text/html', 'text/plain', ''),
		'retry-after': fc.oneof(fc.string(), fc.constantFrom('0', '3', '-1', '1e9', KEY)),
		date: fc.oneof(fc.string(), fc.constant(new Date(NOW).toUTCString())),
		'x-request-id': fc.oneof(fc.string(), fc.constant(`req ${KEY}`)),
		location: fc.oneof(fc.webPath(), fc.constantFrom(`/v1/images/tasks/t1`, `//evil/${KEY}`, '%')),
	},
	{ requiredKeys: [] },
);

const statuses = fc.oneof(
	{ weight: 5, arbitrary: fc.constantFrom(200, 202) },
	{ weight: 1, arbitrary: fc.constantFrom(204, 302, 400, 401, 404, 408, 429, 500, 503, 599) },
);

const RESPONSE = {
	id: 'resp_1',
	object: 'response',
	status: 'completed',
	model: 'aurora',
	output: [
		{ type: 'reasoning', summary: [] },
		{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hello' }] },
		{ type: 'function_call', name: 'f', call_id: 'c', arguments: '{"a":1}' },
		{ type: 'image_generation_call', id: 'i', result: 'iVBORw0KGgo=' },
	],
	usage: { input_tokens: 1, output_tokens: 2, total_tokens: 3 },
	incomplete_details: { reason: 'max_output_tokens' },
};

const TASK = {
	id: 't1',
	task_id: 't1',
	object: 'image.generation.task',
	status: 'completed',
	created_at: 1767225600,
	expires_at: 1767312000,
	completed_at: 1767225606,
	http_status: 200,
	image_url: 'https://storage.example.com/a.png?signature=abc',
	result: { created: 1767225606, data: [{ url: 'https://storage.example.com/a.png' }] },
	error: { type: 'x', message: 'y' },
};

/** The key stands in no error, in any form. */
function expectKeyHidden(text: string) {
	if (text !== '') expect(findSecret(KEY, text)).toEqual([]);
}

const RUNS = { numRuns: 250 };

test('a model list is read, or is an error of the client', async () => {
	const list = { object: 'list', data: [{ id: 'a', object: 'model' }, { id: 'b' }] };
	await fc.assert(
		fc.asyncProperty(statuses, headers, bodyOf(spoiled(list)), async (status, head, body) => {
			const client = answeredBy({ status, headers: head, body });
			const { result, error } = await outcomeOf(async () => await listModels(client));
			expectKeyHidden(shown(error));
			for (const { id } of findModels(result ?? [], 'A')) expect(id).toMatch(/a/i);
		}),
		RUNS,
	);
});

test('a response is read and simplified, or is an error of the client', async () => {
	await fc.assert(
		fc.asyncProperty(statuses, headers, bodyOf(spoiled(RESPONSE)), async (status, head, body) => {
			const client = answeredBy({ status, headers: head, body });
			const request = { model: 'm', input: 'x', text: { format: { type: 'json_object' } } };
			const { error } = await outcomeOf(async () => {
				const created = await createResponse(client, request);
				expect(typeof outputText(created.response)).toBe('string');
				for (const { base64 } of outputPictures(created.response)) {
					expect(typeof base64).toBe('string');
				}
				incompleteReason(created.response);
				return simplifyResponse(created, request);
			});
			expectKeyHidden(shown(error));
		}),
		RUNS,
	);
});

test('an image task is accepted, read and waited for, or is an error of the client', async () => {
	await fc.assert(
		fc.asyncProperty(statuses, headers, bodyOf(spoiled(TASK)), async (status, head, body) => {
			const settings = { pollIntervalMs: 3000, deadline: NOW + 60_000 };
			const works = [
				async () => await submitImageTask(answeredBy({ status, headers: head, body }), 'edits', {}),
				async () => await pollImageTask(answeredBy({ status, headers: head, body }), 't1'),
				async () => {
					const client = answeredBy({ status, headers: head, body });
					return (await waitForImageTask(client, 't1', settings)).seen;
				},
			];
			for (const work of works) {
				const { result, error } = await outcomeOf(work);
				expectKeyHidden(shown(error));
				if (result?.task.status !== 'completed') continue;
				const found = await outcomeOf(() => picturesOf('t1', result.task));
				for (const picture of found.result ?? []) {
					expect(pictureOutput(result.task, picture, { taskId: 't1' }).task_id).toBe('t1');
				}
			}
		}),
		RUNS,
	);
});

const EVENT_TYPES = [
	'response.created',
	'response.output_item.added',
	'response.output_item.done',
	'response.output_text.delta',
	'response.output_text.done',
	'response.refusal.delta',
	'response.function_call_arguments.delta',
	'response.function_call_arguments.done',
	'response.completed',
	'response.incomplete',
	'response.failed',
	'error',
	'response.unheard_of',
];

const event = fc
	.tuple(
		fc.constantFrom(...EVENT_TYPES),
		spoiled({
			output_index: 0,
			content_index: 0,
			delta: 'Hel',
			text: 'Hello',
			arguments: '{}',
			item: RESPONSE.output[1],
			response: RESPONSE,
			error: { message: 'm', code: 'c' },
		}),
		fc.boolean(),
	)
	.map(([type, fields, named]) => {
		const data = JSON.stringify({ type: named ? undefined : type, ...(fields as object) });
		return `${named ? `event: ${type}\n` : ''}data: ${data}\n\n`;
	});

const noise = fc.constantFrom(
	'data: [DONE]\n\n',
	': comment\n\n',
	'\r\n\r\n',
	'data: {"broken\n\n',
	'id: 1\nretry: 10\n\n',
	'\u0000\ufffd',
	'data',
	' \n',
);

const stream = fc
	.array(fc.oneof({ weight: 5, arbitrary: event }, { weight: 1, arbitrary: noise }), {
		maxLength: 8,
	})
	.map((events) => new TextEncoder().encode(events.join('')));

test('a stream of events comes to an answer or an error, the same however it is cut', async () => {
	const read = async (chunks: Uint8Array[], head: Record<string, string>) => {
		const texts: string[] = [];
		const onText = (text: string) => void texts.push(text);
		const client = answeredBy({ headers: head, chunks });
		const { result, error } = await outcomeOf(
			async () => await streamResponse(client, { model: 'm' }, { idleMs: WATCH_MS, onText }),
		);
		expectKeyHidden(shown(error));
		return {
			json: result?.json,
			text: texts.join(''),
			message: error?.message,
			facts: error?.facts,
		};
	};
	await fc.assert(
		fc.asyncProperty(
			stream,
			headers,
			fc.integer({ min: 1, max: 40 }),
			async (bytes, head, size) => {
				const pieces: Uint8Array[] = [];
				for (let at = 0; at < bytes.length; at += size) pieces.push(bytes.subarray(at, at + size));
				expect(await read(pieces, head)).toEqual(await read([bytes], head));
			},
		),
		RUNS,
	);
});

test('Retry-After is a number of seconds, or nothing', () => {
	const value = fc.oneof(
		fc.string(),
		fc.string({ unit: 'binary' }),
		fc.double().map(String),
		fc.bigInt().map(String),
		fc.date({ noInvalidDate: false }).map(String),
		fc.date().map((date) => date.toUTCString()),
		fc.tuple(fc.constantFrom('Mon', 'thu', 'Sun, '), fc.string()).map((words) => words.join('')),
	);
	const header = fc.oneof(value, fc.array(value, { maxLength: 3 }), fc.constant(undefined));
	fc.assert(
		fc.property(header, header, (retryAfter, date) => {
			const seconds = retryAfterSeconds({ 'retry-after': retryAfter, date }, NOW);
			if (seconds === undefined) return;
			expect(Number.isFinite(seconds)).toBe(true);
			expect(seconds).toBeGreaterThanOrEqual(0);
		}),
		{ numRuns: 2000 },
	);
});

test('a base URL leads to a host that was typed, or is refused', () => {
	const pieces = fc.constantFrom(
		...'https://|http://|HTTPS:|ftp://|//|/|\\|@|:|?|#|.|..|%2f|%00| '.split('|'),
		...'\t|\u3002|\uff0f|\u00ad|[::1]|127.0.0.1|localhost|example.com|evil.test|v1|/v1|:443|:99999|user:pw@|models|ｅxample.com'.split(
			'|',
		),
	);
	const typed = fc.oneof(
		fc.array(pieces, { maxLength: 8 }).map((words) => words.join('')),
		fc.webUrl({ withQueryParameters: true, withFragments: true }),
		fc.string(),
	);
	fc.assert(
		fc.property(typed, (text) => {
			let base: string;
			try {
				base = normalizeBaseUrl(text);
			} catch (error) {
				expect((error as Error).name).toBe('InputError');
				return;
			}
			const url = new URL(base);
			expect(base).toMatch(/^https?:\/\/[^/@?#\\]+(\/[^?#]*)?\/v1$/);
			expect(url.username + url.password + url.search + url.hash).toBe('');
			// Written out, the host stands in what was typed; other spellings become its ASCII form.
			const plain = /^[\u0020-\u007e]*$/.test(text) && !text.includes('%');
			if (plain) expect(text.toLowerCase()).toContain(url.hostname.replace(/\.$/, ''));
		}),
		{ numRuns: 2000 },
	);
});

test('a key is sent as it was meant, or is refused without being shown', () => {
	const secret = fc.string({ unit: 'grapheme-ascii', minLength: 8, maxLength: 30 });
	const around = fc.constantFrom(...'| |\n|"|\'|“|Bearer |bearer\t|\u200b|\ufeff'.split('|'));
	fc.assert(
		fc.property(around, secret, around, (before, key, after) => {
			try {
				const sent = normalizeApiKey(before + key + after);
				expect(sent).toMatch(/^[\u0021-\u007e]+$/);
				expect(before + key + after).toContain(sent);
			} catch (error) {
				expect((error as Error).name).toBe('InputError');
				const bare = key.trim();
				if (bare.length >= 8) expect(shown(error as never)).not.toContain(bare);
			}
		}),
		{ numRuns: 1000 },
	);
});

test('an error of any shape is told without the key, on one line, in bounds', async () => {
	await fc.assert(
		fc.asyncProperty(
			fc.constantFrom(400, 404, 429, 500, 502),
			headers,
			bodyOf(fc.oneof(anyJson, spoiled({ error: { type: KEY, code: KEY, message: `no ${KEY}` } }))),
			async (status, head, body) => {
				const { error } = await outcomeOf(
					async () => await createResponse(answeredBy({ status, headers: head, body }), {}),
				);
				expectKeyHidden(shown(error));
				expect(error?.message).toMatch(/^The (gateway|request|connection)/);
				// eslint-disable-next-line no-control-regex
				expect(error?.message).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e]/);
				expect(error?.message.length).toBeLessThan(700);
			},
		),
		RUNS,
	);
});
