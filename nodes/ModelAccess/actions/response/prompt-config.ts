import type { IDataObject, INodeProperties } from 'n8n-workflow';
import { jsonObjectParameter, omitUndefined } from '../../../shared/n8n/fields/parameters';
import { textParameter } from '../../../shared/n8n/fields/text';

/** The option for a prompt that the gateway stores. */
export const promptConfigField: INodeProperties = {
	displayName: 'Prompt Template',
	name: 'promptConfig',
	type: 'fixedCollection',
	default: { promptOptions: {} },
	placeholder: 'Set prompt template',
	description: 'A prompt template that the gateway stores',
	options: [
		{
			displayName: 'Prompt Template',
			name: 'promptOptions',
			values: [
				{
					displayName: 'Prompt ID',
					name: 'promptId',
					type: 'string',
					default: '',
					placeholder: 'e.g. pmpt_abc123',
					description: 'The ID of the template',
				},
				{
					displayName: 'Version',
					name: 'version',
					type: 'string',
					default: '',
					description: 'The version of the template; the current one if empty',
				},
				{
					displayName: 'Variables',
					name: 'variables',
					type: 'json',
					default: '{}',
					description: 'Values for the variables of the template, as a JSON object',
				},
			],
		},
	],
};

/**
 * Reads the option as `prompt` of a request.
 * @returns undefined if it names no prompt
 * @throws {ValidationError} names the field
 */
export function readPromptConfig(value: unknown): Record<string, unknown> | undefined {
	const given = (value as { promptOptions?: IDataObject } | undefined)?.promptOptions ?? {};
	const id = textParameter(given.promptId, 'Prompt ID')?.trim();
	if (!id) return undefined;
	const variables = jsonObjectParameter(given.variables, 'Variables');
	return omitUndefined({
		id,
		version: textParameter(given.version, 'Version')?.trim(),
		variables: Object.keys(variables).length > 0 ? variables : undefined,
	});
}
