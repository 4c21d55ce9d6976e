import type { WorkflowFile } from '../../scripts/n8n/n8n-server';
import { byId, image, inARow, ours, respondedWithFile, webhook } from '../../scripts/n8n/workflows';

type Node = WorkflowFile['nodes'][number];

/** The data table in which a workflow notes what it submitted. */
export const TABLE = { name: 'Image tasks', columns: ['task_id', 'prompt'] };

/** A node that waits for a POST to `/webhook/<path>`. */
const call = (path: string, given: Record<string, unknown>) => webhook('Call', path, given);

/** A node that makes an item of each prompt in the body. */
const EACH_PROMPT: Node = {
	name: 'Each Prompt',
	type: 'n8n-nodes-base.splitOut',
	typeVersion: 1,
	parameters: { fieldToSplitOut: 'body.prompts', options: { destinationFieldName: 'prompt' } },
	position: [0, 0],
};

/** A node that does something with the rows of the table. */
function table(name: string, parameters: Record<string, unknown>): Node {
	const dataTableId = { __rl: true, mode: 'name', value: TABLE.name };
	return {
		name,
		type: 'n8n-nodes-base.dataTable',
		typeVersion: 1,
		parameters: { resource: 'row', dataTableId, ...parameters },
		position: [0, 0],
	};
}

/** A small picture for a prompt: this is about n8n, not about drawing. */
const small = (prompt: string) => image('Picture', prompt, { size: '256x256' });

/** A node that waits for a task that was submitted before. */
const waiting = { resource: 'task', operation: 'wait', taskId: '={{ $json.task_id }}' };
const wait = (): Node => ours('Picture', 'modelAccessImage', waiting);

/** Answers with the picture itself, by a node of its own. */
const byAnswerNode = inARow('by-answer-node', [
	call('by-answer-node', { responseMode: 'responseNode' }),
	small('={{ $json.body.prompt }}'),
	respondedWithFile('Answer'),
]);

/** Answers with the file of its last node. */
const fromLastNode = inARow('from-last-node', [
	call('from-last-node', { responseMode: 'lastNode', responseData: 'firstEntryBinary' }),
	small('={{ $json.body.prompt }}'),
]);

/** Answers at once, submits an image for each prompt and waits for them in the same node. */
const waits = inARow('waits', [
	call('waits', { responseMode: 'onReceived' }),
	EACH_PROMPT,
	small('={{ $json.prompt }}'),
]);

const drawing = small('={{ $json.prompt }}');
const submit: Node = {
	...drawing,
	name: 'Submit',
	parameters: { ...drawing.parameters, waitForCompletion: false },
};

/** Answers at once, submits an image for each prompt, notes the tasks, and only then waits. */
const notes = inARow(
	'notes',
	[
		call('notes', { responseMode: 'onReceived' }),
		EACH_PROMPT,
		submit,
		table('Note', {
			operation: 'insert',
			columns: {
				mappingMode: 'defineBelow',
				value: {
					task_id: '={{ $json.task_id }}',
					prompt: "={{ $('Each Prompt').item.json.prompt }}",
				},
				schema: TABLE.columns.map((id) => ({ id, displayName: id, display: true, type: 'string' })),
			},
		}),
		wait(),
	],
	{ saveExecutionProgress: true },
);

/** Fetches the pictures of all tasks in the table. */
const collects = inARow('collects', [
	call('collects', { responseMode: 'lastNode', responseData: 'allEntries' }),
	table('Noted', { operation: 'get', matchType: 'anyCondition', filters: {}, returnAll: true }),
	wait(),
]);

/** Fetches the pictures of the tasks that its caller names. */
const fetches = inARow('fetches', [
	call('fetches', { responseMode: 'lastNode', responseData: 'allEntries' }),
	{
		...EACH_PROMPT,
		name: 'Each Task',
		parameters: { fieldToSplitOut: 'body.tasks', options: { destinationFieldName: 'task_id' } },
	},
	wait(),
]);

/** Answers with a model's words while they come. */
const streams = inARow('streams', [
	call('streams', { responseMode: 'streaming' }),
	ours('Answer', 'modelAccess', {
		resource: 'response',
		operation: 'create',
		model: byId('aurora-text-1'),
		inputType: 'text',
		prompt: '={{ $json.body.prompt }}',
		stream: true,
	}),
]);

/** Each is called by its name, at `/webhook/<name>`. */
export const all = { byAnswerNode, fromLastNode, streams, waits, notes, collects, fetches };
