import { getIncompleteReason } from '../../../nodes/shared/api/responses/incomplete';
import * as output from '../../../nodes/shared/api/responses/response-output';
import type { ModelResponse } from '../../../nodes/shared/api/schemas';
import { expectError, refusalOf } from './arrange';

const response = (...output: ModelResponse['output']): ModelResponse => {
	return { id: 'r1', status: 'completed', output };
};

const simple = (given: ModelResponse, asked: Record<string, unknown> = {}) =>
	output.simplifyResponse({ response: given, json: given }, asked);

const content = (...parts: unknown[]) => ({ type: 'message', role: 'assistant', content: parts });
const text = (words: string, more: object = {}) => ({ type: 'output_text', text: words, ...more });
const refusal = (words: string) => ({ type: 'refusal', refusal: words });

describe('The simplified form of a response', () => {
	test('begins with what was asked for, so that a table shows it first, and has nothing else', () => {
		const thought = (...summary: unknown[]) => ({ type: 'reasoning', summary });
		const cite = (url: string) => ({ type: 'url_citation', url, title: 'T', start_index: 0 });
		const [one, two, three] = ['1', '2', '3'].map(cite);
		const items = [
			...[thought({ text: 'a' }, { text: 'b' }), thought(null, { text: 7 }, { text: 'c' })],
			...[{ type: 'reasoning' }, { type: 'function_call', name: 'f', arguments: '{}' }],
			content(text('{"n"', { annotations: [one, two] }), refusal('I ')),
			content(text(':', { annotations: 'none' }), text('1}', { annotations: [three] })),
			content(refusal('cannot.')),
		];
		const usage = { input_tokens: 1, output_tokens: 3, details: { cached: 1 } };
		const rest = { model: 'text-1', incomplete_details: { reason: 'other', more: 1 }, usage };
		const given = { ...response(...items), ...rest };
		const created = { response: given, json: given, requestId: 'r', clientRequestId: 'c' };
		const json = output.simplifyResponse(created, { text: { format: { type: 'json_object' } } });
		const expected = {
			...{ text: '{"n":1}', parsed: { n: 1 }, tool_calls: [{ name: 'f', arguments: {} }] },
			...{ refusal: 'I cannot.', citations: [one, two, three], reasoning: ['a', 'b', 'c'] },
			...{ status: 'completed', incomplete_details: { reason: 'other', more: 1 } },
			...{ model: 'text-1', usage, id: 'r1', request_id: 'r', client_request_id: 'c' },
		};
		expect(json).toMatchObject(expected);
		expect(Object.keys(json)).toEqual(Object.keys(expected));
		const bare = { ...response(thought(), content(text('a'))), incomplete_details: null };
		const nothing = { text: 'a', status: 'completed', usage: null, id: 'r1' };
		expect(simple(bare)).toStrictEqual(nothing);
		expect(simple({ ...bare, usage: null })).toStrictEqual(nothing);
	});

	test('has the text of all message items, in order, and of nothing else', () => {
		const output = [
			{ type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 'hm' }] },
			content(text('One, '), text('two, ')),
			{ type: 'web_search_call', id: 'ws_1', text: 'no' },
			content({ type: 'hologram', text: 'no' }),
			// Malformed ones are no trouble.
			...[{ type: 'message' }, { type: 'message', content: null }],
			{ type: 'message', content: 'text' },
			content(null, 5, 'x', {}, { type: 'output_text' }, { type: 'output_text', text: 5 }),
			{ type: 'from_the_future', content: [text('no')] },
			content(text('three')),
		];
		expect(simple(response(...output)).text).toBe('One, two, three');
	});

	test.each<[string, unknown, unknown]>([
		['parsed', '{"city":"Rome","days":[1,2]}', { city: 'Rome', days: [1, 2] }],
		['as they are if they can’t be parsed', '{"city":', '{"city":'],
		['as they are if they are empty', '', ''],
		['as they are if they are parsed already', { city: 'Rome' }, { city: 'Rome' }],
		['as they are if they are absent', undefined, undefined],
	])('has calls of functions with arguments %s', (_, given, expected) => {
		const bare = { type: 'function_call', arguments: given };
		const call = { ...bare, id: 'fc_1', call_id: 'call_1', name: 'a' };
		// A tool of a free form takes a text.
		const free = { type: 'custom_tool_call', call_id: 'c1', name: 'shell', input: 'ls -l' };
		const read = simple(response(call, content(text('Wait')), free, bare));
		const calls = [
			{ id: 'call_1', name: 'a', arguments: expected },
			{ id: 'c1', name: 'shell', arguments: 'ls -l' },
		];
		expect(read).toMatchObject({ text: 'Wait', tool_calls: [...calls, { arguments: expected }] });
	});
});

