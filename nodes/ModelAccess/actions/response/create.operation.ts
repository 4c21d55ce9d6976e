import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import {
	checkResponseRequest,
	createResponse,
	simplifyResponse,
} from '../../../shared/client/response';
import type { ItemScope } from '../../../shared/n8n/items';
import { modelPicker } from '../../../shared/n8n/model-picker';
import type { Operation } from '../../../shared/n8n/operation';
import {
	concurrencyOption,
	extraBodyOption,
	maxRetriesOption,
	optionsCollection,
	timeoutOption,
} from '../../../shared/n8n/option-fields';
import { jsonObjectParameter, numberParameter, onlySet } from '../../../shared/n8n/parameters';

/** Response → Create: `POST /v1/responses`. */
export const create: Operation = {
	value: 'create',
	name: 'Create',
	action: 'Create a response',
	description: 'Get a model’s answer to a text',
	properties: [
		modelPicker,
		{
			displayName: 'Prompt',
			name: 'prompt',
			type: 'string',
			typeOptions: { rows: 4 },
			required: true,
			default: '',
			placeholder: 'e.g. Summarize this in one sentence: {{ $json.text }}',
			description: 'What the model should answer to',
		},
		{
			displayName: 'Simplify',
			name: 'simplify',
			type: 'boolean',
			default: true,
			description: 'Whether to return a simplified version of the response instead of the raw data',
		},
		optionsCollection(
			{
				displayName: 'Instructions',
				name: 'instructions',
				type: 'string',
				typeOptions: { rows: 3 },
				default: '',
				placeholder: 'e.g. Answer in French',
				description: 'How the model should behave, apart from the prompt',
			},
			{
				displayName: 'Max Output Tokens',
				name: 'maxOutputTokens',
				type: 'number',
				typeOptions: { minValue: 1 },
				default: 1024,
				description: 'How long the answer may become. Thinking counts as well.',
			},
			{
				displayName: 'Temperature',
				name: 'temperature',
				type: 'number',
				typeOptions: { minValue: 0, maxValue: 2, numberPrecision: 2 },
				default: 1,
				description: 'How freely the model chooses its words: 0 is strict, higher is freer',
			},
			{
				displayName: 'Store',
				name: 'store',
				type: 'boolean',
				default: false,
				description: 'Whether the gateway keeps the response. Sent only when this option is added.',
			},
			extraBodyOption('{ "top_p": 0.9 }'),
			timeoutOption(300, 'How long to wait for the answer to one request'),
			maxRetriesOption,
			concurrencyOption,
		),
	],
	async run(item: ItemScope): Promise<INodeExecutionData[]> {
		const body = checkResponseRequest(requestBody(item));
		const timeoutMs =
			numberParameter(item.options.timeout, { field: 'Timeout', fallback: 300, min: 1 }) * 1000;
		const client = item.client({
			timeoutMs,
			maxRetries: numberParameter(item.options.maxRetries, {
				field: 'Max Retries',
				fallback: 3,
				min: 0,
			}),
			deadline: item.connection.time.now() + timeoutMs,
		});
		const created = await createResponse(client, body);
		const json =
			item.parameter('simplify') === false ? created.json : simplifyResponse(created, body);
		return [{ json: json as IDataObject }];
	},
};

function requestBody(item: ItemScope): Record<string, unknown> {
	const { instructions, maxOutputTokens, temperature, store, extraBody } = item.options;
	return {
		...onlySet({
			model: item.parameter('model'),
			input: item.parameter('prompt'),
			instructions,
			max_output_tokens: maxOutputTokens,
			temperature,
			store,
		}),
		...jsonObjectParameter(extraBody, 'Extra Body'),
	};
}
