import { AnswerError, quotable } from '../../../nodes/shared/client/errors';
import { request } from '../../../nodes/shared/client/request';
import { checkAnswer, modelListSchema, responseSchema } from '../../../nodes/shared/client/schemas';
import type { GatewayReply } from '../../../nodes/shared/client/transport';
import { arrange, KEY, refusalOf, reply, shown } from './arrange';

const READ = { method: 'GET', path: '/models' } as const;
const TITLE = 'The gateway refused the request as invalid (HTTP 400)';
const HTML = '<!DOCTYPE html><html><head><title>Sign in</title></head></html>';

async function refused(answer: GatewayReply) {
	const { client, failure } = arrange([answer]);
	return await failure(request(client, 'read', READ));
}

describe('an error’s body', () => {
	test.each([
		[
			'an error object',
			{ error: { type: 'T', code: 'C', message: 'no such field' } },
			{ text: ': no such field', type: 'T', code: 'C' },
		],
		['an error text', { error: 'no such field' }, { text: ': no such field' }],
		[
			'fields without an error around them',
			{ type: 'T', code: 'C', message: 'm' },
			{ text: ': m', type: 'T', code: 'C' },
		],
		['an error of null', { error: null, message: 'm' }, { text: ': m' }],
		['a numeric code', { error: { code: 1042, message: 'm' } }, { text: ': m', code: '1042' }],
		['a code of 0', { error: { code: 0, message: 'm' } }, { text: ': m', code: '0' }],
		['a type alone', { error: { type: 'T' } }, { type: 'T' }],
		['fields of other types', { error: { type: 5, code: {}, message: 'm' } }, { text: ': m' }],
		['text', 'upstream connect error', { text: ': upstream connect error' }],
		['broken JSON', '{"error":{"mess', { text: ': {"error":{"mess' }],
		['nothing', '', { text: '' }],
		['white space', ' \r\n ', { text: '' }],
	])(
		'%s is understood',
		async (_, body, { text, type, code }: Partial<Record<'text' | 'type' | 'code', string>>) => {
			const error = await refused(reply(400, body));

			if (text !== undefined) expect(error.message).toBe(TITLE + text);
			expect(error.message).toContain(TITLE);
			expect([error.facts.type, error.facts.code]).toEqual([type, code]);
			expect(error.facts.httpStatus).toBe(400);
		},
	);

	test.each([
		['another name', { detail: 'no such field' }],
		['a list of errors', { errors: [{ message: 'no such field' }] }],
		['a list', [{ message: 'no such field' }]],
		['an error within an error', { error: { error: { message: 'no such field' } } }],
		['a message that is an object', { error: { message: { text: 'no such field' } } }],
		['a JSON text', JSON.stringify('no such field')],
	])('in %s is quoted at least', async (_, body) => {
		const { message } = await refused(reply(400, body));
		expect(message).toContain('no such field');
	});

	test('may begin with a byte order mark', async () => {
		const { message, facts } = await refused(
			reply(400, '\ufeff' + JSON.stringify({ error: { type: 'T', message: 'm' } })),
		);
		expect(message).toBe(`${TITLE}: m`);
		expect(facts.type).toBe('T');
	});

	test.each([
		['by its type', reply(400, 'Sign in', { 'content-type': 'text/html; charset=utf-8' })],
		['by its type in capitals', reply(400, 'Sign in', { 'content-type': 'TEXT/HTML' })],
		['by its beginning', reply(400, HTML)],
		['by its beginning, after white space', reply(400, '\n  <html lang="en">')],
		['by its beginning, in lower case', reply(400, '<!doctype HTML>')],
	])('that is HTML, %s, is named and not quoted', async (_, answer) => {
		const { message, facts } = await refused(answer);
		expect(message).toBe(`${TITLE}: a web page (HTML) in place of JSON`);
		expect(facts.advice).toContain('Fix the request');
		expect(facts.advice).toMatch(/wrong Base URL.*login page.*firewall/);
	});

	test('that is JSON is read, though its type says HTML', async () => {
		const { message } = await refused(
			reply(400, { error: { message: 'm' } }, { 'content-type': 'text/html' }),
		);
		expect(message).toBe(`${TITLE}: m`);
	});

	test('of a megabyte is quoted in part', async () => {
		for (const body of ['x'.repeat(1e6), { error: { message: 'y'.repeat(1e6) } }]) {
			const { message } = await refused(reply(400, body));
			expect(message.length).toBeLessThan(700);
			expect(message).toMatch(/[xy]{400}…$/);
		}
	});

	test('becomes one line without control characters', async () => {
		const nasty = 'one\r\ntwo\u0000\u001b[31mred\u202eright to left\u2028line\u0085x';
		for (const body of [nasty, { error: { type: nasty, code: nasty, message: nasty } }]) {
			const { message, facts } = await refused(reply(400, body));
			const text = [message, facts.type, facts.code].join('');
			// eslint-disable-next-line no-control-regex
			expect(text).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e]/);
			expect(message).toContain('one two [31mred right to left line x');
		}
	});

	test.each([
		['as text', `bad key ${KEY}`],
		['in the message', { error: { message: `bad key ${KEY}` } }],
		['in type and code', { error: { type: KEY, code: KEY, message: 'm' } }],
		['in another field', { detail: `bad key ${KEY}` }],
		['URL-encoded', `?key=${encodeURIComponent(KEY)}`],
		['in base64', { error: { message: btoa(`:${KEY}`) } }],
		['after 490 characters', 'x'.repeat(490) + KEY],
	])('that echoes the key, %s, is shown without it', async (_, body) => {
		const error = await refused(reply(400, body, { 'x-request-id': `req ${KEY}` }));
		expect(shown(error)).not.toContain(KEY);
		expect(shown(error)).not.toContain(KEY.slice(0, 10));
		expect(shown(error)).not.toContain(encodeURIComponent(KEY).slice(0, 12));
		expect(error.facts.requestId).toBe('req [API key]');
	});

	test('has the request’s ID beside it, of bounded length', async () => {
		const { facts } = await refused(reply(400, '', { 'x-request-id': ['r'.repeat(500), 'other'] }));
		expect(facts.requestId).toMatch(/^r{100,200}…$/);
	});
});

