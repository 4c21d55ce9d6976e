import type { IDataObject } from 'n8n-workflow';
import {
	createResponse,
	generateImage,
	getTask,
	numbered,
	submitted,
	useHarness,
	waitForTask,
} from './arrange';
import { runChecked, type Placed } from './image.arrange';

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

describe('A task that several nodes read', () => {
	const placed = (name: string, parameters: IDataObject): Placed => ({ name, parameters });
	const SUBMIT = placed('Submit', generateImage({ waitForCompletion: false }));
	const DRAW = placed('Draw', generateImage());
	const WAIT = placed('Wait', waitForTask('={{ $json.task_id }}'));
	const GET = placed('Get', getTask('={{ $json.task_id }}'));
	const GET_AGAIN = { ...GET, name: 'Get Again' };

	test.each<[string, Placed[], string]>([
		['Generate, where it waits', [DRAW, GET, WAIT], 'Draw'],
		['Task → Wait, after a submit', [SUBMIT, WAIT, GET], 'Wait'],
		['Task → Wait, not by a Task → Get before it is done', [SUBMIT, GET, WAIT, GET_AGAIN], 'Wait'],
	])('is counted once, by %s', async (_what, nodes, counting) => {
		harness.gateway.settings.fullTasks = true;
		const ended = await runChecked(harness, nodes, { items: numbered(1) });
		const { usage } = ended.items(nodes.at(-1)!.name)[0]!.json as { usage: Record<string, number> };
		const { runData } = ended.data.resultData;
		const counted = nodes.flatMap(({ name }) => {
			const { tokenUsage } = runData[name]?.[0]?.metadata ?? {};
			return tokenUsage ? [[name, tokenUsage]] : [];
		});
		const { input_tokens: inputTokens, output_tokens: outputTokens } = usage;
		expect(counted).toEqual([[counting, { inputTokens, outputTokens }]]);
	});

	test('is counted once by a node that reads it for several items', async () => {
		harness.gateway.settings.fullTasks = true;
		const { id } = await submitted(harness);
		await harness.time.advance(60_000);
		const { items, context } = await harness.image(getTask(id), { items: numbered(3) });
		const { input_tokens, output_tokens } = items[0]?.json.usage as Record<string, number>;
		expect(context.getExecuteData().metadata).toEqual({
			tokenUsage: { inputTokens: input_tokens, outputTokens: output_tokens },
		});
	});

	test('is counted by the try that gets it, not by the one that submitted it in vain', async () => {
		harness.gateway.settings.fullTasks = true;
		harness.gateway.settings.taskSeconds = 20;
		const parameters = generateImage({ options: { maxWait: 15 } });
		const node = { ...placed('Draw', parameters), retryOnFail: true, maxTries: 2 };
		const ended = await runChecked(harness, [node], { items: numbered(1) });
		const { usage } = ended.items('Draw')[0]!.json as { usage: Record<string, number> };
		expect(ended.data.resultData.runData.Draw?.[0]?.metadata?.tokenUsage).toEqual({
			inputTokens: usage.input_tokens,
			outputTokens: usage.output_tokens,
		});
	});
});
