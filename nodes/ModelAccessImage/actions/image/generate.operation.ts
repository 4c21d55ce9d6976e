import type { INodeExecutionData } from 'n8n-workflow';
import { promptField } from '../../../shared/n8n/fields/prompt';
import type { ItemScope, Operation } from '../../../shared/n8n/runner/operation';
import { modelPicker } from '../../../shared/n8n/fields/model-picker';
import { IMAGE_TOOL_FIELDS, readSubmitSettings } from '../../fields';
import { submitAndDeliver } from '../../submit';
import { readImageRequest, submitFields, submitOptions } from './fields';

/** Image → Generate: `POST /v1/images/generations/async`, then polls and downloads. */
export const generate: Operation = {
	value: 'generate',
	name: 'Generate',
	action: 'Generate an image',
	description: 'Generate images from a text prompt and get them as files',
	unit: 'image',
	toolDescription:
		'Generates an image from a text prompt. Returns the URL of the image (image_url), when the URL expires (expires_at), and the ID of the task (task_id). If image_url is missing, the image is not done yet.',
	toolFields: IMAGE_TOOL_FIELDS,
	properties: [
		modelPicker,
		promptField('e.g. A lighthouse at dusk, watercolor', 'What the image should show'),
		...submitFields,
		...submitOptions(),
	],
	async run(item: ItemScope): Promise<INodeExecutionData[]> {
		const settings = readSubmitSettings(item);
		const request = readImageRequest(item);
		const submission = { kind: 'generations', request, body: request, identity: request } as const;
		return await submitAndDeliver(settings, submission);
	},
};
