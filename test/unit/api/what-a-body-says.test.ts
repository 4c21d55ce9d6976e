import {
	ApiError,
	ValidationError,
	type ErrorDetails,
} from '../../../nodes/shared/api/errors/errors';
import * as sanitize from '../../../nodes/shared/api/errors/sanitize';
import { failedTask } from '../../../nodes/shared/api/images/task-errors';
import { createResponse } from '../../../nodes/shared/api/responses/response';
import { checkReply, modelListSchema, responseSchema } from '../../../nodes/shared/api/schemas';
import type { GatewayReply } from '../../../nodes/shared/api/http/transport';
import { keyRedactor } from '../../../nodes/shared/api/credential/api-key';
import { arrange, expectError, fail, KEY, refusalOf, reply, sending } from './arrange';
import { shown, succeed } from './arrange';
import { bytes, event, streaming } from './recorded-streams';

const REFUSED = 'The gateway refused the request as invalid (HTTP 400)';
const HTML = '<!DOCTYPE html><html><head><title>Sign in</title></head></html>';
const AS_HTML = { 'content-type': 'text/html; charset=utf-8' };
const WEB_PAGE = /The Base URL may be wrong.*login page.*firewall.*may not belong to a gateway/;

/** The error that a user gets of a reply. */
const errorOf = async (answer: GatewayReply) => (await fail([answer], sending('read'))).error;

const answerOf = async (answer: GatewayReply) => (await succeed([answer], sending('read'))).value;

describe('an error’s body', () => {
	const T_C = { type: 'T', code: 'C' };
	const FOUR = { error: { error: { error: { error: 'm' } } } };

	test.each<[string, unknown, said: string, { type?: string; code?: string }, headers?: object]>([
		['an error object', { error: { ...T_C, message: 'm' } }, ': m', T_C],
		['an error text', { error: 'm' }, ': m', {}],
		['fields alone', { ...T_C, message: 'm' }, ': m', T_C],
		['an error of null', { error: null, message: 'm' }, ': m', {}],
		['three errors, one in another', { error: { error: { error: 'm' } } }, ': m', {}],
		['a numeric code', { error: { code: 1042, message: 'm' } }, ': m', { code: '1042' }],
		['a code of 0', { error: { code: 0, message: 'm' } }, ': m', { code: '0' }],
		['a type alone', { error: { type: 'T' } }, ': {"error":{"type":"T"}}', { type: 'T' }],
		['an empty type', { error: { type: '', message: 'm' } }, ': m', {}],
		['text', 'upstream connect error', ': upstream connect error', {}],
		['text that quotes HTML', 'upstream said <html>', ': upstream said <html>', {}],
		['HTML far behind white space', `${' '.repeat(1000)}<html>`, ': <html>', {}],
		['broken JSON', '{"error":{"mess', ': {"error":{"mess', {}],
		['white space', ' \r\n ', '', {}],
		['JSON behind a byte order mark', '\ufeff{"type":"T","message":"m"}', ': m', { type: 'T' }],
		['another name', { reason: 'm' }, ': {"reason":"m"}', {}],
		['a list of one', [{ error: { message: 'm' } }], ': m', {}],
		['a list of several', [{ message: 'm' }, 7], ': [{"message":"m"},7]', {}],
		['a detail', { detail: 'm' }, ': m', {}],
		['a list of details', { detail: [{ msg: 'm' }, { msg: 'n' }, 7] }, ': m; n', {}],
		['a list of errors', { errors: ['m', { message: 'n' }] }, ': m; n', {}],
		['a code and a msg', { code: 'C', msg: 'm' }, ': m', { code: 'C' }],
		['a code by another name', { errcode: 40001, errmsg: 'm' }, ': m', { code: '40001' }],
		['problem details', { title: 't', detail: 'm' }, ': m', {}],
		['a message that is an object', { message: { text: 'm' } }, ': {"message":{"text":"m"}}', {}],
		['four errors, one in another', FOUR, `: ${JSON.stringify(FOUR)}`, {}],
		['JSON, though its type says HTML', { error: 'm' }, ': m', {}, AS_HTML],
	])('that is %s is understood, or quoted at least', async (...row) => {
		const [, body, said, { type, code }, headers] = row;
		const error = await errorOf(reply(400, body, { ...headers }));
		const status = code === undefined ? REFUSED : REFUSED.replace(')', `, ${code})`);
		expectError(error, 'ApiError', status + said, {
			advice: /^Fix the request: .* allowed here\.$/,
		});
		expect([error.details.type, error.details.code]).toEqual([type, code]);
	});

	test.each([
		['by its type', 'Sign in', 'text/html; charset=utf-8'],
		['by its type in capitals', 'Sign in', 'TEXT/HTML'],
		['by its beginning, after white space', '\n  <html lang="en">', undefined],
		['by its beginning, in lower case', '<!doctype HTML>', undefined],
	])('that is HTML, %s, is named and not quoted', async (_, body, type) => {
		const error = await errorOf(reply(400, body, { 'content-type': type }));
		const advice = /^Fix the request.*The Base URL may be wrong.*login page.*firewall/;
		expectError(error, 'ApiError', `${REFUSED}: a web page (HTML) instead of JSON`, { advice });
	});
});

