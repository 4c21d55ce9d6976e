import type { IDataObject } from 'n8n-workflow';
import { ModelAccessApi } from '../../credentials/ModelAccessApi.credentials';
import { errorReply, type Fault } from '../../gateway';
import { newRecord, runListSearch, type RunListSearchOptions } from '../../scripts/engine/index';
import { expectNoSecret } from '../support/secrets';
import {
	createResponse,
	getModels,
	imageNode,
	itemsOf,
	reply,
	shown,
	textNode,
	useHarness,
	type Access,
} from './arrange';

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
		const headers = {
			authorization: `Bearer ${harness.access.apiKey}`,
			accept: 'application/json',
		};
		expect(harness.gateway.requests).toMatchObject([
			{ method: 'GET', path: '/v1/models', rawLength: 0, headers },
		]);
	});

	test('reaches a gateway whose address lacks /v1, and returns no item if it has no model', async () => {
		harness.gateway.settings.models = {};
		const access = { baseUrl: ` ${harness.gateway.origin}/ ` };
		expect((await harness.text(getModels(), { access })).outputs).toEqual([[]]);
		expect(harness.gateway.requests).toMatchObject([{ path: '/v1/models' }]);
	});

	test('returns 50 models, or as many as Limit says, or all', async () => {
		harness.gateway.settings.models = Object.fromEntries(
			Array.from({ length: 60 }, (_unused, index) => [`model-${index}`, { text: true }]),
		);
		expect(await listed({})).toHaveLength(50);
		expect(await listed({ limit: 2 })).toEqual(['model-0', 'model-1']);
		expect(await listed({ limit: 2, returnAll: true })).toHaveLength(60);
	});

	test('searches before it limits, for each item, and refuses a bad Limit', async () => {
		const options = { search: '={{ $json.search }}' };
		const { items } = await harness.text(getModels({ limit: '={{ $json.limit }}', options }), {
			items: itemsOf(
				{ search: ' IMAGE', limit: '1' },
				{ search: 'mini', limit: 9 },
				{ search: '', limit: 2 },
				{ limit: 'many' },
				{ limit: '0' },
			),
			onError: 'continueRegularOutput',
		});
		expect(items).toMatchObject([
			{ json: { id: 'aurora-image-1' }, pairedItem: { item: 0 } },
			{ json: { id: 'aurora-text-1-mini' }, pairedItem: { item: 1 } },
			{ json: { id: 'aurora-text-1' }, pairedItem: { item: 2 } },
			{ json: { id: 'aurora-text-1-mini' }, pairedItem: { item: 2 } },
			{ json: { error: 'Limit is not a number' }, pairedItem: { item: 3 } },
			{ json: { error: 'Limit is below 1' }, pairedItem: { item: 4 } },
		]);
		expect(harness.gateway.count()).toBe(3);
	});
});

const NODES = { text: textNode, image: imageNode };

/** Opens the model list of a node, as the editor does. */
const openList = async (
	node: keyof typeof NODES,
	{ access, ...given }: { access?: Partial<Access> } & Partial<RunListSearchOptions> = {},
) =>
	await runListSearch({
		node: NODES[node](harness.time),
		method: 'searchModels',
		parameters: createResponse() as RunListSearchOptions['parameters'],
		credentials: { modelAccessApi: { ...harness.access, ...access } },
		credentialTypes: [new ModelAccessApi()],
		...given,
	});

test.each(['text', 'image'] as const)(
	'the model list of the %s node holds every model, or those whose IDs contain a text in any case',
	async (node) => {
		const found = async (filter?: string) =>
			(await openList(node, { filter })).results.map(({ name, value }) => {
				expect(value).toBe(name);
				return name;
			});
		const images = ['aurora-image-1', 'aurora-image-1-hd'];
		const texts = ['aurora-text-1', 'aurora-text-1-mini', 'Aurora-Text-2.5-Preview'];
		const others = [...texts, 'aurora-omni-1'];
		expect(await found()).toEqual(
			node === 'image' ? [...images, ...others] : [...texts, ...images, 'aurora-omni-1'],
		);
		expect(harness.gateway.count()).toBe(1);
		expect(await found('')).toHaveLength(6);
		expect(await found('IMAGE')).toEqual(images);
		expect(await found('nothing like that')).toEqual([]);
	},
);

describe('A model list that cannot be opened says why', () => {
	const LIMITED = /^((?!option).)*raise the limit((?!option).)*$/is;
	test.each<[string, Partial<Access>, Fault | undefined, RegExp, RegExp, requests: number]>([
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
			/^The gateway’s rate limit is reached \(HTTP 429, rate_limit_exceeded\)/,
			LIMITED,
			2,
		],
		[
			'where the answer is none',
			{},
			reply(200, { models: [] }),
			/field "data": missing$/,
			/\.$/,
			1,
		],
	])('%s', async (_name, access, fault, message, advice, requests) => {
		if (fault) harness.answer(fault);
		const record = newRecord();
		const error = await openList('text', { access, record }).then(
			() => shown({ error: new Error('It opened') }),
			(failure: Error) => shown({ error: failure }),
		);
		expectNoSecret(access.apiKey?.trim() || harness.access.apiKey, error, record);
		expect(error.message).toMatch(message);
		expect(error.description).toMatch(advice);
		expect(harness.gateway.count()).toBe(requests);
	});
});
