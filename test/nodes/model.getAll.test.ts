import { getModels, itemsOf, numbered, startStory, type Story } from './arrange';

const IDS = [
	'aurora-text-1',
	'aurora-text-1-mini',
	'Aurora-Text-2.5-Preview',
	'aurora-image-1',
	'aurora-image-1-hd',
	'aurora-omni-1',
];

let story: Story;
beforeEach(async () => {
	story = await startStory();
});
afterEach(async () => await story.close());

const idsOf = ({ items }: { items: Array<{ json: object }> }) =>
	items.map(({ json }) => (json as { id: string }).id);

describe('Model → Get Many', () => {
	test('returns each model as the gateway sent it, in its order', async () => {
		const run = await story.text(getModels({ returnAll: true }));

		expect(idsOf(run)).toEqual(IDS);
		expect(run.items[0]).toEqual({
			json: { id: 'aurora-text-1', object: 'model', created: 1767225600, owned_by: 'aurora' },
			pairedItem: { item: 0 },
		});
	});

	test('asks once, without a body, with the key and for JSON', async () => {
		await story.text(getModels({ returnAll: true }));

		expect(story.gateway.requests).toHaveLength(1);
		expect(story.gateway.requests[0]).toMatchObject({
			method: 'GET',
			path: '/v1/models',
			rawLength: 0,
			headers: { authorization: `Bearer ${story.access.apiKey}`, accept: 'application/json' },
		});
	});

	test('lists the models of the calling key only', async () => {
		const access = { apiKey: story.gateway.keys.picturesOnly };
		const run = await story.text(getModels({ returnAll: true }), { access });

		expect(idsOf(run)).toEqual(['aurora-image-1']);
	});

	test('keeps the unknown fields of a model', async () => {
		const model = { id: 'm', object: 'model', nested: { deep: [1, null] }, label: 'é' };
		story.gateway.settings.intercept = () => ({
			kind: 'reply',
			status: 200,
			body: { object: 'list', data: [model] },
		});
		const run = await story.text(getModels({ returnAll: true }));

		expect(run.items[0]?.json).toEqual(model);
	});

	test('returns no item for an empty list', async () => {
		story.gateway.settings.models = {};
		const run = await story.text(getModels({ returnAll: true }));

		expect(run.outputs).toEqual([[]]);
	});

	describe('Limit', () => {
		const many = Object.fromEntries(
			Array.from({ length: 120 }, (_unused, index) => [`model-${index}`, { text: true }]),
		);

		test('is 50 where nothing is set', async () => {
			story.gateway.settings.models = many;
			expect((await story.text(getModels())).items).toHaveLength(50);
		});

		test('bounds the list from its start', async () => {
			const run = await story.text(getModels({ limit: 2 }));
			expect(idsOf(run)).toEqual(IDS.slice(0, 2));
		});

		test('does not count where all are asked for', async () => {
			story.gateway.settings.models = many;
			const run = await story.text(getModels({ returnAll: true, limit: 2 }));
			expect(run.items).toHaveLength(120);
		});

		test('may be a number as text from an expression, for each item', async () => {
			const run = await story.text(getModels({ limit: '={{ $json.limit }}' }), {
				items: itemsOf({ limit: '1' }, { limit: 2 }),
			});
			expect(run.items.map(({ pairedItem }) => pairedItem)).toEqual([
				{ item: 0 },
				{ item: 1 },
				{ item: 1 },
			]);
		});

		test.each([['many'], ['0'], ['-3']])('%p is refused before anything is sent', async (limit) => {
			const { error } = await story.textError(getModels({ limit: `={{ "${limit}" }}` }));

			expect(error.message).toMatch(/^Limit is (not a number|below 1)$/);
			expect(story.gateway.count()).toBe(0);
		});
	});

	describe('Search', () => {
		test.each([
			['image', ['aurora-image-1', 'aurora-image-1-hd']],
			['TEXT-2.5', ['Aurora-Text-2.5-Preview']],
			['  omni  ', ['aurora-omni-1']],
			['', IDS],
			['nothing of that name', []],
			['.', ['Aurora-Text-2.5-Preview']],
		])('%p finds by a part of the ID, in any case', async (search, expected) => {
			const run = await story.text(getModels({ returnAll: true, options: { search } }));
			expect(idsOf(run)).toEqual(expected);
		});

		test('is applied before the limit', async () => {
			const run = await story.text(getModels({ limit: 1, options: { search: 'image' } }));
			expect(idsOf(run)).toEqual(['aurora-image-1']);
		});

		test('may be an expression for each item', async () => {
			const run = await story.text(
				getModels({ returnAll: true, options: { search: '={{ $json.text }}' } }),
				{ items: itemsOf({ text: 'omni' }, { text: 'mini' }) },
			);
			expect(run.items.map(({ json, pairedItem }) => [json.id, pairedItem])).toEqual([
				['aurora-omni-1', { item: 0 }],
				['aurora-text-1-mini', { item: 1 }],
			]);
		});
	});

	test('runs once for each item and links the models to it', async () => {
		const run = await story.text(getModels({ limit: 1 }), { items: numbered(3) });

		expect(run.items.map(({ pairedItem }) => pairedItem)).toEqual([
			{ item: 0 },
			{ item: 1 },
			{ item: 2 },
		]);
	});

	test.each([
		['the base address', (origin: string) => `${origin}/v1`],
		['an address without /v1', (origin: string) => origin],
		['an address with a slash at its end', (origin: string) => `${origin}/v1/`],
		['an endpoint’s address', (origin: string) => ` ${origin}/v1/responses `],
		['a doubled /v1', (origin: string) => `${origin}/v1/v1`],
	])('reaches the gateway with %s in the credential', async (_name, typed) => {
		const access = { baseUrl: typed(story.gateway.origin) };
		const run = await story.text(getModels({ limit: 1 }), { access });

		expect(run.items).toHaveLength(1);
		expect(story.gateway.requests.map(({ path }) => path)).toEqual(['/v1/models']);
	});
});
