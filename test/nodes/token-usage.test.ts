import { createResponse, generateImage, numbered, useHarness } from './arrange';
import { runChecked } from './image.arrange';

const harness = useHarness();

test('the run of Response → Create has the tokens of all its answers, as n8n’s own nodes have', async () => {
	for (const stream of [false, true]) {
		const { items, context } = await harness.text(createResponse({ stream }), {
			items: numbered(3),
		});
		const usages = items.map(({ json }) => json.usage as Record<string, number>);
		const sum = (name: string) => usages.reduce((total, usage) => total + usage[name]!, 0);
		expect(sum('input_tokens')).toBeGreaterThan(0);
		expect(context.getExecuteData().metadata).toEqual({
			tokenUsage: { inputTokens: sum('input_tokens'), outputTokens: sum('output_tokens') },
		});
	}
});

test('the run of Image → Generate has the tokens of its tasks, if the gateway counts them', async () => {
	const none = await harness.image(generateImage());
	expect(none.context.getExecuteData().metadata).toBeUndefined();
	harness.gateway.settings.fullTasks = true;
	const { items, context } = await harness.image(generateImage(), { items: numbered(2) });
	const { input_tokens, output_tokens } = items[0]?.json.usage as Record<string, number>;
	expect(context.getExecuteData().metadata).toEqual({
		tokenUsage: { inputTokens: 2 * input_tokens!, outputTokens: 2 * output_tokens! },
	});
});

test('a task that another try of the node submitted is not counted again', async () => {
	harness.gateway.settings.fullTasks = true;
	let left = 1;
	harness.gateway.settings.storageIntercept = ({ stage }) =>
		stage === 'before' && left-- > 0 ? { kind: 'reply', status: 400 } : undefined;
	const node = { name: 'Draw', parameters: generateImage(), retryOnFail: true, maxTries: 2 };
	const ended = await runChecked(harness, [node], { items: numbered(1) });
	const { usage } = ended.items('Draw')[0]!.json as { usage: Record<string, number> };
	expect(ended.data.resultData.runData.Draw?.[0]?.metadata?.tokenUsage).toEqual({
		inputTokens: usage.input_tokens,
		outputTokens: usage.output_tokens,
	});
});
