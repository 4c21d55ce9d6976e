import { ModelAccessApi } from '../../credentials/ModelAccessApi.credentials';
import { runListSearch } from '../../scripts/engine/index';
import { getModels, startHarness, textNode, type Harness } from './arrange';

let harness: Harness;
beforeEach(async () => {
	harness = await startHarness();
	const ids = ['gpt-*', 'gpt-5', '*', 'openai/*', 'vendor/*-mini', 'gpt-5-mini'];
	harness.gateway.settings.intercept = () => ({
		kind: 'reply',
		status: 200,
		body: { object: 'list', data: ids.map((id) => ({ id, object: 'model' })) },
	});
});
afterEach(async () => await harness.close());

const picked = async (filter?: string) => {
	const { results } = await runListSearch({
		node: textNode(harness.time),
		method: 'searchModels',
		filter,
		credentials: { modelAccessApi: { ...harness.access } },
		credentialTypes: [new ModelAccessApi()],
	});
	return results.map(({ value }) => value);
};

test('The model picker offers no patterns, since a request names one model', async () => {
	expect(await picked()).toEqual(['gpt-5', 'gpt-5-mini']);
	expect(await picked('GPT-')).toEqual(['gpt-5', 'gpt-5-mini']);
	expect(await picked('*')).toEqual([]);
});

test('Model → Get Many returns patterns as they came, and finds them', async () => {
	const all = await harness.text(getModels());
	expect(all.items.map(({ json }) => json.id)).toHaveLength(6);
	const found = await harness.text(getModels({ options: { search: '*' } }));
	expect(found.items.map(({ json }) => json)).toEqual(
		['gpt-*', '*', 'openai/*', 'vendor/*-mini'].map((id) => ({ id, object: 'model' })),
	);
});
