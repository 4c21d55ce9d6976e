import type { INodeExecutionData, INodeProperties } from 'n8n-workflow';
import { checkImageRequest } from '../../../shared/client/image-request';
import { submitImageGeneration } from '../../../shared/client/image-task';
import type { ItemScope } from '../../../shared/n8n/items';
import { modelPicker } from '../../../shared/n8n/model-picker';
import type { Operation } from '../../../shared/n8n/operation';
import {
	concurrencyOption,
	extraBodyOption,
	optionsCollection,
} from '../../../shared/n8n/option-fields';
import { jsonObjectParameter, onlySet } from '../../../shared/n8n/parameters';
import {
	binaryPropertyField,
	deliveryOf,
	downloadImagesField,
	fileNameOption,
	maxFileSizeOption,
} from '../../delivery';
import {
	boundedClient,
	collect,
	requestOptions,
	taskOutput,
	waitingOf,
	waitingOptions,
} from '../../waiting';

const waitForCompletionField: INodeProperties = {
	displayName: 'Wait for Completion',
	name: 'waitForCompletion',
	type: 'boolean',
	default: true,
	description:
		'Whether to wait until the image is done. If off, the item holds the task, which Task → Wait can collect later.',
};

/** A field that only counts when the node waits for the image. */
const whenWaiting = (field: INodeProperties): INodeProperties => ({
	...field,
	displayOptions: { show: { ...field.displayOptions?.show, waitForCompletion: [true] } },
});

/** Image → Generate: `POST /v1/images/generations/async`, then polls and downloads. */
export const generate: Operation = {
	value: 'generate',
	name: 'Generate',
	action: 'Generate an image',
	description: 'Create images from a text and get them as files',
	properties: [
		modelPicker,
		{
			displayName: 'Prompt',
			name: 'prompt',
			type: 'string',
			typeOptions: { rows: 4 },
			required: true,
			default: '',
			placeholder: 'e.g. A lighthouse at dusk, watercolor',
			description: 'What the image should show',
		},
		waitForCompletionField,
		whenWaiting(downloadImagesField),
		whenWaiting(binaryPropertyField),
		optionsCollection(
			{
				displayName: 'Size',
				name: 'size',
				type: 'string',
				default: '1024x1024',
				placeholder: 'e.g. 1024x1024',
				description:
					'Width x height in pixels, or auto. Which sizes work depends on the model. Sent only when this option is added.',
			},
			{
				displayName: 'Number of Images',
				name: 'n',
				type: 'number',
				typeOptions: { minValue: 1 },
				default: 1,
				description:
					'How many images to make; each becomes an item of its own, and each is charged',
			},
			fileNameOption,
			maxFileSizeOption,
			extraBodyOption('{ "style": "vivid" }'),
			...waitingOptions,
			...requestOptions,
			concurrencyOption,
		),
	],
	async run(item: ItemScope): Promise<INodeExecutionData[]> {
		const { size, n, extraBody } = item.options;
		const body = checkImageRequest({
			...onlySet({ model: item.parameter('model'), prompt: item.parameter('prompt'), size, n }),
			...jsonObjectParameter(extraBody, 'Extra Body'),
		});
		const client = boundedClient(item);
		const wait = item.parameter('waitForCompletion') !== false;
		const waiting = waitingOf(item);
		const delivery = wait ? deliveryOf(item, client.timeoutMs) : undefined;

		const accepted = await submitImageGeneration(client, body);
		item.accepted(accepted.taskId);
		if (!delivery) return [taskOutput(accepted.taskId, accepted)];
		const origin = { taskId: accepted.taskId, model: body.model, prompt: body.prompt };
		return await collect(item, client, origin, { first: accepted, waiting, delivery });
	},
};
