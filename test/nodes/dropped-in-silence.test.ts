import { createResponse, file, numbered, useHarness } from './arrange';
import { useChat } from './chat-model.arrange';

const OPTIONS = { temperature: 0.2, maxOutputTokens: 500, store: true };
const TOLD =
	'The gateway did not apply: Temperature (asked 0.2, used 1), Max Output Tokens (asked 500, used none), Store (asked on, used off).';

describe('Response → Create', () => {
	const harness = useHarness();

	test('hints once a run at options, files and the previous response that were dropped', async () => {
		const { items: first } = await harness.text(createResponse());
		Object.assign(harness.gateway.settings, {
			...{ dropsOptions: true, dropsFiles: true, dropsPreviousResponse: true, storesNothing: true },
		});
		const items = numbered(3).map((item) => ({ ...item, binary: { data: file('%PDF-1.7') } }));
		const message = [{ role: 'user', type: 'file', text: 'Sum it up' }];
		const options = { ...OPTIONS, previousResponseId: first[0]?.json.id };
		const given = createResponse({ inputType: 'messages', messages: { message }, options });
		const { hints } = await harness.text(given, { items });
		expect(hints.map(({ message: said }) => said)).toEqual([
			`${TOLD} The gateway counted 3 input tokens: the file may not have reached the model. The answer does not name the previous response: the model may not know what was said before. Send the conversation as messages.`,
		]);
	});

	test('hints at nothing where all was applied', async () => {
		const { hints } = await harness.text(createResponse({ options: OPTIONS }));
		expect(hints).toEqual([]);
	});

	test('advises on JSON that was asked for in vain', async () => {
		harness.gateway.settings.dropsFormat = true;
		const options = { outputFormat: { format: { type: 'json_object' } } };
		const { error } = await harness.textError(createResponse({ options }));
		expect(error).toMatchObject({
			description: expect.stringContaining(
				'The gateway may not pass the Output Format on to this model: describe the JSON in Instructions as well.',
			) as string,
		});
	});
});

describe('The chat model', () => {
	const harness = useChat();

	test('hints once at options that were dropped', async () => {
		Object.assign(harness.gateway.settings, { dropsOptions: true, storesNothing: true });
		const { model, context } = await harness.supply({ options: OPTIONS });
		await harness.drive(model.invoke('Hi'));
		await harness.drive(model.invoke('Hi again'));
		expect(context.hints.map(({ message }) => message)).toEqual([TOLD]);
	});
});
