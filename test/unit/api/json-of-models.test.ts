import fc from '../../support/fast-check';
import { simplifyResponse } from '../../../nodes/shared/api/responses/response-output';
import { createResponse } from '../../../nodes/shared/api/responses/response';
import { fail, reply, succeed } from './arrange';
import { BODY, message } from './recorded-streams';
import recorded from './recorded-answers.json';

const asked = { ...BODY, text: { format: { type: 'json_object' } } };

/** The simplified form of an answer with this output. */
const simple = async (output: object[], body: typeof BODY = asked) =>
	await succeed([reply(200, { id: 'r1', status: 'completed', output })], async (client) =>
		simplifyResponse(await createResponse(client, body), body),
	);

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
		const { value } = await simple([message(text)]);
		expect(value).toMatchObject({ text, parsed: { a: 1 } });
	});

	test('in a fence that holds fences', async () => {
		const inside = '{"code":"```js```"}';
		const { value } = await simple([message(`\`\`\`json\n${inside}\n\`\`\``)]);
		expect(value.parsed).toEqual(JSON.parse(inside));
	});

	test.each([
		['two fences', '```json\n{"a":1}\n```\n```json\n{"a":2}\n```'],
		['a fence that is cut off', '```json\n{"a":'],
		['a fence around words', '```\nsorry\n```'],
	])('but not out of %s', async (_, text) => {
		const body = { id: 'r1', status: 'completed', output: [message(text)] };
		const { error } = await fail([reply(200, body)], async (client) =>
			simplifyResponse(await createResponse(client, asked), asked),
		);
		expect(error.message).toMatch(/^The model’s answer is not JSON/);
		expect(error.details.partialText).toBe(text);
	});
});

describe('The arguments of a call', () => {
	const call = { type: 'function_call', call_id: 'c', name: 'f' };
	const read = async (given: unknown) => {
		const { value } = await simple([{ ...call, arguments: given }], BODY);
		return value.tool_calls?.[0]?.arguments;
	};

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
		await fc.assert(
			fc.asyncProperty(
				objects,
				fc.array(fc.constantFrom('{}', '{ }', '{}\n')),
				async (given, first) => {
					const expected: unknown = JSON.parse(JSON.stringify(given));
					expect(await read(first.join('') + JSON.stringify(given))).toEqual(expected);
				},
			),
		);
	});

	test('as recorded: an empty object, then the arguments', async () => {
		const body = JSON.parse(recorded['claude, plain: function call']) as object;
		const { value } = await succeed([reply(200, body)], async (client) =>
			simplifyResponse(await createResponse(client, BODY), BODY),
		);
		expect(value.tool_calls).toMatchObject([{ name: 'look', arguments: { ok: true } }]);
	});
});
