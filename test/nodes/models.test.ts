import { errorReply } from '../../gateway';
import { newRecord } from '../../scripts/engine/index';
import { expectNoSecret } from '../support/secrets';
import { CONTINUE, getModels, imageNode, itemsOf, openList, reply, shown } from './arrange';
import { textNode, useHarness, type IDataObject } from './arrange';

const harness = useHarness();

describe('Model → Get Many', () => {
	/** The IDs of a run's models. */
	const listed = async (given: IDataObject) =>
		(await harness.text(getModels(given))).items.map(({ json }) => json.id);

	test('asks once, and returns each model as the gateway sent it', async () => {
		const data = [{ id: 'b', nested: { deep: [1, null] }, label: 'é' }, { id: 'a' }];
		harness.answer(reply(200, { object: 'list', data }));
		const { items } = await harness.text(getModels());
		expect(items).toEqual(data.map((json) => ({ json, pairedItem: { item: 0 } })));
		const authorization = `Bearer ${harness.access.apiKey}`;
		const sent = { method: 'GET', path: '/v1/models', rawLength: 0 };
		const headers = { authorization, accept: 'application/json' };
		expect(harness.gateway.requests).toMatchObject([{ ...sent, headers }]);
	});

	test('returns 50 models, or as many as Limit says, or all, and no item if there is none', async () => {
		const ids = Array.from({ length: 60 }, (_unused, n) => `model-${n}`);
		const models = Object.fromEntries(ids.map((id) => [id, { text: true }]));
		Object.assign(harness.gateway.settings, { models });
		expect(await listed({})).toHaveLength(50);
		expect(await listed({ limit: 2 })).toEqual(['model-0', 'model-1']);
		expect(await listed({ limit: 2, returnAll: true })).toHaveLength(60);
		harness.gateway.settings.models = {};
		expect((await harness.text(getModels())).outputs).toEqual([[]]);
	});

	test('searches before it limits, for each item, and refuses a bad Limit', async () => {
		const options = { search: '={{ $json.search }}' };
		const searches = [' IMAGE', 'mini', ''].map((search, n) => ({ search, limit: ['1', 9, 2][n] }));
		const given = itemsOf(...searches, { limit: 'many' }, { limit: '0' });
		const parameters = getModels({ limit: '={{ $json.limit }}', options });
		const { items } = await harness.text(parameters, { items: given, ...CONTINUE });
		const told = items.map(({ json, pairedItem }) => [json.id ?? json.error, pairedItem]);
		expect(told).toEqual([
			['aurora-image-1', { item: 0 }],
			['aurora-text-1-mini', { item: 1 }],
			['aurora-text-1', { item: 2 }],
			['aurora-text-1-mini', { item: 2 }],
			['Limit is not a number', { item: 3 }],
			['Limit is below 1', { item: 4 }],
		]);
		expect(harness.gateway.count()).toBe(3);
	});
});

describe('The model list', () => {
	/** What the list of a node holds of models that the gateway has, asked for once. */
	async function listed(node: typeof textNode, data: object[], filter?: string) {
		harness.answer(reply(200, { object: 'list', data }));
		const before = harness.gateway.count();
		const { results } = await openList(node(harness.time), harness.access, { filter });
		expect(harness.gateway.count()).toBe(before + 1);
		return results.map(({ name, value }) => [name, value]);
	}
	const idsOf = async (...given: Parameters<typeof listed>) =>
		(await listed(...given)).map(([, id]) => id);

	test('shows a name with the ID behind it, finds by both in any case, and gives the ID', async () => {
		const data = [
			{ id: 'gpt-5.4-mini', display_name: 'GPT-5.4 Mini' },
			{ id: 'same', display_name: 'same' },
			{ id: 'blank', display_name: ' ' },
			{ id: 'odd', display_name: { en: 'Odd' } },
			{ id: 'lines', display_name: 'Two\nlines' },
		];
		const mini = ['GPT-5.4 Mini (gpt-5.4-mini)', 'gpt-5.4-mini'];
		const bare = ['same', 'blank', 'odd'].map((id) => [id, id]);
		expect(await listed(textNode, data)).toEqual([mini, ...bare, ['Two lines (lines)', 'lines']]);
		expect(await listed(textNode, data, ' 5.4 MINI')).toEqual([mini]);
		expect(await listed(imageNode, data, '5.4-mini')).toEqual([mini]);
		expect(await listed(textNode, data, 'nothing like that')).toEqual([]);
		expect(await listed(textNode, data, '')).toHaveLength(5);
	});

	test('of the image node has models first that draw, and leaves none out', async () => {
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
		expect(await idsOf(imageNode, data)).toEqual([
			...['omni', 'painter', 'grok-imagine', 'gpt-9', 'brush'],
			...['text', 'says-no-image', 'unknown', 'chat'],
		]);
		expect(await idsOf(textNode, data)).toEqual(data.map(({ id }) => id));
	});

	test('offers no patterns, since a request names one model; Get Many returns and finds them', async () => {
		const ids = ['gpt-*', 'gpt-5', '*', 'openai/*', 'vendor/*-mini', 'gpt-5-mini'];
		const data = ids.map((id) => ({ id, object: 'model' }));
		expect(await idsOf(textNode, data)).toEqual(['gpt-5', 'gpt-5-mini']);
		expect(await idsOf(textNode, data, 'GPT-')).toEqual(['gpt-5', 'gpt-5-mini']);
		expect(await idsOf(textNode, data, '*')).toEqual([]);
		const found = await harness.text(getModels({ options: { search: '*' } }));
		expect(found.items.map(({ json }) => json)).toEqual(data.filter(({ id }) => id.includes('*')));
	});

	test.each([[[]], [[{ id: 'gpt-*' }]]])('without an ID says what to do: %j', async (data) => {
		const error = await listed(imageNode, data).catch((failure: Error) => failure);
		expect(shown({ error: error as Error })).toMatchObject({
			message: 'The gateway lists no model that this key may use',
			description: expect.stringMatching(/^Select By ID/) as string,
		});
	});
});

const LIMITED = /^((?!option).)*raise the limit((?!option).)*$/is;
const LONG_WAIT = errorReply(503, { retryAfter: 120 });
const NO_WAIT = errorReply(429, { retryAfter: 0 });
const [NO_KEY, OVERLOADED, AT_LIMIT] = [/^API Key is empty$/, /overloaded.*HTTP 503/, /HTTP 429/];
// People in front of a list do not wait for long, and it has no options.
test.each([
	['the key is missing', NO_WAIT, NO_KEY, /Copy/, 0],
	['the gateway asks for a long wait', LONG_WAIT, OVERLOADED, /asked to wait 120 s/, 1],
	['one more try was refused as well', NO_WAIT, AT_LIMIT, LIMITED, 2],
])('A model list that cannot be opened says why: %s', async (...row) => {
	const [, fault, message, advice, requests] = row;
	const access = { ...harness.access, ...(message === NO_KEY && { apiKey: ' ' }) };
	harness.answer(fault);
	const record = newRecord();
	const opening = openList(textNode(harness.time), access, { record });
	const failing = opening.then(() => new Error('It opened')).catch((failure: Error) => failure);
	const error = shown({ error: await failing });
	expectNoSecret(harness.access.apiKey, error, record);
	expect(error.message).toMatch(message);
	expect(error.description).toMatch(advice);
	expect(harness.gateway.count()).toBe(requests);
});