describe('JSON that was asked for', () => {
	const ANY_JSON = { text: { format: { type: 'json_object' } } };

	test.each([
		['in a fence without a name', '```\n{"a":1}\n```'],
		['in a fence of one line', '```{"a":1}```'],
		['in a fence with white space', ' \n```json \r\n  {"a":1}\r\n```\n'],
		['in a fence behind words', 'Here you are:\n```json\n{"a":1}\n```\nAnything else?'],
		['in a fence that does not end', '```json\n{"a":1}'],
		['in a fence that holds fences', '```json\n{"a":"```js```"}\n```', '```js```'],
	])('is parsed %s', (_, words, a: unknown = 1) => {
		const parsed = { a };
		const read = simple(response(content(text(words))), ANY_JSON);
		expect(read).toMatchObject({ text: words, parsed });
	});

	test.each([
		['without a fence', 'Sure!'],
		['in two fences', '```json\n{"a":1}\n```\n```json\n{"a":2}\n```'],
		['in a fence that is cut off', '```json\n{"a":'],
		['as words in a fence', '```\nsorry\n```'],
	])('and did not come, but %s, is an error that keeps the text which was paid for', (_, words) => {
		const given = response(content(text(words)));
		const error = refusalOf(() => simple(given, ANY_JSON));
		const facts = { retryable: false, charged: true, partialText: words };
		const advice = /^The model did not follow the Output .* was paid for; /;
		const says = /^The model’s answer is not JSON: \S/;
		expectError(error, 'InvalidResponseError', says, { ...facts, advice });
	});

	test('is not parsed where text was asked for, or nothing was', () => {
		const given = response(content(text('{"a":1}')));
		for (const asked of [{ format: { type: 'text' } }, { format: null }, undefined, null, 'json'])
			expect(simple(given, { text: asked })).not.toHaveProperty('parsed');
	});
});

