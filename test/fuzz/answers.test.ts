import fc from '../support/fast-check';
import { pollImageTask, waitForImageTask } from '../../nodes/shared/api/images/poll-task';
import { submitImageTask } from '../../nodes/shared/api/images/submit-task';
import { findModels, listModels } from '../../nodes/shared/api/models/models';
import { getTaskImages, rawImage, simplifyImage } from '../../nodes/shared/api/images/task-images';
import type { Client } from '../../nodes/shared/api/http/request';
import { createResponse } from '../../nodes/shared/api/responses/response';
import { getIncompleteReason } from '../../nodes/shared/api/responses/incomplete';
import * as output from '../../nodes/shared/api/responses/response-output';
import { streamResponse } from '../../nodes/shared/api/responses/response-stream';
import { findSecret } from '../support/secrets';
import { KEY, shown, START } from '../unit/api/arrange';
import { bytes, inChunks } from '../unit/api/recorded-streams';
import * as given from './arrange';

const { answeredBy, bodyOf, outcomeOf, spoiled, WATCH_MS, wordsOf } = given;

/*
 * Whatever comes in, what comes out is a result or one of the client's own errors, soon, and no
 * error shows the key. What fails otherwise throws out of `outcomeOf`.
 */

/** The errors of the gateway, in the headers of which the key may stand as well. */
const headers = fc.record(
	{
		'content-type': fc.constantFrom('application/json', 'text/html', 'text/plain', ''),
		'retry-after': fc.oneof(fc.string(), fc.constantFrom('0', '3', '-1', '1e9', KEY)),
		date: fc.oneof(fc.string(), fc.constant(new Date(START).toUTCString())),
		'x-request-id': fc.oneof(fc.string(), fc.constant(`req ${KEY}`)),
		location: fc.oneof(fc.webPath(), fc.constantFrom(`/v1/images/tasks/t1`, `//evil/${KEY}`, '%')),
	},
	{ requiredKeys: [] },
);

const statuses = fc.oneof(
	{ weight: 5, arbitrary: fc.constantFrom(200, 202) },
	{ weight: 1, arbitrary: fc.constantFrom(204, 302, 400, 401, 404, 408, 429, 500, 503, 599) },
);

