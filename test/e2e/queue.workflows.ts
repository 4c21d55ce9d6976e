import { answering } from './arrange';
import { image, inARow, ours, webhook } from '../../scripts/n8n/workflows';

const call = (path: string, responseMode: string, responseData?: string) =>
	webhook('Call', path, { responseMode, responseData });

/** A node that makes an item of each entry of a list in the body. */
const each = (field: string, name: string) => ({
	name: 'Each',
	type: 'n8n-nodes-base.splitOut',
	typeVersion: 1,
	parameters: { fieldToSplitOut: `body.${field}`, options: { destinationFieldName: name } },
	position: [0, 0] as [number, number],
});

/** A small image for a prompt: this is about n8n, not about drawing. */
const small = (prompt: string) => image('Image', prompt, { size: '256x256' });

const taskId = '={{ $json.task_id }}';
const WAIT = ours('Wait', 'modelAccessImage', { resource: 'task', operation: 'wait', taskId });

/** Answers with the file of its last node. */
const draws = inARow('draws', [
	call('draws', 'lastNode', 'firstEntryBinary'),
	small('={{ $json.body.prompt }}'),
]);

/** Answers at once, submits an image for each prompt and waits for them in the same node. */
const waits = inARow('waits', [
	call('waits', 'onReceived'),
	each('prompts', 'prompt'),
	small('={{ $json.prompt }}'),
]);

const [, , drawing] = waits.nodes;
const submitting = { ...drawing?.parameters, waitForCompletion: false };

/** The same in two nodes, after each of which n8n saves the execution. */
const submits = inARow(
	'submits',
	[
		call('submits', 'onReceived'),
		each('prompts', 'prompt'),
		ours('Submit', 'modelAccessImage', submitting),
		WAIT,
	],
	{ saveExecutionProgress: true },
);

/** Fetches the images of the tasks that its caller names. */
const fetches = inARow('fetches', [
	call('fetches', 'lastNode', 'allEntries'),
	each('tasks', 'task_id'),
	WAIT,
]);

/** Answers with a model's words while they come. */
const streams = inARow('streams', [
	call('streams', 'streaming'),
	answering('={{ $json.body.prompt }}', { stream: true }),
]);

/** Each is called by its name, at `/webhook/<name>`. */
export const all = { draws, streams, waits, submits, fetches };
