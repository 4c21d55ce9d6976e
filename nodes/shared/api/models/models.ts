import { sanitizeForMessage } from '../errors/sanitize';
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

/** Characters of a name that a list shows. */
const LONGEST_NAME = 100;

/** A model as a list for people shows it: its ID, behind its name if the gateway gives it one. */
export function getLabel({ id, display_name: name }: Model): string {
	const text = typeof name === 'string' ? sanitizeForMessage(name, LONGEST_NAME).trim() : '';
	return text === '' || text === id ? id : `${text} (${id})`;
}

/**
 * The same models, those first that make images. Where the list does not say what a model makes, its
 * ID and name do.
 */
export function imageModelsFirst(models: Model[]): Model[] {
	const draws = (model: Model) =>
		saysThatItDraws(model) ?? /image|imagine/i.test(`${model.id} ${String(model.display_name)}`);
	return [...models.filter(draws), ...models.filter((model) => !draws(model))];
}

/** What a model's entry says of its output; undefined if it says nothing. */
function saysThatItDraws(model: Model): boolean | undefined {
	const { output_modalities: own, architecture, mode } = model;
	const inner = (architecture as { output_modalities?: unknown } | null | undefined)
		?.output_modalities;
	const modalities = [own, inner].find(Array.isArray);
	if (modalities) return modalities.includes('image');
	return typeof mode === 'string' ? mode === 'image_generation' : undefined;
}