type Said = Record<'type' | 'code' | 'message', string>;

const failedResponse = async (error: Said) => {
	const answer = reply(200, { id: 'r', status: 'failed', output: [], error });
	return (await fail([answer], async (client) => await createResponse(client, {}))).error;
};

/** The error of what the gateway says in each place. */
const PLACES: Array<[string, (error: Said) => Error | Promise<Error>]> = [
	['an error in JSON', async (error) => await errorOf(reply(400, { error }))],
	['a text', async ({ message }) => await errorOf(reply(400, message))],
	['a failed response', failedResponse],
	['a stream', async (error) => await streaming([bytes(event('error', { error }))]).failure()],
	['a failed task', (error) => failedTask(arrange().client, 't', { status: 'failed', error })],
];

describe.each(PLACES)('what the gateway says by %s', (_place, told) => {
	const toldOf = async (said: string) =>
		(await told({ type: said, code: said, message: said })) as ApiError;

	test('becomes one line of bounded length without control characters', async () => {
		const nasty = 'one\r\ntwo\u0000\u001b[31mred\u202eright to left\u2028line\u0085x';
		for (const said of [nasty, nasty + 'y'.repeat(1e5)]) {
			const { message, details } = await toldOf(said);
			const text = [message, details.type, details.code].join('');
			// eslint-disable-next-line no-control-regex
			expect(text).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e]/);
			expect(message).toContain('one two [31mred right to left line x');
			expect(message.length).toBeLessThan(700);
			expect(text.length).toBeLessThan(2000);
			if (said !== nasty) expect(message).toMatch(/y{300}…$/);
		}
	});

	test('is shown without the key, in any form', async () => {
		for (const form of [KEY, encodeURIComponent(KEY), 'x'.repeat(490) + KEY, btoa(`:${KEY}`)]) {
			const error = await toldOf(`bad key ${form}`);
			for (const secret of [KEY, KEY.slice(0, 10), encodeURIComponent(KEY).slice(0, 12)])
				expect(shown(error)).not.toContain(secret);
		}
	});
});

test.each([
	['what is just short enough stays as it is', 'abcdefghij', 'abcdefghij'],
	['runs of white space become one space', ' a \n\n b\t\tc ', 'a b c'],
	['what is long ends in an ellipsis', 'abcdefghijkl', 'abcdefghij…'],
	['there is no space before the ellipsis', 'abcdefghi jkl', 'abcdefghi…'],
	['only the beginning of a text is looked at', `${' '.repeat(40)}x`, ''],
])('in a quote %s', (_, text, quote) => {
	expect(sanitize.sanitizeForMessage(text, 10)).toBe(quote);
});

const quote = (text: unknown) => sanitize.quoteMessage((line) => line, text);

const REFUSAL = 'I can’t help with that request.';
const REASON = 'It asks for a real person.';
const BOTH = `${REFUSAL}\n\n${REASON}`;
const WORDS = 'word0 word1 word2 word3 word4';

