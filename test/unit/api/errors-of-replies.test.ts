import type { ErrorSource } from '../../../nodes/shared/api/errors/evidence';
import {
	failureFromFault,
	failureFromReply,
	getErrorSource,
} from '../../../nodes/shared/api/errors/from-reply';
import type { Outcome, RequestKind } from '../../../nodes/shared/api/http/retry';
import type { FaultKind } from '../../../nodes/shared/api/http/transport';
import { VirtualTime } from '../../../scripts/engine/virtual-time';
import { fault, quotedError, reply, START } from './arrange';

const failure = (answer: ReturnType<typeof reply>, source: ErrorSource = 'response') =>
	failureFromReply({ redact: (text) => text, time: new VirtualTime(START) }, answer, source);

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

test('text that quotes HTML is shown as text', () => {
	const failed = failure(reply(502, 'upstream said <html>'));
	const { message } = failed.toError({ advice: '', retryable: false });
	expect(message).toContain('upstream said <html>');
});

test('a 401 of a provider is no error of the key', () => {
	const passedOn = quotedError({ message: 'Bad key', code: 'invalid_api_key' }, '401');
	const own = { error: { message: 'Bad key', code: 'invalid_api_key' } };
	const found = [passedOn, own].map((body) => failure(reply(401, body)).details.finding);
	expect(found).toEqual(['providerKey', 'keyInvalid']);
});

const ASK =
	'Give the request ID to the gateway’s operator, or look it up in the gateway’s console.';

test.each<[FaultKind, title: RegExp, advice: RegExp]>([
	['unreached', /cannot be reached/, /Check the Base URL .* running/],
	['timeout', /did not answer in time/, /may be overloaded\. Raise the Max Wait option/],
	['lost', /was lost before its answer/, /Check the network and the proxies/],
	['certificate', /TLS certificate is not accepted/, /needs a valid certificate/],
	['clientCertificate', /asks for a client certificate/, /address that needs none/],
	['handshake', /refuses the TLS handshake/, /another TLS version/],
	['tls', /does not speak TLS/, /https or http, and the port/],
	['blocked', /SSRF protection blocked/, /administrator to allow the host/],
])('a request without a reply, %s, says what to do', (kind, title, advice) => {
	const options = { optionNames: new Set(['Max Wait']), sentId: 'r1' };
	const failed = failureFromFault(fault(kind), 'Max Wait', options);
	const { message } = failed.toError({ advice: '', retryable: false });
	expect([message, failed.advice]).toEqual([
		expect.stringMatching(title),
		expect.stringMatching(advice),
	]);
	const mayBeDone = kind === 'timeout' || kind === 'lost';
	expect(failed.advice.endsWith(ASK)).toBe(mayBeDone);
	expect(failed.details).toEqual(mayBeDone ? { requestId: 'r1' } : {});
	expect(failureFromFault(fault(kind), 'Max Wait').advice).not.toContain(ASK);
});
