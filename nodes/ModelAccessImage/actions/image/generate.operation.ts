import type { INodeExecutionData } from 'n8n-workflow';
import type { ItemScope } from '../../../shared/n8n/runner/run-items';
import { modelPicker } from '../../../shared/n8n/fields/model-picker';
import type { Operation } from '../../../shared/n8n/runner/operation';
import { optionsCollection } from '../../../shared/n8n/fields/options';
import {
	imageRequestOf,
	submissionFields,
	submissionOptions,
	submitAndCollect,
} from '../../submit';
import { promptField } from './image-fields';

/** Image → Generate: `POST /v1/images/generations/async`, then polls and downloads. */
export const generate: Operation = {
	value: 'generate',
	name: 'Generate',
	action: 'Generate an image',
	description: 'Create images from a text and get them as files',
	properties: [
		modelPicker,
		promptField('e.g. A lighthouse at dusk, watercolor', 'What the image should show'),
		...submissionFields,
		optionsCollection(...submissionOptions),
	],
	async run(item: ItemScope): Promise<INodeExecutionData[]> {
		return await submitAndCollect(item, async () => {
			const request = imageRequestOf(item);
			return { kind: 'generations', request, body: request, identity: request };
		});
	},
};