const RESPONSE = {
	...{ id: 'resp_1', object: 'response', status: 'completed', model: 'aurora' },
	output: [
		{ type: 'reasoning', summary: [] },
		{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hello' }] },
		{ type: 'function_call', name: 'f', call_id: 'c', arguments: '{"a":1}' },
		{ type: 'image_generation_call', id: 'i', result: 'iVBORw0KGgo=' },
	],
	usage: { input_tokens: 1, output_tokens: 2, total_tokens: 3 },
	incomplete_details: { reason: 'max_output_tokens' },
};

const TASK = {
	...{ id: 't1', task_id: 't1', object: 'image.generation.task', status: 'completed' },
	...{ created_at: 1767225600, expires_at: 1767312000, completed_at: 1767225606 },
	http_status: 200,
	image_url: 'https://storage.example.com/a.png?signature=abc',
	result: { created: 1767225606, data: [{ url: 'https://storage.example.com/a.png' }] },
	error: { type: 'x', message: 'y' },
};

/** What work comes to, its error without the key in any form. */
async function safeOutcomeOf<T>(work: () => T | Promise<T>) {
	const outcome = await outcomeOf(work);
	if (outcome.error) expect(findSecret(KEY, shown(outcome.error))).toEqual([]);
	return outcome;
}

const RUNS = { numRuns: 250 };

/** Tries a work on answers of any status, headers and body, most of them nearly right. */
async function tryAnswers(document: unknown, work: (client: () => Client) => Promise<void>) {
	const replies = fc.record({ status: statuses, headers, body: bodyOf(spoiled(document)) });
	const property = fc.asyncProperty(replies, async (reply) => await work(() => answeredBy(reply)));
	await fc.assert(property, RUNS);
}

test('a model list is read, or is an error of the client', async () => {
	const list = { object: 'list', data: [{ id: 'a', object: 'model' }, { id: 'b' }] };
	await tryAnswers(list, async (client) => {
		const { result = [] } = await safeOutcomeOf(async () => await listModels(client()));
		for (const { id } of findModels(result, 'A')) expect(id).toMatch(/a/i);
	});
});

test('a response is read and simplified, or is an error of the client', async () => {
	const request = { model: 'm', input: 'x', text: { format: { type: 'json_object' } } };
	await tryAnswers(RESPONSE, async (client) => {
		await safeOutcomeOf(async () => {
			const created = await createResponse(client(), request);
			expect(typeof output.getOutputText(created.response)).toBe('string');
			const images = output.getOutputImages(created.response);
			expect(images.filter(({ base64 }) => typeof base64 !== 'string')).toEqual([]);
			getIncompleteReason(created.response);
			return output.simplifyResponse(created, request);
		});
	});
});

test('an image task is accepted, read and waited for, or is an error of the client', async () => {
	const awaited = { taskId: 't1', pollIntervalMs: 3000, deadline: START + 60_000 };
	await tryAnswers(TASK, async (client) => {
		for (const work of [
			async () => await submitImageTask(client(), 'edits', {}),
			async () => await pollImageTask(client(), 't1'),
			async () => (await waitForImageTask(client(), awaited)).last,
		]) {
			const { result } = await safeOutcomeOf(work);
			if (result?.state !== 'completed') continue;
			const found = await outcomeOf(() => getTaskImages('t1', result.task));
			for (const image of found.result ?? []) {
				expect(simplifyImage(result.task, image, { taskId: 't1' }).task_id).toBe('t1');
				expect(rawImage(result, image)).toMatchObject(result.json);
			}
		}
	});
});

const EVENT_TYPES = wordsOf(`
	error response.created response.completed response.incomplete response.failed
	response.output_item.added response.output_item.done
	response.output_text.delta response.output_text.done response.refusal.delta
	response.function_call_arguments.delta response.function_call_arguments.done
	response.unheard_of
`);

const event = fc
	.tuple(
		fc.constantFrom(...EVENT_TYPES),
		spoiled({
			...{ output_index: 0, content_index: 0, delta: 'Hel', text: 'Hello', arguments: '{}' },
			item: RESPONSE.output[1],
			response: RESPONSE,
			error: { message: 'm', code: 'c' },
		}),
		fc.boolean(),
	)
	.map(([type, fields, named]) => {
		const data = JSON.stringify({ type: named ? undefined : type, ...(fields as object) });
		return `${named ? `event: ${type}\n` : ''}data: ${data}\n\n`;
	});

const COMMENTS = ['data: [DONE]\n\n', ': comment\n\n', 'id: 1\nretry: 10\n\n'];
const GARBAGE = ['\r\n\r\n', 'data: {"broken\n\n', '\u0000\ufffd', 'data', ' \n'];
const noise = fc.constantFrom(...COMMENTS, ...GARBAGE);

const stream = fc
	.array(fc.oneof({ weight: 5, arbitrary: event }, noise), { maxLength: 8 })
	.map((events) => bytes(events.join('')));

test('a stream of events comes to an answer or an error, the same however it is cut', async () => {
	const read = async (chunks: Uint8Array[], head: Record<string, string>) => {
		const texts: string[] = [];
		const onText = (text: string) => void texts.push(text);
		const client = answeredBy({ headers: head, chunks });
		const { result, error } = await safeOutcomeOf(
			async () => await streamResponse(client, { model: 'm' }, { idleMs: WATCH_MS, onText }),
		);
		const { message, details } = error ?? {};
		return { json: result?.json, text: texts.join(''), message, details };
	};
	await fc.assert(
		fc.asyncProperty(stream, headers, fc.integer({ min: 1, max: 40 }), async (all, head, size) => {
			expect(await read([...inChunks(all, size)], head)).toEqual(await read([all], head));
		}),
		RUNS,
	);
});

test('an error of any shape is told without the key, on one line, in bounds', async () => {
	const told = spoiled({ error: { type: KEY, code: KEY, message: `no ${KEY}` } });
	const status = fc.constantFrom(400, 404, 429, 500, 502);
	const replies = fc.record({ status, headers, body: bodyOf(fc.oneof(given.anyJson, told)) });
	const property = fc.asyncProperty(replies, async (reply) => {
		const { error } = await safeOutcomeOf(async () => await createResponse(answeredBy(reply), {}));
		expect(error?.message).toMatch(/^The (gateway|request|connection)/);
		// eslint-disable-next-line no-control-regex
		expect(error?.message).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e]/);
		expect(error?.message.length).toBeLessThan(700);
	});
	await fc.assert(property, RUNS);
});
