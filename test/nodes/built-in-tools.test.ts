import { tool } from '@langchain/core/tools';
import { z } from 'zod';
import { createResponse, useHarness, type IDataObject } from './arrange';
import { useChat } from './chat-model.arrange';

const CODE = { type: 'code_interpreter', container: { type: 'auto' } };
const place = { country: 'US', region: 'Minnesota', city: ' Minneapolis ' };

const search = { searchContextSize: 'low', allowedDomains: 'example.com, wikipedia.org', ...place };
const sentSearch = {
	type: 'web_search',
	search_context_size: 'low',
	filters: { allowed_domains: ['example.com', 'wikipedia.org'] },
	user_location: { type: 'approximate', ...place, city: 'Minneapolis' },
};
const files = { vectorStoreIds: '["vs_1"]', filters: '{"type":"eq"}', maxResults: 3 };
const filtered = { vector_store_ids: ['vs_1'], filters: { type: 'eq' }, max_num_results: 3 };
const stores = { vectorStoreIds: 'vs_1, vs_2' };

const inStores = { type: 'file_search', vector_store_ids: ['vs_1', 'vs_2'] };

const ROWS: Array<[string, IDataObject, object]> = [
	['a web search', { webSearch: {} }, { type: 'web_search' }],
	['a web search with all its options', { webSearch: search }, sentSearch],
	['a file search', { fileSearch: files }, { type: 'file_search', ...filtered }],
	['a file search in stores separated by commas', { fileSearch: stores }, inStores],
	['a code interpreter', { codeInterpreter: true }, CODE],
];

describe('A built-in tool of Response → Create', () => {
	const harness = useHarness();

	const DRAWING = { type: 'image_generation' };
	const DRAWS: (typeof ROWS)[0] = ['an image generation', { imageGeneration: true }, DRAWING];
	test.each([...ROWS, DRAWS])('is sent: %s', async (_name, builtInTools, sent) => {
		await harness.text(createResponse({ builtInTools }));
		const tools = [sent];
		expect(harness.bodies()).toEqual([{ model: 'aurora-text-1', input: 'Hello there', tools }]);
	});

	test('is not sent where it is off, and stands before Tools (JSON)', async () => {
		const off = { codeInterpreter: false, imageGeneration: false };
		await harness.text(createResponse({ builtInTools: off }));
		const options = { tools: '[{"type":"image_generation"}]' };
		await harness.text(createResponse({ builtInTools: { codeInterpreter: true }, options }));
		expect(harness.bodies().map(({ tools }) => tools)).toEqual([undefined, [CODE, DRAWING]]);
	});
});

const harness = useChat();

test.each(ROWS)('The chat model sends beside tools %s', async (_name, builtInTools, sent) => {
	const { model } = await harness.supply({ builtInTools });
	const note = tool(async () => '', { name: 'note', schema: z.object({}) });
	await harness.drive(model.bindTools([note]).invoke('Hi [[no-tools]]'));
	const agents = expect.objectContaining({ name: 'note' }) as object;
	expect(harness.bodies()[0]?.tools).toEqual([agents, sent]);
});
