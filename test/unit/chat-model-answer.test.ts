import { z } from 'zod';
import { fromResponse } from '../../nodes/LmChatModelAccess/from-response';
import { AsyncQueue } from '../../nodes/LmChatModelAccess/async-queue';
import { toToolChoice, toRequestTools } from '../../nodes/LmChatModelAccess/tools';
import { AnswerError } from '../../nodes/shared/api/errors/errors';
import { refusalOf } from './client/arrange';

type Response = Parameters<typeof fromResponse>[0]['response'];

const answer = (output: Response['output'], more: Partial<Response> = {}) =>
	fromResponse({
		response: { id: 'resp_1', status: 'completed', output, ...more },
		json: {},
		requestId: 'req_1',
	});

const message = (...content: object[]) => ({ type: 'message', role: 'assistant', content });
const says = (text: string) => message({ type: 'output_text', text });
const call = (given: object) => ({ type: 'function_call', name: 'weather', ...given });

describe('an answer', () => {
	test('has the text of all its messages', () => {
		expect(answer([says('One. '), says('Two.')])).toMatchObject({
			text: 'One. Two.',
			calls: [],
			items: [],
			reasoning: '',
			finishReason: 'stop',
		});
	});

	test('that is a refusal says it', () => {
		expect(answer([message({ type: 'refusal', refusal: 'No.' })]).text).toBe('No.');
	});

	test('has several calls, each with its ID and its arguments', () => {
		const { calls, finishReason } = answer([
			call({ call_id: 'call_1', arguments: '{"city": "Bergen"}' }),
			call({ call_id: 'call_2', arguments: '' }),
			call({ id: 'fc_3', arguments: { city: 'Oslo' } }),
			call({}),
		]);
		const called = (toolCallId: string, input: string) => ({
			type: 'tool-call',
			toolCallId,
			toolName: 'weather',
			input,
		});
		expect(calls).toEqual([
			called('call_1', '{"city":"Bergen"}'),
			called('call_2', '{}'),
			called('fc_3', '{"city":"Oslo"}'),
			called('call_3', '{}'),
		]);
		expect(finishReason).toBe('tool-calls');
	});

	test('keeps items that are no message and no call, and the summaries among them', () => {
		const thought = {
			type: 'reasoning',
			id: 'rs_1',
			summary: [
				{ type: 'summary_text', text: 'First' },
				{ type: 'summary_text', text: 'Then' },
			],
		};
		const search = { type: 'web_search_call', id: 'ws_1' };
		const { items, reasoning } = answer([thought, search, says('So')]);
		expect(items).toEqual([thought, search]);
		expect(reasoning).toBe('First\n\nThen');
	});

	const cut = (reason?: string): Partial<Response> => ({
		status: 'incomplete',
		...(reason && { incomplete_details: { reason } }),
	});

	test.each<[string, Partial<Response>, string]>([
		['complete', {}, 'stop'],
		['cut off at Max Output Tokens', cut('max_output_tokens'), 'length'],
		['stopped by a filter', cut('content_filter'), 'content-filter'],
		['stopped for a reason nobody knows', cut(), 'other'],
	])('that is %s says so', (_name, more, reason) => {
		expect(answer([says('Yes')], more).finishReason).toBe(reason);
	});

	test('counts its tokens, those from a cache and those of thoughts too', () => {
		const usage = {
			input_tokens: 10,
			output_tokens: 5,
			total_tokens: 15,
			input_tokens_details: { cached_tokens: 4 },
			output_tokens_details: { reasoning_tokens: 2 },
		};
		expect(answer([], { usage }).usage).toEqual({
			promptTokens: 10,
			completionTokens: 5,
			totalTokens: 15,
			inputTokenDetails: { cacheRead: 4 },
			outputTokenDetails: { reasoning: 2 },
		});
		expect(answer([], { usage: { input_tokens: 1, output_tokens: 2 } }).usage).toEqual({
			promptTokens: 1,
			completionTokens: 2,
			totalTokens: 3,
		});
		expect(answer([], { usage: null }).usage).toBeUndefined();
	});

	test.each(['{"city":', '[1]', '"Bergen"', 'Bergen'])(
		'calls nothing by arguments that are no object: %s',
		(given) => {
			const read = () => answer([says('Wait'), call({ call_id: 'call_1', arguments: given })]);
			expect(read).toThrow(AnswerError);
			expect(read).toThrow('The model called weather with arguments that are not a JSON object');
		},
	);

	test('that was cut off in the middle of a call says which option to raise', () => {
		const call1 = call({ call_id: 'call_1', arguments: '{"ci' });
		const error = refusalOf(() => answer([call1], cut('max_output_tokens')));
		expect(error.facts).toMatchObject({ charged: true, requestId: 'req_1' });
		expect(error.facts.advice).toContain('Raise that option');
	});
});

