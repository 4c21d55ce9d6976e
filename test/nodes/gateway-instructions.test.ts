import { HumanMessage, SystemMessage } from '@langchain/core/messages';
import { createResponse, numbered, useHarness } from './arrange';
import { useChat } from './chat-model.arrange';

const TOLD =
	/^The gateway counted 5,\d{3} input tokens for a request of \d+ bytes\. .*instructions/;

describe('Response → Create on a gateway that adds instructions of its own', () => {
	const harness = useHarness();
	beforeEach(() => {
		harness.gateway.settings.ownInstructions = true;
	});

	test('hints at them once a run', async () => {
		const { hints, items } = await harness.text(createResponse(), { items: numbered(3) });
		expect(hints.map(({ message }) => message)).toEqual([expect.stringMatching(TOLD)]);
		expect(hints[0]?.message).toMatch(/: set Instructions\.$/);
		expect(items[0]?.json.usage).toMatchObject({ input_tokens: 5335 });
	});

	test.each([
		['Instructions', { instructions: 'Be kind' }],
		[
			'a system message',
			{
				inputType: 'messages',
				messages: { message: [{ role: 'system', text: 'Be kind' }, { text: 'Hi' }] },
			},
		],
	])('counts none of them with %s', async (_name, given) => {
		const { hints, items } = await harness.text(createResponse(given));
		expect(hints).toEqual([]);
		expect((items[0]?.json.usage as { input_tokens: number }).input_tokens).toBeLessThan(10);
	});
});

describe('The chat model on a gateway that adds instructions of its own', () => {
	const harness = useChat();
	beforeEach(() => {
		harness.gateway.settings.ownInstructions = true;
	});

	test('hints at them once, at its own node', async () => {
		const { model, context } = await harness.supply();
		await harness.drive(model.invoke('Hi'));
		await harness.drive(model.invoke('Hi again'));
		expect(context.hints.map(({ message }) => message)).toEqual([expect.stringMatching(TOLD)]);
	});

	test('sends an agent’s system prompt in their place', async () => {
		const { model, context } = await harness.supply();
		const asked = [new SystemMessage('Be kind'), new HumanMessage('Hi')];
		const answer = await harness.drive(model.invoke(asked));
		expect(harness.bodies()).toMatchObject([
			{ instructions: 'Be kind', input: [{ role: 'user' }] },
		]);
		expect(context.hints).toEqual([]);
		expect(answer.usage_metadata?.input_tokens).toBeLessThan(10);
	});
});
