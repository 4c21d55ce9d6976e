import { InvalidResponseError, StreamError } from '../../../nodes/shared/api/errors/errors';
import { getIncompleteReason } from '../../../nodes/shared/api/responses/incomplete';
import { fault } from './arrange';
import { added, bytes, delta, done, event, message, streaming } from './recorded-streams';
import recorded from './recorded-answers.json';

const call = { type: 'function_call', call_id: 'c', name: 'f', arguments: '{"a":1}' };
const created = event('response.created', { response: { id: 'r1', status: 'in_progress' } });
const DONE = 'data: [DONE]\n\n';

const end = (type: string, response: object = { id: 'r1', status: 'in_progress' }) =>
	event(`response.${type}`, { response });

describe('A stream ends', () => {
	test.each<[string, string, string]>([
		['by response.done', end('done'), 'completed'],
		['by response.done that is incomplete', end('done', { status: 'incomplete' }), 'incomplete'],
		['by response.completed in progress', end('completed'), 'completed'],
		['by response.incomplete in progress', end('incomplete'), 'incomplete'],
	])('%s', async (_, ending, status) => {
		const { run } = streaming([bytes(created + delta('Hi') + ending)]);
		const { json } = await run();
		expect(json).toMatchObject({ id: 'r1', status, output: [message('Hi')] });
	});

	test.each<[string, string]>([
		['response.cancelled', end('cancelled')],
		['response.canceled', end('canceled', { status: 'completed' })],
		['response.done that was canceled', end('done', { status: 'canceled' })],
	])('by %s: an error with the text so far', async (_, ending) => {
		const error = await streaming([bytes(created + delta('Hi') + ending)]).failure();
		expect(error).toBeInstanceOf(InvalidResponseError);
		expect(error.message).toMatch(/^The model’s response was cancelled/);
		expect(error.details).toMatchObject({ charged: true, retryable: false, partialText: 'Hi' });
	});

	const whole = [created, added(0, message()), delta('Hi'), done(0, message('Hi'))].join('');

	test.each<[string, string, string?]>([
		['[DONE] after everything that was begun', whole + DONE],
		['its end', whole],
		['[DONE] after a text and a call', whole + done(1, call) + DONE],
		['[DONE] without an ID', done(0, message('Hi')) + DONE, ''],
	])('in order by %s: an incomplete answer', async (_, stream, id = 'r1') => {
		const { response } = await streaming([bytes(stream)]).run();
		expect(response).toMatchObject({ id, status: 'incomplete' });
		expect(response.output[0]).toEqual(message('Hi'));
		expect(getIncompleteReason(response)).toMatch(/^The gateway’s stream ended without saying/);
	});

	const thought = { type: 'reasoning', summary: [] };
	const lost = async function* (text: string) {
		yield bytes(text);
		await Promise.reject(fault('lost'));
	};

	const HI = { text: 'Hi', output: [message('Hi')] };

	test.each<[string, Parameters<typeof streaming>[0], object]>([
		['is lost after a message', lost(whole), HI],
		['is lost after a message without deltas', lost(done(0, message('Hi'))), HI],
		['ends while a call is open', [bytes(whole + added(1, call) + DONE)], HI],
		['ends after a call', [bytes(done(0, call) + DONE)], { output: [call] }],
		['ends after a thought', [bytes(done(0, thought) + DONE)], { output: [thought] }],
		['says that it failed', [bytes(whole + event('error', { code: 'C' }))], HI],
		['ends in the middle of a text', [bytes(delta('Hi') + DONE)], { text: 'Hi' }],
	])('too early if it %s: the error has what is finished', async (_, chunks, expected) => {
		const error = await streaming(chunks).failure();
		expect(error).toBeInstanceOf(StreamError);
		const { partialText: text, partialOutput: output } = error.details;
		expect({ text, output }).toEqual({ text: undefined, output: undefined, ...expected });
	});

	test('by a failure after the first word, as recorded', async () => {
		const stream = recorded['openai by key, streamed: failed after the first word'];
		const error = await streaming([bytes(stream)]).failure();
		expect(error.message).toBe('The model’s response failed (server_error): The model fell over');
		expect(error.details).toMatchObject({ charged: true, partialText: 'word0 ' });
	});
});
