import { fromResponse } from '../../../nodes/LmChatModelAccess/from-response';
import type { CreatedResponse } from '../../../nodes/shared/api/responses/created-response';
import { getAnswerHints } from '../../../nodes/shared/api/responses/answer-hints';
import { createResponse } from '../../../nodes/shared/api/responses/response';
import { simplifyResponse } from '../../../nodes/shared/api/responses/response-output';
import { arrange, fail, reply, succeed } from './arrange';
import {
	added,
	BODY,
	bytes,
	completed,
	delta,
	event,
	message,
	streaming,
} from './recorded-streams';

/** What comes of a body, plain and streamed: the answer, and what the chat model makes of it. */
async function answers(body: unknown): Promise<CreatedResponse[]> {
	const plain = await succeed(
		[reply(200, body)],
		async (client) => await createResponse(client, BODY),
	);
	const text = typeof body === 'string' ? body : JSON.stringify(body);
	return [plain.value, await streaming([bytes(text)]).run()];
}

/** An event without a name. */
const data = (json: object) => `data: ${JSON.stringify(json)}\n\n`;

const OK = { id: 'r1', status: 'completed', output: [message('Hi')] };
const CALL = { type: 'function_call', call_id: 'c', name: 'f' };
const says = (...output: unknown[]) => ({ ...OK, output });
const calls = (given: unknown) => says({ ...CALL, arguments: given });

describe.each<[string, Array<[string, unknown]>]>([
	[
		'in other words',
		[
			['parts in the content', says({ type: 'message', content: { parts: [{ text: 'Hi' }] } })],
			['parts of a message', says({ type: 'message', role: 'model', parts: [{ text: 'Hi' }] })],
			['parts without a type', says({ role: 'model', parts: [{ text: 'Hi' }] })],
			['a content that is one part', says({ type: 'message', content: message('Hi').content[0] })],
			['a text of a message', says({ type: 'message', text: 'Hi' })],
			['a text in an object', says({ type: 'message', content: [{ text: { value: 'Hi' } }] })],
			['an output that is a text', { ...OK, output: 'Hi' }],
			['an output that is one item', { ...OK, output: message('Hi') }],
			['items that are texts', says('Hi')],
			['items that are parts', says({ type: 'output_text', text: 'Hi' })],
			['a list in output_text', { ...OK, output: [], output_text: ['H', 'i'] }],
			['items that are none', says(null, 7, { foo: 1 }, message('Hi'))],
			['a status that is a number', { ...OK, status: 200 }],
			['another word for completed', { ...OK, status: 'SUCCESS' }],
		],
	],
	[
		'in a wrapper',
		[
			['of data', { code: 0, message: 'ok', data: OK }],
			['of a response', { type: 'response.completed', response: OK }],
			['of a list', [OK]],
			['of a text', JSON.stringify(JSON.stringify(OK))],
			['of an event', data(OK)],
			['of an event with a chat completion', data({ choices: [{ message: { content: 'Hi' } }] })],
			['behind pings', `: ping\n\n: ping\n\n${JSON.stringify(OK)}`],
		],
	],
	[
		'in other events',
		[
			['without blank lines', (delta('Hi') + completed()).replace(/^event.*\n|\n(?=\n)/gm, '')],
			[
				'of parts alone',
				event('response.content_part.done', { part: message('Hi').content[0] }) + completed(),
			],
			['of the Realtime interface', event('response.text.delta', { delta: 'Hi' }) + completed()],
			['of objects', event('response.output_text.delta', { delta: { text: 'Hi' } }) + completed()],
			['whose delta is a text', event('response.output_text.delta', { text: 'Hi' }) + completed()],
			[
				'of an item without a type',
				event('response.output_item.done', { item: { role: 'assistant', content: 'Hi' } }) +
					completed(),
			],
			['whose end holds the response itself', delta('Hi') + event('response.done', OK)],
			['of two responses, the first', completed(OK) + delta('No') + completed()],
		],
	],
])('An answer %s is read', (_how, rows) => {
	test.each(rows)('%s', async (_what, body) => {
		for (const answer of await answers(body)) {
			expect(simplifyResponse(answer, BODY)).toMatchObject({ text: 'Hi', status: 'completed' });
			expect(fromResponse(answer)).toMatchObject({ text: 'Hi', finishReason: 'stop' });
			expect(getAnswerHints(answer)).toEqual([]);
		}
	});
});

const A1 = { a: 1 };
const begunCall = added(0, { ...CALL, arguments: '' });
const argumentsOf = (kind: string, fields: object) =>
	event(`response.function_call_arguments.${kind}`, { output_index: 0, ...fields });
const chunk = (more: object, finish_reason: string | null = null) =>
	data({ object: 'chat.completion.chunk', choices: [{ index: 0, delta: more, finish_reason }] });