describe('quoting', () => {
	test.each([
		['keeps what is short', 'as it is', 'as it is'],
		['makes runs of white space one space', ' a \n\n b\t\tc ', 'a b c'],
		['ends in an ellipsis', 'abcdefghijkl', 'abcdefghij…'],
		['has no space before the ellipsis', 'abcdefghi jkl', 'abcdefghi…'],
	])('%s', (_, text, quote) => {
		expect(quotable(text, 10)).toBe(quote);
	});
});

describe('a success body', () => {
	async function answered(answer: GatewayReply) {
		const { client, drive } = arrange([answer]);
		return await drive(request(client, 'read', READ));
	}

	test('may begin with a byte order mark', async () => {
		const { json } = await answered(reply(200, '\ufeff{"data":[]}'));
		expect(json).toEqual({ data: [] });
	});

	test('is read, though its type says HTML', async () => {
		const { json } = await answered(reply(200, { data: [] }, { 'content-type': 'text/html' }));
		expect(json).toEqual({ data: [] });
	});

	test('comes with the reply and the request’s ID', async () => {
		const answer = await answered(reply(201, { a: 1 }, { 'x-request-id': 'req_1' }));
		expect(answer).toMatchObject({ json: { a: 1 }, requestId: 'req_1', reply: { status: 201 } });
	});

	test('keeps keys like __proto__ harmless', async () => {
		const { json } = await answered(
			reply(
				200,
				'{"data":[{"id":"m","__proto__":{"polluted":true}}],"__proto__":{"polluted":true}}',
			),
		);
		const list = checkAnswer(
			modelListSchema,
			{ json, reply: reply(200) },
			{ what: 'model list', kind: 'read' },
		);
		expect(({} as Record<string, unknown>).polluted).toBeUndefined();
		expect((list as Record<string, unknown>).polluted).toBeUndefined();
		expect((list.data[0] as Record<string, unknown>).polluted).toBeUndefined();
	});

	test.each([
		['is empty', reply(200, ''), /answered with nothing/],
		['is white space', reply(200, ' \n'), /answered with nothing/],
		['is a 204', reply(204, ''), /answered with nothing/],
		['is text', reply(200, 'it works'), /is not JSON: it works/],
		['ends too early', reply(200, '{"data":[{"id"'), /is not JSON: {"data"/],
		['is HTML', reply(200, HTML), /web page \(HTML\)/],
		['is HTML by its type', reply(200, 'Hi', { 'content-type': 'text/html' }), /web page \(HTML\)/],
	])('that %s is an error which says so', async (_, answer, says) => {
		const error = await refused({
			...answer,
			headers: { ...answer.headers, 'x-request-id': 'r1' },
		});
		expect(error).toBeInstanceOf(AnswerError);
		expect(error.message).toMatch(says);
		expect(error.facts).toMatchObject({
			httpStatus: answer.status,
			requestId: 'r1',
			retryable: !says.test('a web page (HTML)'),
		});
		expect(error.facts.advice).toMatch(/gateway/);
	});

	test('that is HTML points to what is in the way', async () => {
		const { facts } = await refused(reply(200, HTML));
		expect(facts.advice).toMatch(/wrong Base URL.*login page.*firewall/);
	});

	test('that can’t be used warns of paying twice', async () => {
		for (const [kind, warning] of [
			['response', /may have been executed and charged/],
			['image', /image task may exist/],
		] as const) {
			const { client, failure } = arrange([reply(200, 'nonsense')]);
			const { facts } = await failure(
				request(client, kind, { method: 'POST', path: '/x', body: {} }),
			);
			expect(facts.advice).toMatch(warning);
			expect(facts.retryable).toBe(false);
		}
	});

	test('that is quoted is bounded, cleaned and free of the key', async () => {
		const error = await refused(reply(200, `key\u0007 ${KEY} ${'x'.repeat(1e5)}`));
		expect(error.message).toContain('key [API key] xxx');
		expect(error.message.length).toBeLessThan(200);
		expect(shown(error)).not.toContain(KEY);
	});
});

describe('a checked answer', () => {
	const answer = (json: unknown) => ({ json, reply: reply(200), requestId: 'req_9' });

	test('keeps every unknown field, on each level', () => {
		const json = {
			object: 'list',
			data: [{ id: 'm', owned_by: 'x', caps: { images: true } }],
			next: null,
		};
		expect(
			checkAnswer(modelListSchema, answer(json), { what: 'model list', kind: 'read' }),
		).toEqual(json);
	});

	const OK = { id: 'r', status: 'completed', output: [] };

	test.each([
		['no data', modelListSchema, {}, 'field "data"'],
		['data of null', modelListSchema, { data: null }, 'field "data"'],
		['data is an object', modelListSchema, { data: {} }, 'field "data"'],
		['an entry without ID', modelListSchema, { data: [{ id: 'a' }, {}] }, 'field "data[1].id"'],
		['an ID of another type', modelListSchema, { data: [{ id: 5 }] }, 'field "data[0].id"'],
		['an empty ID', modelListSchema, { data: [{ id: '' }] }, 'field "data[0].id"'],
		['an entry that is a text', modelListSchema, { data: ['a'] }, 'field "data[0]"'],
		['a list in place of an object', modelListSchema, [], 'is not as expected'],
		['null in place of an object', modelListSchema, null, 'is not as expected'],
		['no id', responseSchema, { ...OK, id: undefined }, 'field "id"'],
		['no status', responseSchema, { ...OK, status: undefined }, 'field "status"'],
		['no output', responseSchema, { ...OK, output: undefined }, 'field "output"'],
		['output of another type', responseSchema, { ...OK, output: 'hi' }, 'field "output"'],
		[
			'an output item without type',
			responseSchema,
			{ ...OK, output: [{}] },
			'field "output[0].type"',
		],
	] as const)('with %s names the path', (_, schema, json, path) => {
		const error = refusalOf(() =>
			checkAnswer(schema, answer(json), { what: 'thing', kind: 'response' }),
		);
		expect(error).toBeInstanceOf(AnswerError);
		expect(error.message).toContain('The gateway’s thing is not as expected');
		expect(error.message).toContain(path);
		expect(error.facts).toMatchObject({ httpStatus: 200, requestId: 'req_9', retryable: false });
		expect(error.facts.advice).toContain('Check the usage');
	});

	test('of a read may be asked for again', () => {
		const { facts } = refusalOf(() =>
			checkAnswer(modelListSchema, answer({}), { what: 'model list', kind: 'read' }),
		);
		expect(facts.retryable).toBe(true);
		expect(facts.advice).toContain('may not be that of a gateway');
	});
});
