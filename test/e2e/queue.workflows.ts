import { answering } from './arrange';
import { image, inARow, ours, webhook } from '../../scripts/n8n/workflows';

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

type Nodes = Parameters<typeof inARow>[1];

/** A workflow that is called by its name, at `/webhook/<name>`. */
const called = (name: string, given: object, nodes: Nodes, settings?: object) =>
	inARow(name, [webhook('Call', name, { ...given }), ...nodes], { ...settings });

/** Answers with the file of its last node. */
const file = { responseMode: 'lastNode', responseData: 'firstEntryBinary' };
const draws = called('draws', file, [small('={{ $json.body.prompt }}')]);

const atOnce = { responseMode: 'onReceived' };
const prompts = each('prompts', 'prompt');

/** Answers at once, submits an image for each prompt and waits for them in the same node. */
const waits = called('waits', atOnce, [prompts, small('={{ $json.prompt }}')]);

const [, , drawing] = waits.nodes;
const submitting = { ...drawing?.parameters, waitForCompletion: false };
const SUBMIT = ours('Submit', 'modelAccessImage', submitting);

/** The same in two nodes, after each of which n8n saves the execution. */
const saving = { saveExecutionProgress: true };
const submits = called('submits', atOnce, [prompts, SUBMIT, WAIT], saving);

/** Fetches the images of the tasks that its caller names. */
const allItems = { responseMode: 'lastNode', responseData: 'allEntries' };
const fetches = called('fetches', allItems, [each('tasks', 'task_id'), WAIT]);

/** Answers with a model's words while they come. */
const answer = answering('={{ $json.body.prompt }}', { stream: true });
const streams = called('streams', { responseMode: 'streaming' }, [answer]);

export const all = { draws, streams, waits, submits, fetches };