describe('The call of a function is read', () => {
	test.each<[string, unknown, object?]>([
		['whose arguments are an object', calls(A1)],
		['whose arguments are a text of a text', calls(JSON.stringify('{"a":1}'))],
		['without arguments', calls(undefined), {}],
		['whose arguments are a text of nothing', calls('""'), {}],
		[
			'in a message',
			says({
				...message(),
				tool_calls: [{ id: 'c', function: { name: 'f', arguments: '{"a":1}' } }],
			}),
		],
		[
			'in a content',
			says({ type: 'message', content: [{ type: 'tool_use', id: 'c', name: 'f', input: A1 }] }),
		],
		['as an item', says({ type: 'tool_use', id: 'c', name: 'f', input: A1 })],
		[
			'of Gemini',
			{
				candidates: [{ content: { parts: [{ functionCall: { id: 'c', name: 'f', args: A1 } }] } }],
			},
		],
		[
			'of Gemini, streamed',
			data({
				candidates: [
					{
						content: { parts: [{ functionCall: { id: 'c', name: 'f', args: A1 } }] },
						finishReason: 'STOP',
					},
				],
			}),
		],
		['in deltas that are objects', begunCall + argumentsOf('delta', { delta: A1 }) + completed()],
		[
			'in an end that is an object',
			begunCall + argumentsOf('done', { arguments: A1 }) + completed(),
		],
		[
			'in chunks, whose arguments are an object',
			chunk({ tool_calls: [{ index: 0, id: 'c', function: { name: 'f', arguments: A1 } }] }) +
				chunk({}, 'tool_calls'),
		],
		[
			'in events of Claude',
			data({ type: 'message_start', message: { id: 'm', usage: { input_tokens: 3 } } }) +
				data({
					type: 'content_block_start',
					index: 0,
					content_block: { type: 'tool_use', id: 'c', name: 'f', input: {} },
				}) +
				['{"a"', ':1}']
					.map((partial_json) =>
						data({
							type: 'content_block_delta',
							index: 0,
							delta: { type: 'input_json_delta', partial_json },
						}),
					)
					.join('') +
				data({
					type: 'message_delta',
					delta: { stop_reason: 'tool_use' },
					usage: { output_tokens: 4 },
				}) +
				data({ type: 'message_stop' }),
		],
	])('%s', async (_what, body, given = A1) => {
		for (const answer of await answers(body)) {
			const tool_calls = [{ id: 'c', name: 'f', arguments: given }];
			expect(simplifyResponse(answer, BODY)).toMatchObject({ text: '', tool_calls });
			const input = JSON.stringify(given);
			expect(fromResponse(answer).calls).toMatchObject([{ toolCallId: 'c', toolName: 'f', input }]);
		}
	});

	test('of early chat completions, which have no ID', async () => {
		const called = { content: null, function_call: { name: 'f', arguments: '{"a":1}' } };
		for (const answer of await answers({ choices: [{ message: called }] })) {
			expect(simplifyResponse(answer, BODY).tool_calls).toEqual([{ name: 'f', arguments: A1 }]);
		}
	});
});

describe('An answer in the form of another interface', () => {
	const usage = { input_tokens: 3, output_tokens: 4 };
	const thinking = { type: 'thinking', thinking: 'Hm' };
	const claude = {
		id: 'm',
		type: 'message',
		role: 'assistant',
		content: [thinking, { type: 'text', text: 'Hi' }],
		stop_reason: 'end_turn',
		usage,
	};
	const parts = [{ text: 'Hm', thought: true }, { text: 'Hi' }];
	const usageMetadata = { promptTokenCount: 3, candidatesTokenCount: 4 };
	const gemini = (finishReason?: string) => ({
		candidates: [{ content: { role: 'model', parts }, finishReason }],
		usageMetadata,
	});
	const delta = (index: number, given: object) =>
		data({ type: 'content_block_delta', index, delta: given });
	const claudeEvents = [
		data({
			type: 'message_start',
			message: { ...claude, content: [], usage: { input_tokens: 3 } },
		}),
		delta(0, { type: 'thinking_delta', thinking: 'Hm' }),
		data({ type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } }),
		...['H', 'i'].map((text) => delta(1, { type: 'text_delta', text })),
		data({
			type: 'message_delta',
			delta: { stop_reason: 'end_turn' },
			usage: { output_tokens: 4 },
		}),
		data({ type: 'message_stop' }),
	].join('');

	test.each<[string, unknown, RegExp]>([
		['of Claude', claude, /in the form of Claude’s Messages interface\./],
		['of Claude, streamed', claudeEvents, /Claude’s/],
		['of Gemini', gemini('STOP'), /in the form of Gemini’s own interface\./],
		[
			'of Gemini, streamed',
			data(gemini()).replace('Hi', 'H').replace('Hm', '') +
				data({
					candidates: [
						{
							content: { parts: [{ text: 'i' }, { text: 'Hm', thought: true }] },
							finishReason: 'STOP',
						},
					],
					usageMetadata,
				}),
			/Gemini’s/,
		],
	])('%s is read, with a hint', async (_of, body, hint) => {
		for (const answer of await answers(body)) {
			const said = { text: 'Hi', status: 'completed', reasoning: ['Hm'], usage };
			expect(simplifyResponse(answer, BODY)).toMatchObject(said);
			expect(getAnswerHints(answer)).toEqual([
				{ key: 'another interface', message: expect.stringMatching(hint) as string },
			]);
		}
	});

	test.each<[string, unknown]>([
		['of Claude', { ...claude, stop_reason: 'max_tokens' }],
		['of Claude, streamed', claudeEvents.replaceAll('end_turn', 'max_tokens')],
		['of Gemini', gemini('MAX_TOKENS')],
	])('%s may be cut off', async (_of, body) => {
		for (const answer of await answers(body)) {
			const incomplete_details = { reason: 'max_output_tokens' };
			expect(answer.response).toMatchObject({ status: 'incomplete', incomplete_details });
		}
	});

	test('that is streamed without saying what it is, is read too', async () => {
		const choices = [{ delta: { content: 'Hi' }, finish_reason: 'stop' }];
		for (const answer of await answers(data({ choices }))) {
			expect(simplifyResponse(answer, BODY)).toMatchObject({ text: 'Hi', usage: null });
		}
	});

	test('whose choice failed is an error', async () => {
		const error = { code: 502, message: 'It died' };
		const body = { choices: [{ message: { content: 'Hi' }, finish_reason: 'error', error }] };
		const failed = await fail([reply(200, body)], async (client) => {
			return await createResponse(client, BODY);
		});
		expect(failed.error.message).toMatch(/^The model’s response failed.*: It died$/);
		expect(failed.error.details).toMatchObject({ charged: true, partialText: 'Hi' });
	});
});

