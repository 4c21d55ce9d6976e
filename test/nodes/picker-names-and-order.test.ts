import { ModelAccessApi } from '../../credentials/ModelAccessApi.credentials';
import { runListSearch } from '../../scripts/engine/index';
import { imageNode, reply, shown, textNode, useHarness } from './arrange';

const harness = useHarness();

/** What the picker of a node lists. */
async function picked(node: typeof textNode, data: object[], filter?: string) {
	harness.answer(reply(200, { object: 'list', data }));
	const { results } = await runListSearch({
		node: node(harness.time),
		method: 'searchModels',
		filter,
		credentials: { modelAccessApi: { ...harness.access } },
		credentialTypes: [new ModelAccessApi()],
	});
	return results.map(({ name, value }) => [name, value]);
}

test('The model picker shows a name with the ID behind it, finds by both, and gives the ID', async () => {
	const data = [
		{ id: 'gpt-5.4-mini', display_name: 'GPT-5.4 Mini' },
		{ id: 'same', display_name: 'same' },
		{ id: 'blank', display_name: ' ' },
		{ id: 'odd', display_name: { en: 'Odd' } },
		{ id: 'lines', display_name: 'Two\nlines' },
	];
	const mini = ['GPT-5.4 Mini (gpt-5.4-mini)', 'gpt-5.4-mini'];
	expect(await picked(textNode, data)).toEqual([
		mini,
		['same', 'same'],
		['blank', 'blank'],
		['odd', 'odd'],
		['Two lines (lines)', 'lines'],
	]);
	expect(await picked(textNode, data, ' 5.4 MINI')).toEqual([mini]);
	expect(await picked(textNode, data, '5.4-mini')).toEqual([mini]);
});

test('The picker of the image node has models first that draw, and leaves none out', async () => {
	const data = [
		{ id: 'text', output_modalities: ['text'] },
		{ id: 'says-no-image', output_modalities: ['text'] },
		{ id: 'omni', architecture: { output_modalities: ['text', 'image'] } },
		{ id: 'unknown' },
		{ id: 'chat', mode: 'chat' },
		{ id: 'painter', mode: 'image_generation' },
		{ id: 'grok-imagine', architecture: null },
		{ id: 'gpt-9', display_name: 'GPT Image' },
		{ id: 'brush', output_modalities: ['image'] },
	];
	const ids = async (node: typeof textNode) => (await picked(node, data)).map(([, id]) => id);
	expect(await ids(imageNode)).toEqual([
		...['omni', 'painter', 'grok-imagine', 'gpt-9', 'brush'],
		...['text', 'says-no-image', 'unknown', 'chat'],
	]);
	expect(await ids(textNode)).toEqual(data.map(({ id }) => id));
});

test.each([[[]], [[{ id: 'gpt-*' }]]])(
	'The picker of a list without an ID says what to do: %j',
	async (data) => {
		const error = await picked(imageNode, data).catch((failure: Error) => failure);
		expect(shown({ error: error as Error })).toMatchObject({
			message: 'The gateway lists no model that this key may use',
			description: expect.stringMatching(/^Select By ID/) as string,
		});
	},
);
