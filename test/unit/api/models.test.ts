import { findModels, listModels } from '../../../nodes/shared/api/models/models';
import { arrange, reply, START } from './arrange';

const MODELS = [
	{ id: 'zeta-2', object: 'model' },
	{ id: 'Alpha-Image-1.5', object: 'model', owned_by: 'someone', images: true },
	{ id: 'alpha-mini', object: 'something else' },
	{ id: 'zeta-2', object: 'model' },
];

describe('the list of models', () => {
	test('is asked for once, and comes as sent: its order, every entry, every field', async () => {
		const list = reply(200, { object: 'list', data: MODELS, more: 1 });
		const { client, sent, drive } = arrange([list]);
		await expect(drive(listModels(client))).resolves.toEqual(MODELS);
		expect(sent).toEqual([{ method: 'GET', path: '/models', timeoutMs: 60_000, at: START }]);
	});

	test('may be empty, and is asked for again after a lost connection: it costs nothing', async () => {
		const { client, sent, drive } = arrange([reply(504), reply(200, { data: [] })]);
		await expect(drive(listModels(client))).resolves.toEqual([]);
		expect(sent).toHaveLength(2);
	});

	test('that is none names the field which is missing', async () => {
		const { client, failure } = arrange([reply(200, { models: [] })]);
		const { message } = await failure(listModels(client));
		expect(message).toMatch(/^The gateway’s model list .*: field "data": missing$/);
	});
});

describe('a search', () => {
	test.each([
		[undefined, ['zeta-2', 'Alpha-Image-1.5', 'alpha-mini', 'zeta-2']],
		['  ', ['zeta-2', 'Alpha-Image-1.5', 'alpha-mini', 'zeta-2']],
		['ALPHA', ['Alpha-Image-1.5', 'alpha-mini']],
		[' image ', ['Alpha-Image-1.5']],
		['1.5', ['Alpha-Image-1.5']],
		['.*', []],
		['gamma', []],
	])('for %j finds %j, in the gateway’s order', (search, ids) => {
		expect(findModels(MODELS, search).map(({ id }) => id)).toEqual(ids);
	});
});
