import type { ErrorDetails } from '../errors/errors';
import { sanitizeField, sanitizeForMessage } from '../errors/sanitize';
import type { Client, Message } from '../http/request';
import { listModels } from './models';

/** What is known of a failure, of a request or of a task. */
export type ToldFailure = Pick<ErrorDetails, 'finding' | 'advice' | 'httpStatus'>;

/** Milliseconds for the look at the list: the error waits for it. */
const LONGEST_LOOK_MS = 20_000;

/** How many models of the list an advice names. */
const MOST_NAMES = 3;

/**
 * Reads the key's model list if the gateway's answer is about the model. This is free, and happens
 * once a run.
 * @param body of the request that failed
 * @returns what the list says and what to do. Undefined if the error is about something else, or
 * the list cannot be read
 */
export async function adviseOnModel(
	client: Client,
	body: Message['body'],
	failure: ToldFailure,
): Promise<string | undefined> {
	const model = getModel(body);
	if (model === undefined || !isAboutModel(failure) || client.run === undefined) return undefined;
	const ids = await (client.run.modelIds ??= readModelIds(client));
	if (ids === undefined) return undefined;
	const name = sanitizeField(client.redact, model, 200)!;
	return ids.some((id) => isModel(id, model))
		? adviseOnListed(name, failure)
		: adviseOnUnlisted(client, name, ids);
}

/** A 404 without a message is about the address or the model; the list tells which. */
function isAboutModel({ finding, httpStatus }: ToldFailure): boolean {
	return finding === 'model' || (finding === undefined && httpStatus === 404);
}

function getModel(body: Message['body']): string | undefined {
	const model: unknown = body instanceof FormData ? body.get('model') : body?.model;
	return typeof model === 'string' && model !== '' ? model : undefined;
}

async function readModelIds(client: Client): Promise<string[] | undefined> {
	const timeoutMs = Math.min(client.timeoutMs, LONGEST_LOOK_MS);
	try {
		const models = await listModels({ ...client, timeoutMs, maxRetries: 0 });
		return models.map(({ id }) => id);
	} catch {
		// The first failure is what the reader has to know.
		return undefined;
	}
}

/** An entry of a list may be a pattern such as `gpt-*`. */
function isModel(id: string, model: string): boolean {
	const [start = '', end] = id.split('*');
	if (end === undefined) return id === model;
	return model.startsWith(start) && model.endsWith(end);
}

function adviseOnListed(name: string, { finding, advice }: ToldFailure): string {
	const listed = `The key’s list has the model "${name}"`;
	return finding === 'model'
		? `${listed}, but no account of the group takes it at the moment: use another model, or ask the gateway’s operator.`
		: `${listed}, and the Base URL is right. ${adviceWithoutList(advice)}`;
}

/** What of an advice on a 404 is left once the list is read. */
function adviceWithoutList(advice: string): string {
	const [, ...rest] = advice.split(/(?<=\.) (?=For images)/);
	return rest.join(' ') || 'The gateway may not offer the model for this: use another one.';
}

function adviseOnUnlisted(client: Client, name: string, ids: string[]): string {
	const start = `The key’s list has no model "${name}"`;
	if (ids.length === 0) return `${start}: it is empty. Ask the gateway’s operator for models.`;
	const nearest = [...ids].sort((a, b) => likeness(b, name) - likeness(a, name));
	const names = nearest.slice(0, MOST_NAMES).map((id) => {
		return `"${sanitizeForMessage(client.redact(id), 100)}"`;
	});
	const all = ids.length > MOST_NAMES ? `: it has ${ids.length} models, such as` : ': it has';
	return `${start}${all} ${names.join(', ')}. Select one from the list.`;
}

/** How many characters two IDs have in common at their beginning. */
function likeness(id: string, name: string): number {
	let length = 0;
	while (length < name.length && id[length] === name[length]) length++;
	return length;
}
