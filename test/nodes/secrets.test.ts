import { startGateway } from '../../gateway';
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
	startStory,
	submitted,
	waitForTask,
	type Story,
	type StoryOptions,
} from './arrange';

/*
 * Each run of a story looks for the key in all that it left behind, whatever it is about: see
 * `startStory`. Here the other side does its best to get the key into there.
 */

let story: Story;
let key: string;
beforeEach(async () => {
	await storeBinaryInMemory();
	story = await startStory();
	key = story.access.apiKey;
});
afterEach(async () => await story.close());

const STEPS: Array<[string, (options?: StoryOptions) => Promise<FailedRun>]> = [
	['Model → Get Many', async (options) => await story.textError(getModels(), options)],
	['Response → Create', async (options) => await story.textError(createResponse(), options)],
	['Image → Generate', async (options) => await story.imageError(generateImage(), options)],
	['Image → Edit', async (options) => await story.imageError(editImage(), options)],
	['Task → Get', async (options) => await story.imageError(getTask('t'), options)],
	['Task → Wait', async (options) => await story.imageError(waitForTask('t'), options)],
];

/** The key in each form in which it can be echoed. */
const forms = (): Record<string, string> => ({
	plain: key,
	'as a header': `Authorization: Bearer ${key}`,
	'URL-encoded': `/x?key=${encodeURIComponent(key)}`,
	base64: Buffer.from(key).toString('base64'),
	'base64 of a header': Buffer.from(`Bearer ${key}`).toString('base64'),
	'cut off by the length of the message': `${'x'.repeat(480)} ${key}`,
});

const REDACTED = '[API key]';

describe('A key that the gateway echoes', () => {
	describe.each(STEPS)('to %s', (_name, fail) => {
		test.each([
			'plain',
			'as a header',
			'URL-encoded',
			'base64',
			'base64 of a header',
			'cut off by the length of the message',
		])('in an error’s message, type and code (%s) is in no error, log or output', async (form) => {
			const text = forms()[form]!;
			story.gateway.settings.intercept = () => ({
				kind: 'reply',
				status: 400,
				headers: { 'X-Request-ID': `req for ${key}` },
				body: { error: { message: text, type: text, code: text } },
			});
			const run = await fail();

			expect(findSecret(key, run.error, run.logs)).toEqual([]);
			expect(JSON.stringify(shown(run).context)).toContain(REDACTED);
			expect(shown(run).description).toContain(`Request ID: req for ${REDACTED}.`);
		});

		test.each<[string, number, unknown]>([
			['an error that is plain text', 500, 'text'],
			['an error that is a web page', 403, 'html'],
			['an answer that is no JSON', 200, 'text'],
			['an answer that is a web page', 200, 'html'],
			['an error that is only a text in JSON', 400, 'json'],
			['a redirect', 302, 'location'],
		])('in %s is in no error, log or output', async (_what, status, kind) => {
			const bodies: Record<string, unknown> = {
				text: `You sent ${key}`,
				html: `<html><body>${key}</body></html>`,
				json: { error: `You sent ${key}` },
				location: '',
			};
			story.gateway.settings.intercept = () => ({
				kind: 'reply',
				status,
				headers: { Location: `/login?key=${key}` },
				body: bodies[String(kind)],
			});
			const run = await fail();
			expect(findSecret(key, run.error, run.logs, run.uiMessages)).toEqual([]);
		});

		test('in a fault of the network is in no error or log', async () => {
			const network = breakNetwork(
				Object.assign(new Error(`lost with ${key}`), { code: 'ECONNRESET' }),
			);
			const run = await fail({ access: { baseUrl: `https://${NOWHERE}` } });
			network.restore();

			expect(run.error.message).toMatch(/connection to the gateway was lost/);
			expect(findSecret(key, run.error, run.logs)).toEqual([]);
		});
	});

	test('in the error item under Continue is not there', async () => {
		story.gateway.settings.intercept = () => ({
			kind: 'reply',
			status: 422,
			headers: { 'X-Request-ID': key },
			body: { error: { message: `bad key ${key}`, type: key, code: key } },
		});
		const run = await story.text(createResponse(), { onError: 'continueErrorOutput' });

		expect(findSecret(key, run.outputs)).toEqual([]);
		expect(JSON.stringify(run.items)).toContain(REDACTED);
	});

	test('in the reason of a failed task is in no error', async () => {
		story.gateway.settings.failTask = () => ({
			type: `type of ${key}`,
			message: `no quota for ${key}`,
			httpStatus: 429,
		});
		const run = await story.imageError(generateImage());
		expect(run.error.message).toBe(`The image task failed: no quota for ${REDACTED}`);
		expect(shown(run).context.details?.type).toBe(`type of ${REDACTED}`);
	});

	test('in the reason of a failed response is in no error', async () => {
		story.gateway.settings.intercept = () => ({
			kind: 'reply',
			status: 200,
			body: {
				id: 'r',
				status: 'failed',
				output: [],
				error: { message: `no quota for ${key}`, code: key },
			},
		});
		const run = await story.textError(createResponse());
		expect(run.error.message).toBe(`The model’s response failed: no quota for ${REDACTED}`);
		expect(shown(run).context.details?.code).toBe(REDACTED);
	});

	test('in the request ID of an answer is not in the output', async () => {
		story.gateway.settings.intercept = ({ res }) => {
			res.setHeader('X-Request-ID', `req-${key}`);
			return undefined;
		};
		const run = await story.text(createResponse());
		expect(run.items[0]?.json.request_id).toBe(`req-${REDACTED}`);
	});

	test('in an answer that lacks its fields is in no error', async () => {
		story.gateway.settings.intercept = () => ({
			kind: 'reply',
			status: 200,
			body: { data: [{ id: 7, name: key }], [key]: key, status: { [key]: key } },
		});
		for (const [, fail] of STEPS) {
			const run = await fail();
			expect(findSecret(key, run.error, run.logs)).toEqual([]);
		}
	});
});

