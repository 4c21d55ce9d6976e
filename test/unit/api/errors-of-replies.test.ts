import * as errors from '../../../nodes/shared/api/errors/errors';
import type { ErrorSource } from '../../../nodes/shared/api/errors/evidence';
import { failureFromReply, getErrorSource } from '../../../nodes/shared/api/errors/from-reply';
import type { Outcome, RequestKind } from '../../../nodes/shared/api/http/retry';
import { arrange, reply } from './arrange';

const failure = (answer: ReturnType<typeof reply>, source: ErrorSource = 'response') =>
	failureFromReply(arrange().client, answer, source);

test.each<[RequestKind, string, ErrorSource]>([
	['response', '/responses', 'response'],
	['image', '/images/edits/async', 'imageSubmit'],
	['read', '/models', 'modelList'],
	['read', '/models/aurora-text-1', 'modelList'],
	['read', '/images/tasks/models', 'taskPoll'],
])('a refused request (%s to %s) is told as one of its kind: %s', (kind, path, source) => {
	expect(getErrorSource(kind, path)).toBe(source);
});

const said = (code: string) => reply(200, { error: { code, message: 'x' } });

// What costs nothing is asked for again, whatever the error says, but for the key.
test.each<[string, ReturnType<typeof reply>, ErrorSource, Outcome]>([
	['that names no status', said('odd'), 'response', 'inDoubt'],
	['on the model list', said('model_not_found'), 'modelList', 'inDoubt'],
	['on a task', said('not_found'), 'taskPoll', 'inDoubt'],
	['on a response', said('model_not_found'), 'response', 'refused'],
	['on a submit', said('rate_limit_exceeded'), 'imageSubmit', 'rateLimited'],
	['on the key', said('invalid_api_key'), 'taskPoll', 'refused'],
	['on a used-up quota', said('insufficient_quota'), 'response', 'quotaExhausted'],
])('an error in a success reply %s', (_name, answer, source, outcome) => {
	expect(failure(answer, source).outcome).toBe(outcome);
});

test('an error in a success reply that names no status is told as an error', () => {
	const failed = failure(said('odd'));
	const { advice } = failed;
	const { message } = failed.toError({ advice, retryable: false });
	expect([message, advice]).toEqual(['The gateway answered with an error (HTTP 200, odd): x', '']);
});

test('a status is believed before the words beside it', () => {
	const unpaid = { error: { code: 'insufficient_quota', message: 'x' } };
	const outcomes = [400, 429, 503].map((status) => failure(reply(status, unpaid)).outcome);
	expect(outcomes).toEqual(['refused', 'quotaExhausted', 'unavailable']);
	const moved = reply(300, { error: { code: 'model_not_found', message: 'x' } });
	expect(failure(moved).details.httpStatus).toBe(300);
});

test.each<[string, ReturnType<typeof reply>, string | undefined]>([
	['text, for another server answers', reply(404, 'No such page'), 'path'],
	['a web page', reply(404, '<html>'), 'path'],
	['nothing', reply(404, ' \n '), undefined],
	['JSON', reply(404, {}), undefined],
	['JSON that quotes HTML', reply(404, { error: { message: '<html>' } }), undefined],
])('404 with %s', (_name, answer, finding) => {
	expect(failure(answer).details.finding).toBe(finding);
});

// The build shortens the names of classes.
test('an error is named by its prototype, not by its class', () => {
	for (const [name, { prototype }] of Object.entries(errors)) {
		expect(prototype).toBeInstanceOf(Error);
		expect([name, Object.entries(prototype)]).toEqual([name, [['name', name]]]);
	}
});
