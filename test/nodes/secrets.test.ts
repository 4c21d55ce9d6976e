import { findSecret } from '../support/secrets';
import { createResponse, editImage, generateImage, getModels, getTask, lookUp } from './arrange';
import { NOWHERE, reply, shown, useHarness, waitForTask, type RunOptions } from './arrange';

// Each run of a harness looks for the key in all that it left behind. Here others put it there.

const harness = useHarness();
let key: string;
beforeEach(() => void (key = harness.access.apiKey));

const STEPS = [
	['Model → Get Many', 'textError', getModels()],
	['Response → Create', 'textError', createResponse()],
	['Image → Generate', 'imageError', generateImage()],
	['Image → Edit', 'imageError', editImage()],
	['Task → Get', 'imageError', getTask('t')],
	['Task → Wait', 'imageError', waitForTask('t')],
] as const;

const REDACTED = '[API key]';

describe.each(STEPS)('A key that is echoed to %s', (_name, run, parameters) => {
	const fail = async (options?: RunOptions) => await harness[run](parameters, options);

	test('in an error’s message, type, code and ID is in no error, log or output', async () => {
		for (const text of [
			key,
			`Authorization: Bearer ${key}`,
			`/x?key=${encodeURIComponent(key)}`,
			Buffer.from(`Bearer ${key}`).toString('base64'),
			// Cut off by the length of the message.
			`${'x'.repeat(480)} ${key}`,
		]) {
			const body = { error: { message: text, type: text, code: text } };
			harness.answer(reply(400, body, { 'X-Request-ID': `req for ${key}` }));
			const { error, logs } = await fail();
			expect([text, findSecret(key, error, logs)]).toEqual([text, []]);
			expect(JSON.stringify(shown({ error }).context)).toContain(REDACTED);
			expect(shown({ error }).description).toContain(`Request ID: req for ${REDACTED}.`);
		}
	});

	test('in another answer, or in a fault of the network, is in no error, log or output', async () => {
		for (const [status, body] of [
			[500, `You sent ${key}`],
			[403, `<html><body>${key}</body></html>`],
			[400, { error: `You sent ${key}` }],
			[302, ''],
			[200, `You sent ${key}`],
			[200, `<html><body>${key}</body></html>`],
			[200, { data: [{ id: 7, name: key }], [key]: key, status: { [key]: key } }],
		] as const) {
			harness.answer(reply(status, body, { Location: `/login?key=${key}` }));
			const { error, logs, uiMessages } = await fail();
			expect([status, body, findSecret(key, error, logs, uiMessages)]).toEqual([status, body, []]);
		}

		const lost = Object.assign(new Error(`lost with ${key}`), { code: 'ECONNRESET' });
		const network = lookUp(lost, NOWHERE);
		const { error, logs } = await fail({ access: { baseUrl: `https://${NOWHERE}` } });
		network.mockRestore();
		expect(error.message).toMatch(/connection to the gateway was lost/);
		expect(findSecret(key, error, logs)).toEqual([]);
	});
});

test('a key that the gateway echoes in the request ID of an answer is not in the output', async () => {
	harness.gateway.settings.intercept = ({ res }) =>
		void res.setHeader('X-Request-ID', `req-${key}`);
	const { items } = await harness.text(createResponse());
	expect(items[0]?.json.request_id).toBe(`req-${REDACTED}`);
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
