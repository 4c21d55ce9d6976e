import type { INodeProperties } from 'n8n-workflow';

/** @param show what the prompt is for: `What the image should show` */
export function promptField(placeholder: string, show: string): INodeProperties {
	return {
		displayName: 'Prompt',
		name: 'prompt',
		type: 'string',
		typeOptions: { rows: 4 },
		required: true,
		default: '',
		placeholder,
		description: show,
	};
}
