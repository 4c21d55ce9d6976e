import type { Fault } from '../../gateway';
import { storeBinaryInMemory, type FailedRun } from '../../scripts/engine/index';
import { findSecret } from '../support/secrets';
import {
	breakNetwork,
	createResponse,
	editImage,
	generateImage,
	getModels,
	getTask,
	NOWHERE,
	shown,
	startHarness,
	submitted,
	waitForTask,
	type Harness,
	type RunOptions,
} from './arrange';

/*
 * Each run of a harness looks for the key in all that it left behind, whatever it is about: see
 * `startHarness`. Here the other side does its best to get the key into there.
 */

let harness: Harness;
let key: string;
beforeEach(async () => {
	await storeBinaryInMemory();
	harness = await startHarness();
	key = harness.access.apiKey;
});
afterEach(async () => await harness.close());

const STEPS: Array<[string, (options?: RunOptions) => Promise<FailedRun>]> = [
	['Model → Get Many', async (options) => await harness.textError(getModels(), options)],
	['Response → Create', async (options) => await harness.textError(createResponse(), options)],
	['Image → Generate', async (options) => await harness.imageError(generateImage(), options)],
	['Image → Edit', async (options) => await harness.imageError(editImage(), options)],
	['Task → Get', async (options) => await harness.imageError(getTask('t'), options)],
	['Task → Wait', async (options) => await harness.imageError(waitForTask('t'), options)],
];

const REDACTED = '[API key]';

const reply = (status: number, body: unknown): Fault => ({
	kind: 'reply',
	status,
	headers: { Location: `/login?key=${key}` },
	body,
});

/** Answers that echo the key. */
const echoes = (): Record<string, Fault> => ({
	'an error that is plain text': reply(500, `You sent ${key}`),
	'an error that is a web page': reply(403, `<html><body>${key}</body></html>`),
	'an error that is a text in JSON': reply(400, { error: `You sent ${key}` }),
	'a redirect': reply(302, ''),
	'an answer that is no JSON': reply(200, `You sent ${key}`),
	'an answer that is a web page': reply(200, `<html><body>${key}</body></html>`),
	'an answer without its fields': reply(200, {
		data: [{ id: 7, name: key }],
		[key]: key,
		status: { [key]: key },
	}),
});

describe.each(STEPS)('A key that is echoed to %s', (_name, fail) => {
	test('in an error’s message, type, code and ID is in no error, log or output', async () => {
		const forms = [
			key,
			`Authorization: Bearer ${key}`,
			`/x?key=${encodeURIComponent(key)}`,
			Buffer.from(`Bearer ${key}`).toString('base64'),
			// Cut off by the length of the message.
			`${'x'.repeat(480)} ${key}`,
		];
		for (const text of forms) {
			harness.gateway.settings.intercept = () => ({
				kind: 'reply',
				status: 400,
				headers: { 'X-Request-ID': `req for ${key}` },
				body: { error: { message: text, type: text, code: text } },
			});
			const { error, logs } = await fail();

			expect([text, findSecret(key, error, logs)]).toEqual([text, []]);
			expect(JSON.stringify(shown({ error }).context)).toContain(REDACTED);
			expect(shown({ error }).description).toContain(`Request ID: req for ${REDACTED}.`);
		}
	});

	test('in another answer, or in a fault of the network, is in no error, log or output', async () => {
		for (const [what, answer] of Object.entries(echoes())) {
			harness.gateway.settings.intercept = () => answer;
			const { error, logs, uiMessages } = await fail();
			expect([what, findSecret(key, error, logs, uiMessages)]).toEqual([what, []]);
		}

		const network = breakNetwork(
			Object.assign(new Error(`lost with ${key}`), { code: 'ECONNRESET' }),
		);
		const { error, logs } = await fail({ access: { baseUrl: `https://${NOWHERE}` } });
		network.restore();
		expect(error.message).toMatch(/connection to the gateway was lost/);
		expect(findSecret(key, error, logs)).toEqual([]);
	});
});

describe('A key that the gateway echoes', () => {
	test('in an error is not in the error item either', async () => {
		harness.gateway.settings.intercept = () => reply(422, { error: { message: key, code: key } });
		const run = await harness.text(createResponse(), { onError: 'continueErrorOutput' });

		expect(findSecret(key, run.outputs)).toEqual([]);
		expect(JSON.stringify(run.items)).toContain(REDACTED);
	});

	test('in the request ID of an answer is not in the output', async () => {
		harness.gateway.settings.intercept = ({ res }) => {
			res.setHeader('X-Request-ID', `req-${key}`);
			return undefined;
		};
		const run = await harness.text(createResponse());
		expect(run.items[0]?.json.request_id).toBe(`req-${REDACTED}`);
	});
});

test('a picture at the gateway’s own origin is fetched without the key', async () => {
	const task = await submitted(harness);
	await harness.time.advance(6000);
	harness.gateway.settings.intercept = ({ reply: answer, route }) => {
		if (answer && route === 'task') {
			const { storageUrl, origin } = harness.gateway;
			answer.body = String(answer.body).replaceAll(storageUrl, origin);
		}
		return undefined;
	};
	await harness.imageError(getTask(task.id));

	const fetched = harness.gateway.requests.filter(({ path }) => path.startsWith('/images/'));
	expect(fetched).toHaveLength(1);
	expect(fetched[0]?.headers.authorization).toBeUndefined();
});

test('the key travels in the Authorization header alone', async () => {
	await harness.text(getModels());
	await harness.text(createResponse());
	await harness.image(generateImage());

	for (const { headers, path, body } of harness.gateway.requests) {
		const { authorization, ...others } = headers;
		expect(authorization).toBe(`Bearer ${key}`);
		expect(findSecret(key, others, path, body)).toEqual([]);
	}
});
