import type { INodeListSearchResult } from 'n8n-workflow';
import { ModelAccessApi } from '../../credentials/ModelAccessApi.credentials';
import { errorReply, type RequestRecord } from '../../gateway';
import { newRecord, runListSearch } from '../../scripts/engine/index';
import { expectNoSecret } from '../support/secrets';
import {
	createResponse,
	imageNode,
	startStory,
	textNode,
	type Access,
	type ShownError,
	type Story,
} from './arrange';

let story: Story;
beforeEach(async () => {
	story = await startStory();
});
afterEach(async () => await story.close());

type Node = 'text' | 'image';

/** Opens the model list of a node, as the editor does. */
async function openList(
	node: Node,
	{ filter, access }: { filter?: string; access?: Partial<Access> } = {},
): Promise<INodeListSearchResult> {
	return await runListSearch({
		node: (node === 'text' ? textNode : imageNode)(story.time),
		method: 'searchModels',
		filter,
		parameters: createResponse() as Parameters<typeof runListSearch>[0]['parameters'],
		credentials: { modelAccessApi: { ...story.access, ...access } },
		credentialTypes: [new ModelAccessApi()],
	});
}

/** Opens the list into an error, and looks for the key in it. */
async function failToOpen(access: Partial<Access> = {}): Promise<ShownError> {
	const record = newRecord();
	const error = await openList('text', { access }).then(
		() => {
			throw new Error('The list opened where a failure was expected');
		},
		(failure: unknown) => failure as ShownError,
	);
	expectNoSecret(access.apiKey ?? story.access.apiKey, error, record);
	expect(error.message).not.toMatch(/[\r\n<]|undefined/);
	expect(error.description).toMatch(/\.$/);
	return error;
}

const named = (...ids: string[]) => ids.map((id) => ({ name: id, value: id }));

describe.each<Node>(['text', 'image'])('The model list of the %s node', (node) => {
	test('holds every model of the key, unfiltered, in the gateway’s order', async () => {
		expect((await openList(node)).results).toEqual(
			named(...Object.keys(story.gateway.settings.models)),
		);
	});

	test.each<[string, string[]]>([
		['omni', ['aurora-omni-1']],
		['IMAGE', ['aurora-image-1', 'aurora-image-1-hd']],
		[
			'',
			[
				'aurora-text-1',
				'aurora-text-1-mini',
				'Aurora-Text-2.5-Preview',
				'aurora-image-1',
				'aurora-image-1-hd',
				'aurora-omni-1',
			],
		],
		['nothing like that', []],
	])('searched for %p holds what contains it', async (filter, expected) => {
		expect((await openList(node, { filter })).results).toEqual(named(...expected));
	});

	test('asks the gateway once, with the key', async () => {
		await openList(node, { filter: 'omni' });
		expect(story.gateway.requests).toEqual([
			expect.objectContaining<Partial<RequestRecord>>({
				method: 'GET',
				path: '/v1/models',
				key: 'active',
			}),
		]);
	});

	test('is that of the key in the credential', async () => {
		const access = { apiKey: story.gateway.keys.textOnly };
		expect((await openList(node, { access })).results).toEqual(
			named('aurora-text-1', 'aurora-text-1-mini'),
		);
	});
});

test('an empty list is a list', async () => {
	story.gateway.settings.models = {};
	expect((await openList('text')).results).toEqual([]);
});

describe('A model list that cannot be opened says why', () => {
	test('where the key is wrong', async () => {
		const error = await failToOpen({ apiKey: 'mak-wrong-key-0000' });
		expect(error.message).toMatch(/^The gateway did not accept the API key \(HTTP 401\)/);
		expect(error.description).toMatch(/Fix the credential/);
		expect(story.gateway.count()).toBe(1);
	});

	test('where the key is missing', async () => {
		expect((await failToOpen({ apiKey: '        ' })).message).toBe('API Key is empty');
		expect(story.gateway.count()).toBe(0);
	});

	test('where the base URL is not safe', async () => {
		const error = await failToOpen({ baseUrl: 'http://gateway.example.com/v1' });
		expect(error.message).toMatch(/^Base URL uses http/);
		expect(error.description).toMatch(/Use https/);
	});

	test('where the base URL is a login page', async () => {
		const error = await failToOpen({ baseUrl: `${story.gateway.origin}/portal` });
		expect(error.message).toBe('The gateway answered with a web page (HTML) in place of JSON');
	});

	test('where the gateway is not there', async () => {
		const access = { baseUrl: 'http://127.0.0.1:9/v1' };
		// Its one retry waits up to a second of real time; no jitter makes it none.
		const random = jest.spyOn(Math, 'random').mockReturnValue(0);
		try {
			expect((await failToOpen(access)).message).toBe(
				'The gateway cannot be reached (ECONNREFUSED)',
			);
		} finally {
			random.mockRestore();
		}
	});

	test('where the gateway asks to wait longer than somebody in front of a list would', async () => {
		story.gateway.settings.intercept = () => errorReply(503, { retryAfter: 120 });
		const error = await failToOpen();
		expect(error.message).toMatch(/overloaded.*\(HTTP 503\)/);
		expect(error.description).toMatch(/asked to wait 120 s/);
		expect(story.gateway.count()).toBe(1);
	});

	test('where the gateway asks to slow down, without advice about options that a list has not', async () => {
		story.gateway.settings.intercept = () => errorReply(429, { retryAfter: 0 });
		const error = await failToOpen();
		expect(error.description).toMatch(/limit is reached/);
		expect(error.description).not.toMatch(/option/i);
	});

	test('where it fails twice, after one more try', async () => {
		story.gateway.settings.intercept = () => errorReply(429, { retryAfter: 0 });
		expect((await failToOpen()).message).toMatch(/^The gateway asks to slow down \(HTTP 429\)/);
		expect(story.gateway.count()).toBe(2);
	});

	test('where the answer is no model list', async () => {
		story.gateway.settings.intercept = () => ({ kind: 'reply', status: 200, body: { models: [] } });
		expect((await failToOpen()).message).toBe(
			'The gateway’s model list is not as expected: field "data": Required',
		);
	});
});
