import type { IDataObject, INodeProperties } from 'n8n-workflow';
import { ValidationError } from '../../api/errors/errors';
import { textOption } from './define-option';
import {
	optionalBoolean,
	jsonObjectParameter,
	jsonParameter,
	omitUndefined,
	optionalNumber,
} from './parameters';
import { textList } from './text';

type Tool = Record<string, unknown>;

const contextSize = textOption({
	displayName: 'Search Context Size',
	name: 'searchContextSize',
	type: 'options',
	options: [
		{ name: 'High', value: 'high' },
		{ name: 'Low', value: 'low' },
		{ name: 'Medium', value: 'medium' },
	],
	default: 'medium',
	description: 'How much of the search results the model reads',
});

const locationField = (displayName: string, name: string, placeholder: string) =>
	textOption({
		displayName,
		name,
		type: 'string',
		default: '',
		placeholder,
		description: 'Where the user is, so that the results fit',
	});

const country = locationField('Country', 'country', 'e.g. US, GB');
const region = locationField('Region', 'region', 'e.g. Minnesota');
const city = locationField('City', 'city', 'e.g. Minneapolis');

const DOMAINS = 'Allowed Domains';
const STORES = 'Vector Store IDs';

const webSearchField: INodeProperties = {
	displayName: 'Web Search',
	name: 'webSearch',
	type: 'collection',
	placeholder: 'Add option',
	default: { searchContextSize: 'medium' },
	description: 'Let the model search the web',
	options: [
		{
			displayName: DOMAINS,
			name: 'allowedDomains',
			type: 'string',
			default: '',
			placeholder: 'e.g. example.com, wikipedia.org',
			description: 'The only domains to search; separate several by commas',
		},
		city.field,
		country.field,
		region.field,
		contextSize.field,
	],
};

const fileSearchField: INodeProperties = {
	displayName: 'File Search',
	name: 'fileSearch',
	type: 'collection',
	placeholder: 'Add option',
	default: { vectorStoreIds: '[]' },
	description: 'Let the model search files that the gateway keeps',
	options: [
		{
			displayName: 'Filters',
			name: 'filters',
			type: 'json',
			default: '{}',
			description: 'Which files to search, by their attributes, as a JSON object',
		},
		{
			displayName: 'Max Results',
			name: 'maxResults',
			type: 'number',
			typeOptions: { minValue: 1, maxValue: 50 },
			default: 1,
			description: 'How many results to use at most',
		},
		{
			displayName: STORES,
			name: 'vectorStoreIds',
			type: 'json',
			default: '[]',
			description: 'The stores to search, as a JSON list of their IDs',
		},
	],
};

const codeInterpreterField = {
	displayName: 'Code Interpreter',
	name: 'codeInterpreter',
	type: 'boolean',
	default: true,
	description: 'Whether the model may write and run code',
} satisfies INodeProperties;

const imageGenerationField = {
	displayName: 'Image Generation',
	name: 'imageGeneration',
	type: 'boolean',
	default: true,
	description: 'Whether the model may generate images while it answers',
} satisfies INodeProperties;

const collection = (...options: INodeProperties[]): INodeProperties => ({
	displayName: 'Built-in Tools',
	name: 'builtInTools',
	type: 'collection',
	placeholder: 'Add built-in tool',
	default: {},
	description: 'Tools of the gateway that the model may use. Support depends on the model.',
	options,
});

/** The gateway's own tools. */
export const builtInToolsField = collection(
	codeInterpreterField,
	fileSearchField,
	imageGenerationField,
	webSearchField,
);

/** The same for an agent, which has no place for images of an answer. */
export const agentBuiltInToolsField = collection(
	codeInterpreterField,
	fileSearchField,
	webSearchField,
);

/**
 * Reads the field.
 * @param value what n8n evaluated
 * @returns `tools` of a request, undefined if none is chosen
 * @throws {ValidationError} names the field inside
 */
export function readBuiltInTools(value: unknown): Tool[] | undefined {
	const chosen = (value ?? {}) as IDataObject;
	const { webSearch, fileSearch } = chosen;
	const isChosen = ({ name, displayName }: { name: string; displayName: string }) =>
		optionalBoolean(chosen[name], displayName) === true;
	const tools: Tool[] = [
		...(webSearch ? [readWebSearch(webSearch as IDataObject)] : []),
		...(fileSearch ? [readFileSearch(fileSearch as IDataObject)] : []),
		...(isChosen(codeInterpreterField)
			? [{ type: 'code_interpreter', container: { type: 'auto' } }]
			: []),
		...(isChosen(imageGenerationField) ? [{ type: 'image_generation' }] : []),
	];
	return tools.length > 0 ? tools : undefined;
}

function readWebSearch(fields: IDataObject): Tool {
	const location = omitUndefined({
		country: trimmed(country.read(fields)),
		region: trimmed(region.read(fields)),
		city: trimmed(city.read(fields)),
	});
	const domains = textList(fields.allowedDomains, DOMAINS);
	return omitUndefined({
		type: 'web_search',
		search_context_size: contextSize.read(fields),
		filters: domains && { allowed_domains: domains },
		user_location:
			Object.keys(location).length > 0 ? { type: 'approximate', ...location } : undefined,
	});
}

const trimmed = (text: string | undefined) => text?.trim();

function readFileSearch(fields: IDataObject): Tool {
	const filters = jsonObjectParameter(fields.filters, 'Filters');
	return omitUndefined({
		type: 'file_search',
		vector_store_ids: readStores(fields.vectorStoreIds),
		filters: Object.keys(filters).length > 0 ? filters : undefined,
		max_num_results: optionalNumber(fields.maxResults, {
			field: 'Max Results',
			min: 1,
			whole: true,
		}),
	});
}

/** A JSON list, or IDs that are separated by commas. */
function readStores(value: unknown): string[] {
	const isJson = typeof value === 'string' && /^\s*[[{"]/.test(value);
	const given = isJson ? jsonParameter(value, STORES) : value;
	const stores = textList(given, STORES);
	if (stores) return stores;
	const advice = 'Enter the IDs of the stores to search, such as ["vs_1"].';
	throw new ValidationError(STORES, 'is empty', advice);
}
