import type { INodeProperties } from 'n8n-workflow';

/**
 * The field for what the model gets.
 * @param description what it is for: `What the image should show`
 */
export function promptField(placeholder: string, description: string): INodeProperties {
	return {
		displayName: 'Prompt',
		name: 'prompt',
		type: 'string',
		typeOptions: { rows: 4 },
		required: true,
		default: '',
		placeholder,
		description,
	};
}
