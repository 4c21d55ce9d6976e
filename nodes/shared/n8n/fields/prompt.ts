import type { INodeProperties } from 'n8n-workflow';
import { textParameter } from './text';

const LABEL = 'Prompt';

/**
 * The field for what the model gets.
 * @param description what it is for: `What the image should show`
 */
export function promptField(placeholder: string, description: string): INodeProperties {
	return {
		displayName: LABEL,
		name: 'prompt',
		type: 'string',
		typeOptions: { rows: 4 },
		required: true,
		default: '',
		placeholder,
		description,
	};
}

/**
 * Reads the field.
 * @throws {ValidationError} it is a list or an object
 */
export function readPrompt(value: unknown): string | undefined {
	return textParameter(value, LABEL);
}