describe('A refused key', () => {
	test.each<[string, string]>([
		['with a space', 'mak-secret with-a-space'],
		['with a quote', 'mak-secret"quoted-0001'],
		['with a line break', 'mak-secret\nbroken-0001'],
		['with other letters', 'mak-secret-ключ-0001'],
	])('%s is named by its fault and never shown', async (_name, apiKey) => {
		const run = await story.textError(createResponse(), { access: { apiKey } });
		expect(findSecret(apiKey, run.error, run.logs)).toEqual([]);
		expect(findSecret('mak-secret', run.error, run.logs)).toEqual([]);
	});

	test('that the gateway does not know is in no error, log or output', async () => {
		for (const [, fail] of STEPS) await fail({ access: { apiKey: 'mak-somebody-elses-0099' } });
		expect(story.gateway.count({ status: 401 })).toBe(STEPS.length);
	});
});

describe('The storage host', () => {
	test('never sees the key, also when it fails, redirects or stalls', async () => {
		const other = await startGateway({ time: story.time.gateway });
		try {
			const faults = [
				{ kind: 'destroy' },
				{ kind: 'reply', status: 500 },
				{ kind: 'reply', status: 302, headers: { Location: `${other.storageUrl}/x` } },
			] as const;
			story.gateway.settings.storageIntercept = ({ attempt }) => faults[attempt - 1];
			await story.imageError(generateImage());

			const seen = [...story.gateway.storageRequests, ...other.storageRequests];
			expect(seen.length).toBeGreaterThanOrEqual(4);
			expect(findSecret(key, seen)).toEqual([]);
		} finally {
			await other.close();
		}
	});

	test('that lies at the gateway’s own origin does not see it either', async () => {
		const task = await submitted(story);
		await story.time.advance(6000);
		story.gateway.settings.intercept = ({ reply, route }) => {
			if (reply && route === 'task') {
				reply.body = String(reply.body).replaceAll(story.gateway.storageUrl, story.gateway.origin);
			}
			return undefined;
		};
		await story.imageError(getTask(task.id));

		const fetched = story.gateway.requests.filter(({ path }) => path.startsWith('/images/'));
		expect(fetched).toHaveLength(1);
		expect(fetched[0]?.headers.authorization).toBeUndefined();
	});
});

test('the key travels in the Authorization header alone', async () => {
	await story.text(getModels());
	await story.text(createResponse());
	await story.image(generateImage());

	for (const { headers, path, body } of story.gateway.requests) {
		const { authorization, ...others } = headers;
		expect(authorization).toBe(`Bearer ${key}`);
		expect(findSecret(key, others, path, body)).toEqual([]);
	}
});