describe('tools', () => {
	const schema = {
		$schema: 'http://json-schema.org/draft-07/schema#',
		type: 'object' as const,
		properties: { city: { type: 'string' as const } },
		required: ['city'],
	};
	const tool = { type: 'function' as const, name: 'weather', inputSchema: schema };
	const sent = (inputSchema: unknown) =>
		toRequestTools([{ ...tool, inputSchema } as typeof tool])[0]?.parameters;

	test('are functions with their parameters, strict only where they say so', () => {
		const tools = [
			{ ...tool, description: 'Says it' },
			{ ...tool, strict: true },
		];
		const parameters = { type: 'object', properties: schema.properties, required: ['city'] };
		expect(toRequestTools(tools)).toEqual([
			{ type: 'function', name: 'weather', description: 'Says it', parameters, strict: false },
			{ type: 'function', name: 'weather', parameters, strict: true },
		]);
	});

	test('of the gateway are sent by their type, with their arguments', () => {
		const search = { type: 'provider' as const, name: 'web_search', args: { size: 'low' } };
		expect(toRequestTools([search])).toEqual([{ type: 'web_search', size: 'low' }]);
	});

	test.each([
		['nothing', undefined, { type: 'object', properties: {} }],
		['an empty schema', {}, { type: 'object', properties: {} }],
		[
			'a schema of zod, whichever copy of it',
			{ ...z.object({ city: z.string() }) },
			{
				type: 'object',
				properties: { city: { type: 'string' } },
				required: ['city'],
				additionalProperties: false,
			},
		],
		[
			'a schema of zod 4',
			{ _zod: {}, toJSONSchema: () => schema },
			{ type: 'object', properties: schema.properties, required: ['city'] },
		],
	])('have an object of parameters, even by %s', (_name, given, parameters) => {
		expect(sent(given)).toEqual(parameters);
	});

	test.each([[{ _def: {} }], [{ _zod: {} }]])(
		'are not sent with parameters that nobody could read: %j',
		(given) => {
			expect(() => sent(given)).toThrow(
				'Tool "weather" describes its parameters in a way that is not known here',
			);
		},
	);

	test.each([
		[undefined, undefined],
		['auto', 'auto'],
		['none', 'none'],
		['required', 'required'],
		['any', 'required'],
		[true, 'required'],
		['weather', { type: 'function', name: 'weather' }],
		[
			{ type: 'function', function: { name: 'weather' } },
			{ type: 'function', name: 'weather' },
		],
		[{ type: 'web_search' }, { type: 'web_search' }],
	])('are chosen by %j as %j', (choice, expected) => {
		expect(toToolChoice(choice)).toEqual(expected);
	});
});

test('pieces come in order, before, while and after they are waited for', async () => {
	const pieces = new AsyncQueue<number>();
	pieces.push(1);
	const taken: number[] = [];
	const taking = (async () => {
		for await (const piece of pieces) {
			taken.push(piece);
			if (piece === 2) pieces.push(3);
		}
	})();
	await Promise.resolve();
	pieces.push(2);
	await new Promise((resolve) => setImmediate(resolve));
	pieces.push(4);
	pieces.end();
	await taking;
	expect(taken).toEqual([1, 2, 3, 4]);
});