test.each([
	['a text as it is', REFUSAL, REFUSAL],
	['paragraphs that are repeated, once', `${BOTH}\n  ${REFUSAL}`, `${REFUSAL} ${REASON}`],
	['a text three times over, once', Array(3).fill(REFUSAL).join(' '), REFUSAL],
	['the recorded words of a model, once', `${WORDS} ${WORDS} ${WORDS}`, WORDS],
	['a last piece that was cut off, once', `${REFUSAL} ${REFUSAL} I can’t help`, REFUSAL],
	['a word or two again and again, as it is', 'no no no no', 'no no no no'],
	['a piece that is not said twice in full', 'a b c d a b', 'a b c d a b'],
	['a piece of three words, once', 'a b c a b c', 'a b c'],
	['a piece that only seems to be said again, as it is', 'a a a b a a', 'a a a b a a'],
	['a piece whose end is that of another', 'a b c a b d a b c a b d', 'a b c a b d'],
	['blanks alone, as nothing', ' \n ', ''],
])('a message quotes %s', (_, said, quoted) => {
	expect(quote(said)).toBe(quoted);
});

test('a very long text is read to a bound, and quoted to a smaller one; no text is not quoted', () => {
	const long = `${'so '.repeat(100)}and on, for ever. `;
	expect(quote(`${long.repeat(10_000)}The end.`)).toBe(long.trim());
	expect(quote('y '.repeat(50_000))).toHaveLength(500);
	for (const none of [undefined, 5, {}, '']) expect(quote(none)).toBeUndefined();
});

describe('an error that is shown', () => {
	const redact = keyRedactor(KEY);
	const [secret, clean] = [`Key ${KEY}.`, 'Key [API key].'];
	const details = (text: string) => {
		const partialOutput = [{ parts: [{ text }] }, text, 5, null, undefined] as object[];
		return { advice: text, retryable: true, retryAfter: 5, imageUrls: [text, 'u'], partialOutput };
	};
	const apiError = () => new ApiError(secret, details(secret) as ErrorDetails);

	test('of the client is a new one of its class, with no secret in any text', () => {
		const error = apiError();
		const stack = error.stack!;
		const shownError = sanitize.redactError(error, redact) as ApiError;
		expect(shownError).toBeInstanceOf(ApiError);
		expect(shownError).toMatchObject({ message: clean, stack: redact(stack) });
		expect(shownError.details).toStrictEqual(details(clean));
		expect([error.message, error.stack, error.details]).toEqual([secret, stack, details(secret)]);
		const input = sanitize.redactError(
			new ValidationError('Base URL', `is ${KEY}`, secret),
			redact,
		);
		const shownInput = { message: 'Base URL is [API key]', details: { advice: clean } };
		expect(input).toMatchObject({ field: 'Base URL', ...shownInput });
	});

	test('of another class is a new one of its class, with all its fields', () => {
		const error = Object.assign(new TypeError(secret), { text: secret, list: [secret, 7], n: 1 });
		const stack = error.stack!;
		const shownError = sanitize.redactError(error, redact) as Error;
		expect(shownError).toBeInstanceOf(TypeError);
		expect({ ...shownError }).toEqual({ text: clean, list: [clean, 7], n: 1 });
		expect([shownError.message, shownError.stack]).toEqual([clean, redact(stack)]);
		expect([error.message, error.text, error.stack]).toEqual([secret, secret, stack]);
		// n8n replaces messages.
		shownError.message = 'other';
		expect(shownError.message).toBe('other');
	});

	test.each([apiError(), new Error(secret)])('may have no stack: %#', (error) => {
		delete error.stack;
		expect(sanitize.redactError(error, redact)).toMatchObject({ message: clean });
		expect(error.stack).toBeUndefined();
	});

	test.each([secret, undefined, null, { message: secret }])('stays %j if it is none', (thrown) => {
		const before = JSON.stringify(thrown);
		expect(sanitize.redactError(thrown, redact)).toBe(thrown);
		expect(JSON.stringify(thrown)).toBe(before);
	});
});

