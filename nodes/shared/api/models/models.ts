import { request, type Client } from '../http/request';
import { checkReply, modelListSchema, type Model } from '../schemas';

/**
 * Lists the models that the key may use.
 * @returns every entry as the gateway sent it, in its order, unfiltered
 * @throws {ModelAccessError} see {@link request}
 * @see contract, "GET /v1/models"
 */
export async function listModels(client: Client): Promise<Model[]> {
	const answer = await request(client, 'read', { method: 'GET', path: '/models' });
	return checkReply(modelListSchema, answer, { what: 'model list', kind: 'read' }).data;
}

/**
 * The models whose ID contains a text, in any case.
 * @param search what the user typed; empty finds all
 */
export function findModels(models: Model[], search: string | undefined): Model[] {
	const wanted = (search ?? '').trim().toLowerCase();
	return models.filter(({ id }) => id.toLowerCase().includes(wanted));
}

/** Whether an entry of the list stands for many models, such as `gpt-*`: it is no ID to ask for. */
export function isPattern({ id }: Model): boolean {
	return id.includes('*');
}
