import type { Client } from '../../../nodes/shared/api/http/client';
import { adviseOnModel } from '../../../nodes/shared/api/models/advise-on-model';
import { findModels, listModels } from '../../../nodes/shared/api/models/models';
import { arrange, expectError, fault, reply, sending, succeed, type Exchange } from './arrange';

test('the list of models is asked for again: it costs nothing', async () => {
	const { value, sent } = await succeed([reply(504), reply(200, { data: [] })], listModels);
	expect(value).toEqual([]);
	const request = { method: 'GET', path: '/models', timeoutMs: 60_000 };
	expect(sent).toMatchObject([request, request]);
});

test('a search finds a part of an ID, in any case', () => {
	const [zeta, alpha] = [{ id: 'zeta-2' }, { id: 'Alpha-Image-1.5' }];
	expect([findModels([zeta, alpha], 'ALPHA'), findModels([zeta], '.*')]).toEqual([[alpha], []]);
});

const UNKNOWN = reply(404, {
	error: { code: 'model_not_found', message: 'The model `gpt-5` does not exist' },
});
const LIST = (...ids: string[]) => reply(200, { object: 'list', data: ids.map((id) => ({ id })) });

/** A client that looks at the list of models; the looks that it took. */
function arranged(...script: Exchange[]) {
	const { client, sent, failure } = arrange(script, { maxRetries: 0, run: {} });
	const asking: Client = {
		...client,
		adviseOnModel: async (body, failed) => await adviseOnModel(client, body, failed),
	};
	const fail = async (...given: Parameters<typeof sending>) =>
		await failure(sending(...given)(asking));
	const asked = async (model: unknown = 'gpt-5') => await fail('response', { model });
	return { fail, asked, looks: () => sent.filter(({ path }) => path === '/models').length };
}

test('a model that the list lacks is told with the nearest ones, by one look for the whole run', async () => {
	const list = LIST('aurora', 'gpt-4', 'gpt-5.4', 'claude', 'gpt-5-mini');
	const { asked, looks } = arranged(UNKNOWN, list, UNKNOWN, UNKNOWN);
	const error = await asked();
	const advice =
		'The key’s list has no model "gpt-5": it has 5 models, such as "gpt-5.4", "gpt-5-mini", "gpt-4". Select one from the list.';
	const says = /\(HTTP 404, model_not_found\): The model `gpt-5` does not exist/;
	expectError(error, 'ApiError', says, { httpStatus: 404, code: 'model_not_found', advice });
	for (const model of ['aurora', 'y']) await asked(model);
	expect(looks()).toBe(1);
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
	const { details } = await arranged(UNKNOWN, LIST(...ids)).asked();
	expect(details.advice).toBe(advice);
});

test.each<[string, Exchange]>([
	['fails', reply(500)],
	['is lost', fault('lost')],
	['is no list', reply(200, 'hello')],
])('a look at the list that %s changes nothing, and is not repeated', async (_, exchange) => {
	const { asked, looks } = arranged(UNKNOWN, exchange, UNKNOWN);
	const advice = /^No account of the key’s group has this model/;
	for (let n = 0; n < 2; n++)
		expectError(await asked(), 'ApiError', /./, { httpStatus: 404, advice });
	expect(looks()).toBe(1);
});

test.each<[string, Exchange]>([
	['a key', reply(401, { code: 'INVALID_API_KEY' })],
	['a key that may not use the model', reply(401, { error: { type: 'key_model_access_denied' } })],
	['a field', reply(400, { error: { code: 'invalid_value', message: 'bad size' } })],
	['a path', reply(404, '404 page not found')],
	['a refusal', reply(400, { error: { code: 'moderation_blocked' } })],
])('the list is not asked where the error is about %s', async (_, exchange) => {
	const { asked, looks } = arranged(exchange);
	await asked();
	expect(looks()).toBe(0);
});

test('it is asked on a 404 without a reason, also for an upload, whose tasks may be off', async () => {
	const script = [reply(404, { error: { message: 'because' } }), LIST('gpt-5')];
	const RIGHT = `${HAS} and the Base URL is right.`;
	expect((await arranged(...script).asked()).details.advice).toBe(
		`${RIGHT} The gateway may not offer the model for this: use another one.`,
	);
	const form = new FormData();
	form.set('model', 'gpt-5');
	expect((await arranged(...script).fail('image', form)).details.advice).toBe(
		`${RIGHT} For images, the gateway’s asynchronous tasks may be turned off.`,
	);
});

test('without a model in the request, and for a look, the list is not asked', async () => {
	const { asked, fail, looks } = arranged(UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN);
	for (const model of ['', 5, null]) await asked(model);
	await fail('read', { model: 'gpt-5' });
	expect(looks()).toBe(0);
});
