import fc from '../../support/fast-check';
import { simplifyResponse } from '../../../nodes/shared/api/responses/response-output';
import { createResponse } from '../../../nodes/shared/api/responses/response';
import type { Client } from '../../../nodes/shared/api/http/client';
import { fail, reply, succeed } from './arrange';
import { BODY, message } from './recorded-streams';
import recorded from './recorded-answers.json';

const asked = { ...BODY, text: { format: { type: 'json_object' } } };

type Given = Parameters<typeof reply>[1];

/** The simplified form of an answer. */
const simplified =
	(body = asked) =>
	async (client: Client) =>
		simplifyResponse(await createResponse(client, body), body);

const answer = (...output: object[]) => ({ id: 'r1', status: 'completed', output });
const simple = async (given: Given, body: typeof BODY = asked) =>
	(await succeed([reply(200, given)], simplified(body as typeof asked))).value;

describe('JSON that was asked for is parsed', () => {
	test.each([
		['in a fence', '```json\n{"a":1}\n```'],
		['in a fence without a name', '```\n{"a":1}\n```'],
		['in a fence of one line', '```{"a":1}```'],
		['in a fence with white space', ' \n```json \r\n  {"a":1}\r\n```\n'],
		['in a fence behind words', 'Here you are:\n```json\n{"a":1}\n```\nAnything else?'],
		['in a fence that does not end', '```json\n{"a":1}'],
		['as it is', '{"a":1}'],
	])('%s', async (_, text) => {
		expect(await simple(answer(message(text)))).toMatchObject({ text, parsed: { a: 1 } });
	});

	test('in a fence that holds fences', async () => {
		const { parsed } = await simple(answer(message('```json\n{"code":"```js```"}\n```')));
		expect(parsed).toEqual({ code: '```js```' });
	});

	test.each([
		['two fences', '```json\n{"a":1}\n```\n```json\n{"a":2}\n```'],
		['a fence that is cut off', '```json\n{"a":'],
		['a fence around words', '```\nsorry\n```'],
	])('but not out of %s', async (_, text) => {
		const { error } = await fail([reply(200, answer(message(text)))], simplified());
		expect(error.message).toMatch(/^The model’s answer is not JSON/);
		expect(error.details.partialText).toBe(text);
	});
});

describe('The arguments of a call', () => {
	const call = { type: 'function_call', call_id: 'c', name: 'f' };
	const read = async (given: unknown) =>
		(await simple(answer({ ...call, arguments: given }), BODY)).tool_calls?.[0]?.arguments;

	test.each<[string, unknown, unknown]>([
		['are none if they are empty', '', {}],
		['are none if they are blank', ' \n', {}],
		['are none if they are null', null, {}],
		['are none if they are the text null', 'null', {}],
		['are none if they are absent', undefined, {}],
		['do not begin with an empty object', '{}{"ok":true}', { ok: true }],
		['do not begin with several', '{} { }\n{"ok":true}', { ok: true }],
		['are one empty object of two', '{}{}', {}],
		['stay a text if two say something', '{"a":1}{"b":2}', '{"a":1}{"b":2}'],
		['stay a text if they are cut off', '{}{"ok":', '{}{"ok":'],
		['may be an object', { ok: true }, { ok: true }],
	])('%s', async (_, given, expected) => {
		await expect(read(given)).resolves.toEqual(expected);
	});

	test('are what the model said whatever empty objects come first', async () => {
		const objects = fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1 });
		const before = fc.array(fc.constantFrom('{}', '{ }', '{}\n'));
		await fc.assert(
			fc.asyncProperty(objects, before, async (given, first) => {
				const said = JSON.stringify(given);
				expect(await read(first.join('') + said)).toEqual(JSON.parse(said));
			}),
		);
	});

	test('as recorded: an empty object, then the arguments', async () => {
		const body = JSON.parse(recorded['claude, plain: function call']) as object;
		expect((await simple(body, BODY)).tool_calls).toMatchObject([
			{ name: 'look', arguments: { ok: true } },
		]);
	});
});
