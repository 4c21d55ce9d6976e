import { findFault, scripted } from '../../gateway/faults/catalogue';
import { hintsOf, useChat, type Asked } from './chat-model.arrange';
import { createResponse, file, numbered, shown, useHarness } from './arrange';

/*
 * How the nodes read what real gateways answer, and what they hint at. Each form of an answer is in
 * `test/unit/api`: here is one of each kind.
 */

const TEXT = 'You said: Hello there';
const look = { name: 'look', parameters: { type: 'object', properties: {} } };
const tools = JSON.stringify([{ type: 'function', ...look }]);
const ASKED = {
	text: { prompt: 'Hello there' },
	call: { prompt: 'look around', options: { tools } },
	json: { prompt: 'JSON', options: { outputFormat: { format: { type: 'json_object' } } } },
};

type Happening = Pick<ReturnType<typeof useHarness>, 'gateway' | 'time'>;

/** Lets a fault of the catalogue happen to the requests of a gateway. */
function happen({ gateway, time }: Happening, name: string, times = Infinity) {
	const fault = findFault(name);
	if (!fault) throw new Error(`there is no fault "${name}"`);
	gateway.settings.intercept = scripted([{ fault, times }], { time: time.gateway, elsewhere: '' });
}

const OPTIONS = { temperature: 0.2, maxOutputTokens: 500, store: true };
const DROPPED =
	'The gateway did not apply: Temperature (asked 0.2, used 1), Max Output Tokens (asked 500, used none), Store (asked on, used off).';
const INSTRUCTED =
	/^The gateway counted 5,\d{3} input tokens for a request of \d+ bytes\. .*instructions/;

const OBJECT = expect.any(Object) as object;

