import type { ILoadOptionsFunctions, INodeListSearchResult, INodeProperties } from 'n8n-workflow';
import { ModelAccessError } from '../../api/errors/errors';
import { imageModelsFirst, isPattern, getLabel, listModels } from '../../api/models/models';
import type { Model } from '../../api/schemas';
import { createClient } from '../http/client';
import { connect } from '../http/connection';
import { nodeError } from '../errors';
import { n8nClock } from '../clock';
import { textParameter } from './text';

/** The model field of every operation: picked from the gateway's list, or its exact ID. */
export const modelPicker: INodeProperties = {
	displayName: 'Model',
	name: 'model',
	type: 'resourceLocator',
	required: true,
	default: { mode: 'list', value: '' },
	description: 'The model to use. The list holds every model that your key may use.',
	modes: [
		{
			displayName: 'From List',
			name: 'list',
			type: 'list',
			placeholder: 'Select a model…',
			typeOptions: { searchListMethod: 'searchModels', searchable: true },
		},
		{
			displayName: 'By ID',
			name: 'id',
			type: 'string',
			placeholder: 'e.g. gpt-5-mini',
			hint: 'The exact ID: case, hyphens and version suffix matter',
		},
	],
};

/**
 * Reads the picker.
 * @param value its ID, as n8n extracted it
 * @throws {ValidationError} it is a list or an object
 */
export function readModel(value: unknown): string | undefined {
	return textParameter(value, modelPicker.displayName);
}

/** A user waits in front of an open list. */
const BOUNDS = { timeoutMs: 20_000, totalMs: 20_000, maxRetries: 1 };

/**
 * Fills the model picker with the models that a request may name; patterns are left out.
 * @throws {NodeApiError|NodeOperationError} shown in the list's place
 */
export async function searchModels(
	this: ILoadOptionsFunctions,
	filter?: string,
): Promise<INodeListSearchResult> {
	return await fillPicker(this, filter, (models) => models);
}

/** The same for nodes that make images: the models that do come first, none is left out. */
export async function searchImageModels(
	this: ILoadOptionsFunctions,
	filter?: string,
): Promise<INodeListSearchResult> {
	return await fillPicker(this, filter, imageModelsFirst);
}

async function fillPicker(
	context: ILoadOptionsFunctions,
	filter: string | undefined,
	order: (models: Model[]) => Model[],
): Promise<INodeListSearchResult> {
	try {
		const client = createClient(await connect(context, n8nClock), BOUNDS);
		const models = (await listModels(client)).filter((model) => !isPattern(model));
		if (models.length === 0) throw noModel();
		const wanted = (filter ?? '').trim().toLowerCase();
		return {
			results: order(models)
				.map((model) => ({ name: getLabel(model), value: model.id }))
				.filter(({ name }) => name.toLowerCase().includes(wanted)),
		};
	} catch (error) {
		throw nodeError(context.getNode(), error, undefined);
	}
}

function noModel(): ModelAccessError {
	return new ModelAccessError('The gateway lists no model that this key may use', {
		advice:
			'Select By ID and enter the model’s exact ID. If you do not know one, look at the key’s models in the gateway’s console, or ask its operator.',
		retryable: false,
	});
}