describe('JSON that was asked for by a schema', () => {
	const format = { type: 'json_schema', name: 'x' };
	const asked = (schema: object) => ({ text: { format: { ...format, schema } } });
	const answering = (value: unknown) => response(content(text(JSON.stringify(value))));

	const DRAFTS = 'http://json-schema.org/draft-';
	const reference = { $defs: { any: {} }, $ref: '#/$defs/any', type: 'string' };

	test.each<[string, object, unknown]>([
		['an object with what is required', { type: 'object', required: ['a'] }, { a: null }],
		['a list', { type: 'array' }, []],
		['a whole number', { type: 'integer' }, 3],
		['one of several types', { type: ['object', 'null'] }, null],
		['anything, by a schema without type', {}, [1]],
		['anything, by a schema that can’t be used', { $ref: '#/$defs/x' }, [1]],
		['a tuple of draft 7', { $schema: `${DRAFTS}07/schema#`, items: [{}] }, [1]],
		// Until draft 7, what stands beside a reference does not count.
		['a reference of draft 6', { ...reference, $schema: `${DRAFTS}06/schema#` }, 1],
		['a reference of draft 7', { ...reference, $schema: `${DRAFTS}07/schema#` }, 1],
	])('%s fits', (_name, schema, value) => {
		expect(simple(answering(value), asked(schema)).parsed).toEqual(value);
	});

	const nested = {
		properties: { tags: { items: { enum: ['a', 'b'] } }, at: { format: 'date' } },
		required: ['tags', 'label'],
	};
	const tuple = { items: [{ type: 'string' }] };

	const draft = (n: string, more: object) => ({ ...more, $schema: `${DRAFTS}${n}/schema#` });
	const wrong = (type: string, wanted: string) =>
		` (Instance type "${type}" is invalid. Expected ${wanted})`;
	const NO_TAG = '(Instance does not match any of ["a","b"])';

	test.each<[object | undefined, unknown, string]>([
		[undefined, [], wrong('array', '"object"')],
		[{ type: 'object' }, [], wrong('array', '"object"')],
		[{ type: ['object', 'null'] }, 'x', wrong('string', '"object", "null"')],
		[reference, 1, wrong('number', '"string"')],
		[{ exclusiveMinimum: 3 }, 3, ' (3 is less than 3)'],
		[draft('04', { minimum: 3, exclusiveMinimum: true }), 3, ' (3 is less than or equal to 3)'],
		[nested, { tags: ['c'], at: 'x' }, ` at /tags/0 ${NO_TAG}`],
		[nested, { tags: [] }, ' (Instance does not have required property "label")'],
		[nested, { label: 0, tags: ['a', 'c'] }, ` at /tags/1 ${NO_TAG}`],
		[nested, { label: 0, tags: [], at: 'x' }, ' at /at (String does not match format "date")'],
		[draft('04', tuple), [1], ` at /0${wrong('number', '"string"')}`],
		[draft('07', tuple), [1], ` at /0${wrong('number', '"string"')}`],
	])('that asks for %j: %j does not fit, and the text is kept', (schema, value, fault) => {
		const wanted = schema ? asked(schema) : { text: { format: { type: 'json_object' } } };
		const error = refusalOf(() => simple(answering(value), wanted));
		const partialText = JSON.stringify(value);
		const says = `The model’s answer does not fit the schema${fault}: ${partialText}`;
		expectError(error, 'InvalidResponseError', says, { partialText, retryable: false });
	});

	test('that was cut off says why', () => {
		const incomplete_details = { reason: 'max_output_tokens' };
		const cut = { ...response(content(text('{"a":'))), status: 'incomplete', incomplete_details };
		const error = refusalOf(() => simple(cut, asked({ type: 'object' })));
		const advice = /^The model stopped at Max Output Tokens/;
		expectError(error, 'InvalidResponseError', 'The model’s answer is not JSON: {"a":', { advice });
	});

	test('is not missed where a refusal, calls of tools or nothing came', () => {
		const calls = response({ type: 'function_call', name: 'f', arguments: '{}' });
		for (const given of [response(content(refusal('No'))), calls, response()])
			expect(simple(given, asked({ type: 'object' }))).not.toHaveProperty('parsed');
	});
});

test.each<[string, unknown, RegExp]>([
	['completed', { reason: 'max_output_tokens' }, /^undefined$/],
	['incomplete', { reason: 'max_output_tokens' }, /Max Output Tokens.*Raise that option/],
	['incomplete', { reason: 'content_filter' }, /content filter/],
	['incomplete', { reason: 'the_moon' }, /stopped early \(the_moon\)/],
	['incomplete', { reason: 7 }, /stopped early:/],
	['incomplete', null, /stopped early:/],
])('a response that is %s, with %j, says %p', (status, incomplete_details, says) => {
	const reason = getIncompleteReason({ ...response(), status, incomplete_details });
	expect(String(reason)).toMatch(says);
});

test('images are those that were drawn, with the IDs of their items', () => {
	const drawn = (result: unknown, id?: unknown) => ({ type: 'image_generation_call', result, id });
	const none = [{ type: 'hologram', result: 'BBBB' }, drawn(null, 'ig_2'), drawn('', 'ig_3')];
	const given = response(drawn('AAAA', 'ig_1'), ...none, drawn('CCCC', 7), content(text('Here')));
	expect(output.getOutputImages(given)).toEqual([
		{ base64: 'AAAA', id: 'ig_1' },
		{ base64: 'CCCC' },
	]);
});

test('what the model says is its text, or else its refusal', () => {
	const spoken = [[text('Hi'), refusal('No')], [refusal('No')]].map((parts) =>
		output.getSpokenText(response(content(...parts))),
	);
	expect(spoken).toEqual(['Hi', 'No']);
});
