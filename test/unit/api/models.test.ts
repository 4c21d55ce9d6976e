import { request } from '../../../nodes/shared/api/http/request';
import type { Client } from '../../../nodes/shared/api/http/client';
import { adviseOnModel } from '../../../nodes/shared/api/models/advise-on-model';
import { findModels, listModels } from '../../../nodes/shared/api/models/models';
import { arrange, expectError, fail, fault, reply, START, succeed, type Exchange } from './arrange';

const MODELS = [
	{ id: 'zeta-2', object: 'model' },
	{ id: 'Alpha-Image-1.5', object: 'model', owned_by: 'someone', images: true },
	{ id: 'alpha-mini', object: 'something else' },
	{ id: 'zeta-2', object: 'model' },
];

test('the list of models comes as sent: its order, every entry, every field', async () => {
	const list = reply(200, { object: 'list', data: MODELS, more: 1 });
	const { value, sent } = await succeed([list], listModels);
	expect(value).toEqual(MODELS);
	expect(sent).toEqual([{ method: 'GET', path: '/models', timeoutMs: 60_000, at: START }]);
});

test('the list of models may be empty, and is asked for again: it costs nothing', async () => {
	const { value, sent } = await succeed([reply(504), reply(200, { data: [] })], listModels);
	expect([value, sent.length]).toEqual([[], 2]);
});

test('a list of models that is none names the field which is missing', async () => {
	const { message, details } = (await fail([reply(200, { models: [] })], listModels)).error;
	expect([details.retryable, details.maybeExecuted]).toEqual([true, undefined]);
	expect(message).toMatch(/^The gateway’s model list .*: field "data": missing$/);
});

test.each([
	[undefined, ['zeta-2', 'Alpha-Image-1.5', 'alpha-mini', 'zeta-2']],
	['  ', ['zeta-2', 'Alpha-Image-1.5', 'alpha-mini', 'zeta-2']],
	['ALPHA', ['Alpha-Image-1.5', 'alpha-mini']],
	[' image ', ['Alpha-Image-1.5']],
	['.*', []],
])('a search for %j finds %j, in the gateway’s order', (search, ids) => {
	expect(findModels(MODELS, search).map(({ id }) => id)).toEqual(ids);
});

const UNKNOWN = reply(404, {
	error: { code: 'model_not_found', message: 'The model `gpt-5` does not exist' },
});
const LIST = (...ids: string[]) => reply(200, { object: 'list', data: ids.map((id) => ({ id })) });

function arranged(script: Exchange[]) {
	const { client, sent, failure } = arrange(script, { maxRetries: 0, run: {} });
	const asking: Client = {
		...client,
		adviseOnModel: async (body, failed) => await adviseOnModel(client, body, failed),
	};
	const path = '/responses';
	return {
		sent,
		asked: async (model: unknown = 'gpt-5') =>
			await failure(request(asking, 'response', { method: 'POST', path, body: { model } })),
		edited: async (body: FormData) =>
			await failure(request(asking, 'image', { method: 'POST', path, body })),
		looked: async () => await failure(request(asking, 'read', { method: 'GET', path })),
	};
}

test('a model that the list lacks is told with the nearest ones', async () => {
	const list = LIST('aurora', 'gpt-4', 'gpt-5.4', 'claude', 'gpt-5-mini');
	const { asked, sent } = arranged([UNKNOWN, list]);
	const error = await asked();
	const requests = sent.map(({ method, path }) => `${method} ${path}`);
	expect(requests).toEqual(['POST /responses', 'GET /models']);
	const advice =
		'The key’s list has no model "gpt-5": it has 5 models, such as "gpt-5.4", "gpt-5-mini", "gpt-4". Select one from the list.';
	const says = /\(HTTP 404, model_not_found\): The model `gpt-5` does not exist/;
	expectError(error, 'ApiError', says, { httpStatus: 404, code: 'model_not_found', advice });
});

const LACKS = 'The key’s list has no model "gpt-5": it';
const HAS = 'The key’s list has the model "gpt-5",';
const NOT_NOW = `${HAS} but no account of the group takes it at the moment: use another model, or ask the gateway’s operator.`;

test.each([
	[['a', 'b'], `${LACKS} has "a", "b". Select one from the list.`],
	[[], `${LACKS} is empty. Ask the gateway’s operator for models.`],
	[['gpt-5'], NOT_NOW],
	[['gpt-*'], NOT_NOW],
])('the list %j is told', async (ids, advice) => {
	const { asked } = arranged([UNKNOWN, LIST(...ids)]);
	expect((await asked()).details.advice).toBe(advice);
});

test('the list is asked once a run', async () => {
	const { asked, sent } = arranged([UNKNOWN, LIST('a'), UNKNOWN, UNKNOWN]);
	for (const model of ['x', 'a', 'y']) await asked(model);
	expect(sent.filter(({ path }) => path === '/models')).toHaveLength(1);
});

test.each<[string, Exchange]>([
	['fails', reply(500)],
	['is lost', fault('lost')],
	['is no list', reply(200, 'hello')],
])('a look at the list that %s changes nothing, and is not repeated', async (_, exchange) => {
	const { asked, sent } = arranged([UNKNOWN, exchange, UNKNOWN]);
	const advice = /^No account of the key’s group has this model/;
	for (let n = 0; n < 2; n++)
		expectError(await asked(), 'ApiError', /./, { httpStatus: 404, advice });
	expect(sent.filter(({ path }) => path === '/models')).toHaveLength(1);
});

test.each<[string, Exchange]>([
	['a key', reply(401, { code: 'INVALID_API_KEY' })],
	['a key that may not use the model', reply(401, { error: { type: 'key_model_access_denied' } })],
	['a field', reply(400, { error: { code: 'invalid_value', message: 'bad size' } })],
	['a path', reply(404, '404 page not found')],
	['a refusal', reply(400, { error: { code: 'moderation_blocked' } })],
])('the list is not asked where the error is about %s', async (_, exchange) => {
	const { asked, sent } = arranged([exchange]);
	await asked();
	expect(sent).toHaveLength(1);
});

test('it is asked on a 404 without a reason, also for an upload, whose tasks may be off', async () => {
	const script = [reply(404, { error: { message: 'because' } }), LIST('gpt-5')];
	const RIGHT = `${HAS} and the Base URL is right.`;
	expect((await arranged(script).asked()).details.advice).toBe(
		`${RIGHT} The gateway may not offer the model for this: use another one.`,
	);
	const form = new FormData();
	form.set('model', 'gpt-5');
	expect((await arranged(script).edited(form)).details.advice).toBe(
		`${RIGHT} For images, the gateway’s asynchronous tasks may be turned off.`,
	);
});

test('without a model in the request, and for a look, the list is not asked', async () => {
	for (const model of ['', 5, null]) {
		const { asked, sent } = arranged([UNKNOWN]);
		await asked(model);
		expect(sent).toHaveLength(1);
	}
	const { looked, sent } = arranged([UNKNOWN]);
	await looked();
	expect(sent).toHaveLength(1);
});
