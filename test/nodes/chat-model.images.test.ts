import { imageBelongsTo } from '../../gateway';
import { byId } from './arrange';
import { hintsOf, useChat, WAYS } from './chat-model.arrange';

const harness = useChat();

const extraBody = '{"tools":[{"type":"image_generation","size":"16x16"}]}';
const drawing = { model: byId('aurora-omni-1'), options: { extraBody } };
const STORE = 'store the image';

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
		for (const [n, prompt] of ['A boat', 'A tree'].entries()) {
			expect(imageBelongsTo(prompt, Buffer.from(files[n]!.data!.data, 'base64'))).toBe(true);
		}
		const hint = /^The model drew an image\. .* in the binary data of a run/;
		expect([...new Set(hintsOf(runs()))]).toEqual([expect.stringMatching(hint)]);
		expect(runs().map(({ executionStatus }) => executionStatus)).toEqual(Array(4).fill('success'));
	});

	test.each([STORE, 'show a run of its own'])('answers although n8n can’t %s', async (what) => {
		const { model, runs, context } = await harness.supply(drawing);
		const addInputData = context.addInputData.bind(context);
		if (what === STORE) {
			context.helpers.prepareBinaryData = async () => await Promise.reject(new Error('disk full'));
		} else {
			context.addInputData = (type, data) => {
				// n8n's own run holds the messages.
				if (JSON.stringify(data) === '[[{"json":{}}]]') throw new Error('no run');
				return addInputData(type, data);
			};
		}
		await expect(harness.drive(ask(model, 'A boat'))).resolves.toHaveProperty('content');
		expect(hintsOf(runs())).toEqual([expect.stringMatching(/could not store/)]);
	});
});
