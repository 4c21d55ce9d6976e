import type { INodeExecutionData } from 'n8n-workflow';
import { numbered, submitted, useHarness } from './arrange';
import { runChecked, type Placed } from './image.arrange';
import { createResponse, generateImage, getTask, waitForTask } from './parameters';

const harness = useHarness();

/** The tokens of the first of these items, as n8n notes them. */
function usageOf([item]: INodeExecutionData[]) {
	const { input_tokens, output_tokens } = item!.json.usage as Record<string, number>;
	return { inputTokens: input_tokens!, outputTokens: output_tokens! };
}

test.each([false, true])(
	'the run of Response → Create has the tokens of all its answers, as n8n’s own nodes have (stream: %p)',
	async (stream) => {
		const given = createResponse({ stream });
		const { items, context } = await harness.text(given, { items: numbered(3) });
		const { inputTokens, outputTokens } = usageOf(items);
		expect(inputTokens).toBeGreaterThan(0);
		const tokenUsage = { inputTokens: 3 * inputTokens, outputTokens: 3 * outputTokens };
		expect(context.getExecuteData().metadata).toEqual({ tokenUsage });
	},
);

test('the run of Image → Generate has the tokens of its tasks, if the gateway counts them', async () => {
	const none = await harness.image(generateImage());
	expect(none.context.getExecuteData().metadata).toBeUndefined();
	harness.gateway.settings.fullTasks = true;
	const { items, context } = await harness.image(generateImage(), { items: numbered(2) });
	const { inputTokens, outputTokens } = usageOf(items);
	const tokenUsage = { inputTokens: 2 * inputTokens, outputTokens: 2 * outputTokens };
	expect(context.getExecuteData().metadata).toEqual({ tokenUsage });
});

describe('A task that several nodes read', () => {
	beforeEach(() => void (harness.gateway.settings.fullTasks = true));
	const SUBMIT = { name: 'Submit', parameters: generateImage({ waitForCompletion: false }) };
	const DRAW = { name: 'Draw', parameters: generateImage() };
	const WAIT = { name: 'Wait', parameters: waitForTask('={{ $json.task_id }}') };
	const GET = { name: 'Get', parameters: getTask('={{ $json.task_id }}') };
	const GET_AGAIN = { ...GET, name: 'Get Again' };

	test.each<[string, Placed[], string]>([
		['Generate, where it waits', [DRAW, GET, WAIT], 'Draw'],
		['Task → Wait, after a submit', [SUBMIT, WAIT, GET], 'Wait'],
		['Task → Wait, not by a Task → Get before it is done', [SUBMIT, GET, WAIT, GET_AGAIN], 'Wait'],
	])('is counted once, by %s', async (_what, nodes, counting) => {
		const ended = await runChecked(harness, nodes, { items: numbered(1) });
		const { runData } = ended.data.resultData;
		const counted = nodes.flatMap(({ name }) => {
			const { tokenUsage } = runData[name]?.[0]?.metadata ?? {};
			return tokenUsage ? [[name, tokenUsage]] : [];
		});
		expect(counted).toEqual([[counting, usageOf(ended.items(nodes.at(-1)!.name))]]);
	});

	test('is counted once by a node that reads it for several items', async () => {
		const { id } = await submitted(harness);
		await harness.time.advance(60_000);
		const { items, context } = await harness.image(getTask(id), { items: numbered(3) });
		expect(context.getExecuteData().metadata).toEqual({ tokenUsage: usageOf(items) });
	});

	test('is counted by the try that gets it, not by the one that submitted it in vain', async () => {
		harness.gateway.settings.taskSeconds = 20;
		const draw = { name: 'Draw', parameters: generateImage({ options: { maxWait: 15 } }) };
		const node = { ...draw, retryOnFail: true, maxTries: 2 };
		const ended = await runChecked(harness, [node], { items: numbered(1) });
		expect(harness.gateway.tasks).toHaveLength(1);
		const { metadata } = ended.data.resultData.runData.Draw![0]!;
		expect(metadata?.tokenUsage).toEqual(usageOf(ended.items('Draw')));
	});
});