test('tokens are counted under the names of other interfaces, and beside the response', async () => {
	const usage = { input_tokens: 3, output_tokens: 4 };
	for (const body of [
		{ ...OK, usage: { prompt_tokens: 3, completion_tokens: 4 } },
		event('response.completed', { response: OK, usage }),
		event('response.created', { response: { usage } }) + completed({ ...OK, usage: null }),
	]) {
		for (const { response } of await answers(body)) expect(response.usage).toEqual(usage);
	}
});

describe('An error in place of an answer is told', () => {
	const LIMIT = { code: 'rate_limit_exceeded', message: 'No' };

	test.each<[string, unknown]>([
		['in a response without output', { id: 'r', status: 'failed', output: [], error: LIMIT }],
		['behind pings', `: ping\n\n${JSON.stringify({ error: LIMIT })}`],
		['in an event without a type', data(LIMIT)],
		['in a chunk', data({ object: 'chat.completion.chunk', choices: [], error: LIMIT })],
		['in response.error', event('response.error', { error: LIMIT })],
		[
			'in the details of a status',
			event('response.failed', { response: { status_details: { error: LIMIT } } }),
		],
		['in response.done', event('response.done', { response: { status: 'failed', error: LIMIT } })],
		['by a list', [{ error: LIMIT }]],
		['by problem details', { title: 'Too Many Requests', status: 429, detail: 'No' }],
	])('%s: a limit is waited out', async (_where, body) => {
		const text = typeof body === 'string' ? body : JSON.stringify(body);
		const plain = arrange(reply(200, text), { maxRetries: 2 });
		const error = await plain.failure(createResponse(plain.client, BODY));
		expect(error.details).toMatchObject({ httpStatus: 429, retryable: true });
		expect(error.message).toMatch(/: No$/);
		expect(plain.sent).toHaveLength(3);
		const streamed = streaming([bytes(text)], { maxRetries: 0 });
		expect((await streamed.failure()).message).toBe(error.message);
	});

	test.each<[string, string]>([
		['a text', 'event: error\ndata: It died\n\n'],
		['success: false', data({ success: false, message: 'It died' })],
		['a detail', data({ detail: 'It died' })],
	])('by %s in a stream, after a text: in doubt, and with the text', async (_what, end) => {
		const error = await streaming([bytes(delta('Hi') + end)]).failure();
		expect(error.message).toBe('The model’s response failed: It died');
		expect(error.details).toMatchObject({ charged: true, partialText: 'Hi', retryable: false });
	});

	test('by a word in capitals', async () => {
		const body = { ...OK, status: 'FAILED', error: { message: 'It died' } };
		const { error } = await fail([reply(200, body)], async (client) => {
			return await createResponse(client, BODY);
		});
		expect(error.message).toBe('The model’s response failed: It died');
		expect(error.details).toMatchObject({ charged: true, partialText: 'Hi' });
	});
});

test('a text that is no JSON stays in the error: a model may have written it', async () => {
	const { error } = await fail([reply(200, 'Hello to you')], async (client) => {
		return await createResponse(client, BODY);
	});
	expect(error.details).toMatchObject({ maybeExecuted: true, partialText: 'Hello to you' });
});