describe('a success body', () => {
	test.each([
		['behind a byte order mark', reply(200, '\ufeff{"a":1}')],
		['though its type says HTML', reply(200, { a: 1 }, AS_HTML)],
		['of any success status', reply(201, { a: 1 })],
	])('is read %s, and comes with the request’s ID', async (_, answer) => {
		answer.headers['x-request-id'] = 'req_1';
		const value = { json: { a: 1 }, requestId: 'req_1', reply: answer };
		await expect(answerOf(answer)).resolves.toEqual(value);
	});

	const NOTHING = 'The gateway answered with an empty body instead of JSON';
	const NO_JSON = 'The gateway’s answer is not JSON';
	const PAGE = 'The gateway answered with a web page (HTML) instead of JSON';
	const EVENTS = 'The gateway answered with an event stream instead of JSON';

	test.each([
		['is white space', reply(200, ' \n'), NOTHING],
		['is a 204', reply(204, ''), NOTHING],
		['is text', reply(200, 'it works'), `${NO_JSON}: it works`],
		['ends too early', reply(200, '{"data":'), `${NO_JSON}: {"data":`],
		['is HTML', reply(200, HTML), PAGE],
		['is an event stream', reply(200, ' data: 1\n\n'), EVENTS],
		['is HTML by its type', reply(200, 'Hi', AS_HTML), PAGE],
	])('that %s is an error which says so', async (_, answer, says) => {
		const headers = { ...answer.headers, 'x-request-id': 'r1' };
		const error = await errorOf({ ...answer, headers });
		const isHtml = says === PAGE;
		const advice = isHtml ? WEB_PAGE : /^The address may not belong to a gateway/;
		const details = { httpStatus: answer.status, requestId: 'r1', retryable: !isHtml, advice };
		expectError(error, 'InvalidResponseError', says, details);
	});

	test.each([
		['response', /^The request may have been executed and charged/],
		['image', /^An image task may exist/],
	] as const)('that can’t be used warns of paying twice for a %s', async (kind, advice) => {
		const { error } = await fail([reply(200, 'nonsense')], sending(kind));
		const details = { retryable: false, maybeExecuted: true, advice };
		expectError(error, 'InvalidResponseError', /./, details);
	});
});

describe('a checked answer', () => {
	const MODELS = { what: 'model list', kind: 'read' } as const;
	const answer = (json: unknown) => ({ json, reply: reply(200), requestId: 'req_9' });

	test('keeps every unknown field on each level, and keys like __proto__ harmless', async () => {
		const text =
			'{"data":[{"id":"m","caps":{"x":1},"__proto__":{"bad":1}}],"next":null,"__proto__":{"bad":1}}';
		const { json } = await answerOf(reply(200, text));
		const list = checkReply(modelListSchema, answer(json), MODELS);
		expect(list).toMatchObject({ data: [{ id: 'm', caps: { x: 1 } }], next: null });
		for (const object of [{}, list, list.data[0]]) expect(object).not.toHaveProperty('bad');
	});

	const OK = { id: 'r', status: 'completed', output: [] };
	const data = (...entries: unknown[]) => ({ data: entries });

	test.each([
		['no data', modelListSchema, {}, 'field "data": missing'],
		['an entry without ID', modelListSchema, data({ id: 'a' }, {}), 'field "data[1].id"'],
		['an ID of another type', modelListSchema, data({ id: 5 }), 'field "data[0].id"'],
		['an empty ID', modelListSchema, data({ id: '' }), 'field "data[0].id"'],
		['a list in place of an object', modelListSchema, [], 'expected object, received array'],
		['no id', responseSchema, { ...OK, id: undefined }, 'field "id"'],
		['no status', responseSchema, { ...OK, status: undefined }, 'field "status"'],
		['output of another type', responseSchema, { ...OK, output: 'hi' }, 'field "output"'],
		['an item without type', responseSchema, { ...OK, output: [{}] }, 'field "output[0].type"'],
	] as const)('with %s names the path', (_, schema, json, path) => {
		const check = () => checkReply(schema, answer(json), { what: 'thing', kind: 'response' });
		const error = refusalOf(check);
		const details = { httpStatus: 200, requestId: 'req_9', retryable: false };
		expectError(error, 'InvalidResponseError', /./, { ...details, advice: /Check the usage/ });
		expect(error.message).toContain(`The gateway’s thing is not as expected: ${path}`);
	});
});
