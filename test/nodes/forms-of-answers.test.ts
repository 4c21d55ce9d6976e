import { findFault, scripted } from '../../gateway/faults/catalogue';
import { useChat, type Asked } from './chat-model.arrange';
import { createResponse, shown, useHarness } from './arrange';

const TEXT = 'You said: Hello there';
const look = { name: 'look', parameters: { type: 'object', properties: {} } };
const tools = JSON.stringify([{ type: 'function', ...look }]);
const ASKED = {
	text: { prompt: 'Hello there' },
	call: { prompt: 'look around', options: { tools } },
	json: { prompt: 'JSON', options: { outputFormat: { format: { type: 'json_object' } } } },
	cut: { prompt: 'A much longer text than that', options: { maxOutputTokens: 3 } },
};

/** Lets a fault of the catalogue happen to the requests of a gateway. */
function happen(
	{ gateway, time }: Pick<ReturnType<typeof useHarness>, 'gateway' | 'time'>,
	name: string,
	times = Infinity,
) {
	const fault = findFault(name);
	if (!fault) throw new Error(`there is no fault "${name}"`);
	gateway.settings.intercept = scripted([{ fault, times }], { time: time.gateway, elsewhere: '' });
}

describe('Response → Create', () => {
	const harness = useHarness();
	const text = { text: TEXT, status: 'completed' };
	const CHAT = /^The gateway answered in the form of the Chat Completions/;

	test.each<[string, keyof typeof ASKED, object, RegExp | null]>([
		['a content that is a text', 'text', text, null],
		['parts that are called text', 'text', text, null],
		['a text in output_text alone', 'text', text, null],
		['an answer without ID and status', 'text', text, null],
		['events instead of JSON', 'text', text, null],
		['a chat completion', 'text', text, CHAT],
		['a chat completion', 'call', { tool_calls: [{ name: 'look' }] }, CHAT],
		[
			'an empty answer of some tokens',
			'text',
			{ text: '' },
			/^The gateway counted \d+ output tokens/,
		],
		['an answer in a Markdown fence', 'json', { parsed: expect.any(Object) as object }, null],
		['arguments behind an empty object', 'call', { tool_calls: [{ arguments: {} }] }, null],
		['arguments that are null', 'call', { tool_calls: [{ arguments: {} }] }, null],
	])('reads %s (%s)', async (fault, asked, json, hint) => {
		happen(harness, fault);
		const { items, hints } = await harness.text(createResponse(ASKED[asked]));
		expect(items).toMatchObject([{ json }]);
		const message = expect.stringMatching(hint ?? /^no hint/) as string;
		expect(hints).toEqual(hint ? [{ message, type: 'warning', location: 'outputPane' }] : []);
		expect(harness.gateway.count()).toBe(1);
	});

	test.each<[string, keyof typeof ASKED, object]>([
		['a stream that ends by response.done', 'text', text],
		['a stream without numbers and output', 'text', text],
		['a stream of number 0 alone', 'call', { tool_calls: [{ name: 'look' }] }],
		['a stream whose end has no text', 'text', text],
		['a stream without a final event', 'text', { text: TEXT, status: 'incomplete' }],
	])('reads %s', async (fault, asked, json) => {
		happen(harness, fault);
		const { items } = await harness.text(createResponse({ ...ASKED[asked], stream: true }));
		expect(items).toMatchObject([{ json }]);
	});

	test('says that a stream was canceled, with its text', async () => {
		happen(harness, 'a stream that ends by response.canceled');
		const error = shown(await harness.textError(createResponse({ ...ASKED.text, stream: true })));
		expect(error.message).toMatch(/^The model’s response was cancelled/);
		expect(error.context.details).toMatchObject({
			partial_text: TEXT,
			partial_output: [{ type: 'message' }],
			retryable: false,
		});
	});

	test.each([false, true])(
		'waits a limit out that comes with 200 (streamed: %s)',
		async (stream) => {
			for (const fault of ['a limit in a stream', 'an overload in a stream']) {
				happen(harness, fault, 2);
				const { items } = await harness.text(createResponse({ ...ASKED.text, stream }));
				expect(items).toMatchObject([{ json: text }]);
			}
			expect(harness.gateway.count()).toBe(6);
		},
	);

	test('does not send again what is a bill', async () => {
		happen(harness, 'a bill in a stream');
		const error = shown(await harness.textError(createResponse({ ...ASKED.text, stream: true })));
		expect(error.message).toMatch(/HTTP 403, billing_error/);
		expect(harness.gateway.count()).toBe(1);
	});

	test.each([false, true])(
		'reads the error of a provider that the gateway quotes (streamed: %s)',
		async (stream) => {
			happen(harness, 'a quoted limit', 2);
			const { items } = await harness.text(createResponse({ ...ASKED.text, stream }));
			expect(items).toMatchObject([{ json: text }]);
			expect(harness.gateway.count()).toBe(3);
			happen(harness, 'a quoted quota');
			const error = shown(await harness.textError(createResponse({ ...ASKED.text, stream })));
			expect(error.message).toMatch(/^A quota or budget is used up \(HTTP 429, insufficient_quota/);
			expect(harness.gateway.count()).toBe(4);
		},
	);

	test('tells the key that a provider refused from the credential’s', async () => {
		happen(harness, 'a quoted wrong key');
		const error = shown(await harness.textError(createResponse(ASKED.text)));
		expect(error.message).toMatch(/^The model’s provider did not accept the gateway’s own API key/);
		expect(harness.gateway.count()).toBe(1);
	});

	test('reads the unfinished answers and the limits of the recorded gateway', async () => {
		const { settings } = harness.gateway;
		Object.assign(settings, { unfinishedAsEvents: true, limitsInStreams: true });
		const cut = await harness.text(createResponse(ASKED.cut));
		expect(cut.items).toMatchObject([{ json: { text: 'You said: A', status: 'incomplete' } }]);
		const again = { prompt: '[[once:429]] Hello there', stream: true };
		const { items } = await harness.text(createResponse(again));
		expect(items).toMatchObject([{ json: { status: 'completed' } }]);
		expect(harness.gateway.count()).toBe(3);
	});
});

describe('The chat model', () => {
	const harness = useChat();

	test.each([
		'a content that is a text',
		'a text in output_text alone',
		'events instead of JSON',
		'an answer without ID and status',
	])('reads %s', async (fault) => {
		happen(harness, fault);
		const { model } = await harness.supply();
		await expect(harness.drive(model.invoke('Hello there'))).resolves.toMatchObject({
			content: TEXT,
		});
	});

	test('hints at an answer in the form of another interface, and at an empty one', async () => {
		const { model, runs } = await harness.supply();
		for (const fault of ['a chat completion', 'an empty answer of some tokens']) {
			happen(harness, fault);
			await harness.drive(model.invoke('Hello there'));
			await harness.drive(model.invoke('Hello there'));
		}
		const hints = runs().flatMap((run) => run.hints ?? []);
		expect([...new Set(hints.map(({ message }) => message))]).toEqual([
			expect.stringMatching(/Chat Completions/),
			expect.stringMatching(/output tokens, but its answer is empty/),
		]);
	});

	test('reads a structured answer in a Markdown fence', async () => {
		happen(harness, 'an answer in a Markdown fence');
		const { model } = await harness.supply();
		const schema = { type: 'object', properties: { answer: { type: 'string' } } };
		const structured = model.withStructuredOutput(schema);
		await expect(harness.drive(structured.invoke('Hi'))).resolves.toHaveProperty('answer');
	});

	test.each(['arguments behind an empty object', 'arguments that are null'])(
		'calls a tool whose call has %s',
		async (fault) => {
			happen(harness, fault);
			const { model } = await harness.supply();
			const asked = model.bindTools([{ type: 'function', function: look }]) as Asked;
			await expect(harness.drive(asked.invoke('look around'))).resolves.toMatchObject({
				tool_calls: [{ name: 'look', args: {} }],
			});
		},
	);
});
