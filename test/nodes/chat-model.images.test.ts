import type { ISupplyDataFunctions } from 'n8n-workflow';
import { imageBelongsTo } from '../../gateway';
import { byId } from './arrange';
import { useChat, WAYS } from './chat-model.arrange';

const harness = useChat();

const drawing = {
	model: byId('aurora-omni-1'),
	options: { extraBody: '{"tools":[{"type":"image_generation","size":"16x16"}]}' },
};

describe.each(WAYS)('A model that draws, asked %s', (_way, ask) => {
	test('answers by text; its image is binary data of a run, and a hint says so', async () => {
		const { model, runs } = await harness.supply(drawing);
		for (const prompt of ['A boat', 'A tree']) {
			await expect(harness.drive(ask(model, prompt))).resolves.toHaveProperty('content');
		}
		const files = runs().flatMap(({ data }) => {
			const { binary } = data?.ai_languageModel?.[0]?.[0] ?? {};
			return binary ? [binary] : [];
		});
		const file = { mimeType: 'image/png', fileExtension: 'png' };
		expect(files).toMatchObject([{ data: file }, { data: file }]);
		const [first, second] = files.map(({ data }) => Buffer.from(data!.data, 'base64'));
		expect([imageBelongsTo('A boat', first!), imageBelongsTo('A tree', second!)]).toEqual([
			true,
			true,
		]);
		const hints = new Set(runs().flatMap((run) => run.hints ?? []));
		expect([...hints].map(({ message }) => message)).toEqual([
			expect.stringMatching(/^The model drew an image\. .* in the binary data of a run/),
		]);
		expect(runs().map(({ executionStatus }) => executionStatus)).toEqual(Array(4).fill('success'));
	});

	test.each<[string, (context: ISupplyDataFunctions) => void]>([
		[
			'store the image',
			({ helpers }) => {
				helpers.prepareBinaryData = async () => await Promise.reject(new Error('disk full'));
			},
		],
		[
			'show a run of its own',
			(context) => {
				const { addInputData } = context;
				context.addInputData = (type, data) => {
					// n8n's own run holds the messages.
					const isOurs = JSON.stringify(data) === '[[{"json":{}}]]';
					if (isOurs) throw new Error('no run');
					return addInputData.call(context, type, data);
				};
			},
		],
	])('answers although n8n can’t %s', async (_what, fails) => {
		const { model, runs, context } = await harness.supply(drawing);
		fails(context);
		await expect(harness.drive(ask(model, 'A boat'))).resolves.toHaveProperty('content');
		const hints = runs().flatMap((run) => run.hints ?? []);
		expect(hints).toMatchObject([{ message: expect.stringMatching(/could not store/) as string }]);
	});
});
