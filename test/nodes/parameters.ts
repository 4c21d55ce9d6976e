import type { IDataObject } from 'n8n-workflow';
import { getAll } from '../../nodes/ModelAccess/actions/model/getAll.operation';
import { create } from '../../nodes/ModelAccess/actions/response/create.operation';
import { generate } from '../../nodes/ModelAccessImage/actions/image/generate.operation';
import { get } from '../../nodes/ModelAccessImage/actions/task/get.operation';
import { wait } from '../../nodes/ModelAccessImage/actions/task/wait.operation';
import type { Operation } from '../../nodes/shared/n8n/runner/operation';
import { placeOptions } from '../support/place-options';

export type { IDataObject };

/** A resource locator as the editor saves it. */
export const byId = (id: string) => ({ __rl: true, mode: 'id', value: id });

/** Parameters of an operation; its options are given together, in `options`. */
type Parameters = (given?: IDataObject) => IDataObject;

const parametersOf =
	({ properties }: Operation, initial: IDataObject): Parameters =>
	(given = {}) =>
		placeOptions(properties, { ...initial, ...given });

export const getModels = parametersOf(getAll, { resource: 'model', operation: 'getAll' });

export const createResponse = parametersOf(create, {
	resource: 'response',
	operation: 'create',
	model: byId('aurora-text-1'),
	prompt: 'Hello there',
});

export const generateImage = parametersOf(generate, {
	resource: 'image',
	operation: 'generate',
	model: byId('aurora-image-1'),
	prompt: 'A boat',
});

/** The images of an edit: files of the item, by the names of their fields. */
export const sourceFiles = (...names: string[]): IDataObject => ({
	images: { image: names.map((name) => ({ source: 'binary', binaryPropertyName: name })) },
});

/** The images of an edit: addresses. */
export const sourceUrls = (...urls: string[]): IDataObject => ({
	images: { image: urls.map((url) => ({ source: 'url', url })) },
});

/** Parameters of Image → Edit, of an image at an address. */
export const editImage: Parameters = (given = {}) =>
	generateImage({
		prompt: 'More light',
		operation: 'edit',
		...sourceUrls('https://pictures.example.com/boat.png'),
		...given,
	});

export const getTask = (taskId: string, given = {}) =>
	placeOptions(get.properties, { resource: 'task', operation: 'get', taskId, ...given });

export const waitForTask = (taskId: string, given = {}) =>
	placeOptions(wait.properties, { resource: 'task', operation: 'wait', taskId, ...given });

/** Options of an answer, of Response → Create and of the chat model: what is set, and sent. */
export const ANSWER_OPTIONS: Array<[option: string, value: unknown, sent?: object]> = [
	['maxOutputTokens', 50, { max_output_tokens: 50 }],
	['temperature', 0.5, { temperature: 0.5 }],
	['topP', 0.9, { top_p: 0.9 }],
	['reasoningEffort', 'xhigh', { reasoning: { effort: 'xhigh', summary: 'concise' } }],
	['reasoningSummary', 'concise'],
	['verbosity', 'low'],
	['promptCacheKey', 'k', { prompt_cache_key: 'k' }],
	['include', 'reasoning.encrypted_content, b', { include: ['reasoning.encrypted_content', 'b'] }],
	['metadata', '{ "a": "b" }', { metadata: { a: 'b' } }],
	['safetyIdentifier', 's', { safety_identifier: 's' }],
	['store', false, { store: false }],
	['serviceTier', 'priority', { service_tier: 'priority' }],
	...['timeout', 'idleTimeout', 'maxRetries'].map((name): [string, unknown] => [name, 1]),
];