describe('Response → Create', () => {
	const harness = useHarness();
	const text = { text: TEXT, status: 'completed' };
	const CHAT = /^The gateway answered in the form of the Chat Completions/;
	const UNSAID = /The gateway’s stream ended without saying/;
	const EMPTY = /^The gateway counted \d+ output tokens/;

	type Row = [string, keyof typeof ASKED, object, hint?: RegExp | null, stream?: boolean];
	test.each<Row>([
		['a text in output_text alone', 'text', text],
		['events instead of JSON', 'text', text],
		['a chat completion', 'call', { tool_calls: [{ name: 'look' }] }, CHAT],
		['an empty answer of some tokens', 'text', { text: '' }, EMPTY],
		['an answer in a Markdown fence', 'json', { parsed: OBJECT }],
		['arguments behind an empty object', 'call', { tool_calls: [{ arguments: OBJECT }] }],
		['a stream that ends by response.done', 'text', text, null, true],
		['a stream of number 0 alone', 'call', { tool_calls: [{ name: 'look' }] }, null, true],
		['a stream without a final event', 'text', { text: TEXT, status: 'incomplete' }, UNSAID, true],
	])('reads %s (%s)', async (...row) => {
		const [fault, asked, json, hint, stream = false] = row;
		happen(harness, fault);
		const { items, hints } = await harness.text(createResponse({ ...ASKED[asked], stream }));
		expect(items).toMatchObject([{ json }]);
		const told = hint ? [expect.stringMatching(hint) as string] : [];
		expect(hints.map(({ message }) => message)).toEqual(told);
		expect(harness.gateway.count()).toBe(1);
	});

	test.each([false, true])(
		'waits out a limit that comes with 200 or is quoted, and asks once where a quota or a bill is (streamed: %s)',
		async (stream) => {
			const given = createResponse({ ...ASKED.text, stream });
			for (const fault of ['a limit in a stream', 'an overload in a stream', 'a quoted limit']) {
				happen(harness, fault, 2);
				expect((await harness.text(given)).items).toMatchObject([{ json: text }]);
			}
			expect(harness.gateway.count()).toBe(9);
			happen(harness, 'a quoted quota');
			const says = /^A quota or budget is used up \(HTTP 429, insufficient_quota/;
			expect((await harness.textError(given)).error.message).toMatch(says);
			happen(harness, 'a bill in a stream');
			expect((await harness.textError(given)).error.message).toMatch(/HTTP 403, billing_error/);
			expect(harness.gateway.count()).toBe(11);
		},
	);

	test('hints once a run at options, files and the previous response that were dropped', async () => {
		const { items: first, hints: none } = await harness.text(createResponse({ options: OPTIONS }));
		expect(none).toEqual([]);
		const drops = { dropsOptions: true, dropsFiles: true, dropsPreviousResponse: true };
		Object.assign(harness.gateway.settings, { ...drops, storesNothing: true });
		const items = numbered(3).map((item) => ({ ...item, binary: { data: file('%PDF-1.7') } }));
		const message = [{ role: 'user', type: 'file', text: 'Sum it up' }];
		const options = { ...OPTIONS, previousResponseId: first[0]?.json.id };
		const given = createResponse({ inputType: 'messages', messages: { message }, options });
		const { hints } = await harness.text(given, { items });
		expect(hints.map(({ message: said }) => said)).toEqual([
			`${DROPPED} The gateway counted 3 input tokens: the file may not have reached the model. The answer does not name the previous response: the model may not know what was said before. Send the conversation as messages.`,
		]);
	});

	test('reads an unfinished answer that comes as events, with a hint', async () => {
		harness.gateway.settings.unfinishedAsEvents = true;
		const { items, hints } = await harness.text(
			createResponse({ options: { maxOutputTokens: 2 } }),
		);
		expect(items).toMatchObject([{ json: { text: 'You said:', status: 'incomplete' } }]);
		const message = expect.stringMatching(/stopped at Max Output/) as string;
		expect(hints).toMatchObject([{ message }]);
	});

	test('advises on JSON that was asked for in vain', async () => {
		harness.gateway.settings.dropsFormat = true;
		const { description } = shown(await harness.textError(createResponse(ASKED.json)));
		expect(description).toMatch(/may not pass the Output Format on .* in Instructions as well\./);
	});

	test('hints once a run at instructions that the gateway adds, and counts none with its own', async () => {
		harness.gateway.settings.ownInstructions = true;
		const { hints } = await harness.text(createResponse(), { items: numbered(3) });
		expect(hints.map(({ message }) => message)).toEqual([expect.stringMatching(INSTRUCTED)]);
		expect(hints[0]?.message).toMatch(/: set Instructions\.$/);
		const message = [{ role: 'system', text: 'Be kind' }, { text: 'Hi' }];
		const messages = { inputType: 'messages', messages: { message } };
		for (const own of [{ instructions: 'Be kind' }, messages]) {
			const run = await harness.text(createResponse(own));
			expect(run.hints).toEqual([]);
			const { input_tokens } = run.items[0]!.json.usage as { input_tokens: number };
			expect(input_tokens).toBeLessThan(10);
		}
	});
});

describe('The chat model', () => {
	const harness = useChat();

	test('hints once at an answer of another interface, and at an empty one', async () => {
		const { model, runs } = await harness.supply();
		for (const fault of ['a chat completion', 'an empty answer of some tokens']) {
			happen(harness, fault);
			await harness.drive(model.invoke('Hello there'));
			await harness.drive(model.invoke('Hello there'));
		}
		expect([...new Set(hintsOf(runs()))]).toEqual([
			expect.stringMatching(/Chat Completions/),
			expect.stringMatching(/output tokens, but its answer is empty/),
		]);
	});

	test('reads a bare text, a structured answer in a Markdown fence, and a call behind an empty object', async () => {
		const { model } = await harness.supply();
		happen(harness, 'a text in output_text alone');
		expect((await harness.drive(model.invoke('Hello there'))).content).toBe(TEXT);
		happen(harness, 'an answer in a Markdown fence');
		const schema = { type: 'object', properties: { answer: { type: 'string' } } };
		const structured = model.withStructuredOutput(schema);
		await expect(harness.drive(structured.invoke('Hi'))).resolves.toHaveProperty('answer');
		happen(harness, 'arguments behind an empty object');
		const asked = model.bindTools([{ type: 'function', function: look }]) as Asked;
		const { tool_calls } = await harness.drive(asked.invoke('look around'));
		expect(tool_calls).toMatchObject([{ name: 'look', args: OBJECT }]);
	});

	test.each<[string, object, string | RegExp]>([
		['options that were dropped', { dropsOptions: true, storesNothing: true }, DROPPED],
		['instructions that the gateway adds', { ownInstructions: true }, INSTRUCTED],
	])('hints once, at its own node, at %s', async (_what, switches, told) => {
		Object.assign(harness.gateway.settings, switches);
		const options = told === DROPPED ? OPTIONS : {};
		const { model, context } = await harness.supply({ options });
		await harness.drive(model.invoke('Hi'));
		await harness.drive(model.invoke('Hi again'));
		expect(context.hints).toHaveLength(1);
		expect(context.hints[0]?.message).toMatch(told);
	});
});
