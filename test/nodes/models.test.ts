import type { IDataObject, INodeListSearchResult } from 'n8n-workflow';
import { ModelAccessApi } from '../../credentials/ModelAccessApi.credentials';
import { errorReply, type Fault } from '../../gateway';
import { newRecord, runListSearch, type RunRecord } from '../../scripts/engine/index';
import { expectNoSecret } from '../support/secrets';
import {
	createResponse,
	getModels,
	imageNode,
	itemsOf,
	shown,
	startHarness,
	textNode,
	type Access,
	type Harness,
} from './arrange';

let harness: Harness;
beforeEach(async () => {
	harness = await startHarness();
});
afterEach(async () => await harness.close());

const IDS = [
	'aurora-text-1',
	'aurora-text-1-mini',
	'Aurora-Text-2.5-Preview',
	'aurora-image-1',
	'aurora-image-1-hd',
	'aurora-omni-1',
];

describe('Model → Get Many', () => {
	/** The IDs of a run's models. */
	const listed = async (given: IDataObject) =>
		(await harness.text(getModels(given))).items.map(({ json }) => json.id);

	test('asks once, and returns each model as the gateway sent it', async () => {
		const models = [{ id: 'b', nested: { deep: [1, null] }, label: 'é' }, { id: 'a' }];
		harness.gateway.settings.intercept = () => ({
			kind: 'reply',
			status: 200,
			body: { object: 'list', data: models },
		});
		const run = await harness.text(getModels());
		expect(run.items).toEqual(models.map((json) => ({ json, pairedItem: { item: 0 } })));
		expect(harness.gateway.requests).toMatchObject([
			{
				method: 'GET',
				path: '/v1/models',
				rawLength: 0,
				headers: { authorization: `Bearer ${harness.access.apiKey}`, accept: 'application/json' },
			},
		]);
	});

	test('reaches a gateway whose address lacks /v1, and returns no item if it has no model', async () => {
		harness.gateway.settings.models = {};
		const access = { baseUrl: ` ${harness.gateway.origin}/ ` };
		expect((await harness.text(getModels(), { access })).outputs).toEqual([[]]);
		expect(harness.gateway.requests.map(({ path }) => path)).toEqual(['/v1/models']);
	});

	test('returns 50 models, or as many as Limit says, or all', async () => {
		harness.gateway.settings.models = Object.fromEntries(
			Array.from({ length: 60 }, (_unused, index) => [`model-${index}`, { text: true }]),
		);
		expect(await listed({})).toHaveLength(50);
		expect(await listed({ limit: 2 })).toEqual(['model-0', 'model-1']);
		expect(await listed({ limit: 2, returnAll: true })).toHaveLength(60);
	});

	test('searches before it limits, for each item by its own expressions', async () => {
		const options = { search: '={{ $json.search }}' };
		const run = await harness.text(getModels({ limit: '={{ $json.limit }}', options }), {
			items: itemsOf(
				{ search: ' IMAGE', limit: '1' },
				{ search: 'mini', limit: 9 },
				{ search: '', limit: 2 },
			),
		});
		expect(run.items.map(({ json, pairedItem }) => [json.id, pairedItem])).toEqual([
			['aurora-image-1', { item: 0 }],
			['aurora-text-1-mini', { item: 1 }],
			['aurora-text-1', { item: 2 }],
			['aurora-text-1-mini', { item: 2 }],
		]);
	});

	test('refuses a Limit below 1 or of words before anything is sent', async () => {
		const run = await harness.text(getModels({ limit: '={{ $json.limit }}' }), {
			items: itemsOf({ limit: 'many' }, { limit: '0' }),
			onError: 'continueRegularOutput',
		});
		expect(run.items.map(({ json }) => json.error)).toEqual([
			'Limit is not a number',
			'Limit is below 1',
		]);
		expect(harness.gateway.count()).toBe(0);
	});
});

type Node = 'text' | 'image';

/** Opens the model list of a node, as the editor does. */
async function openList(
	node: Node,
	{ access, ...given }: { filter?: string; access?: Partial<Access>; record?: RunRecord } = {},
): Promise<INodeListSearchResult> {
	return await runListSearch({
		node: (node === 'text' ? textNode : imageNode)(harness.time),
		method: 'searchModels',
		...given,
		parameters: createResponse() as Parameters<typeof runListSearch>[0]['parameters'],
		credentials: { modelAccessApi: { ...harness.access, ...access } },
		credentialTypes: [new ModelAccessApi()],
	});
}

const named = (...ids: string[]) => ids.map((id) => ({ name: id, value: id }));

describe.each<Node>(['text', 'image'])('The model list of the %s node', (node) => {
	test('asks once, and holds every model of the key in the gateway’s order', async () => {
		expect((await openList(node)).results).toEqual(named(...IDS));
		expect(harness.gateway.requests).toMatchObject([
			{ method: 'GET', path: '/v1/models', key: 'active' },
		]);
	});

	test('holds the models whose IDs contain what is searched for, in any case', async () => {
		const found = async (filter: string) => (await openList(node, { filter })).results;
		expect(await found('')).toEqual(named(...IDS));
		expect(await found('IMAGE')).toEqual(named('aurora-image-1', 'aurora-image-1-hd'));
		expect(await found('nothing like that')).toEqual([]);
	});
});

describe('A model list that cannot be opened says why', () => {
	test.each<[string, Partial<Access>, Fault | undefined, RegExp, RegExp, number]>([
		[
			'where the key is wrong',
			{ apiKey: 'mak-wrong-key-0000' },
			undefined,
			/^The gateway did not accept the API key \(HTTP 401, invalid_api_key\)/,
			/Fix the credential/,
			1,
		],
		['where the key is missing', { apiKey: ' ' }, undefined, /^API Key is empty$/, /Copy/, 0],
		[
			'where the gateway asks for a longer wait than people in front of a list have',
			{},
			errorReply(503, { retryAfter: 120 }),
			/overloaded.*\(HTTP 503, service_unavailable\)/,
			/asked to wait 120 s/,
			1,
		],
		[
			'after one more try, without advice about options that a list does not have',
			{},
			errorReply(429, { retryAfter: 0 }),
			/^The gateway asks to slow down \(HTTP 429, rate_limit_exceeded\)/,
			/^((?!option).)*limit is reached((?!option).)*$/is,
			2,
		],
		[
			'where the answer is no model list',
			{},
			{ kind: 'reply', status: 200, body: { models: [] } },
			/^The gateway’s model list is not as expected: field "data": Required$/,
			/\.$/,
			1,
		],
	])('%s', async (_name, access, fault, message, advice, requests) => {
		if (fault) harness.gateway.settings.intercept = () => fault;
		const record = newRecord();
		const error = await openList('text', { access, record }).then(
			() => Promise.reject(new Error('The list opened where a failure was expected')),
			(failure: Error) => shown({ error: failure }),
		);
		expectNoSecret(access.apiKey?.trim() || harness.access.apiKey, error, record);
		expect(error.message).toMatch(message);
		expect(error.description).toMatch(advice);
		expect(harness.gateway.count()).toBe(requests);
	});
});
