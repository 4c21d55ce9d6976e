import type { IDataObject, INode, INodeExecutionData } from 'n8n-workflow';
import { imageBelongsTo, type Gateway } from '../../gateway';
import { readBinary, runWorkflow, type WorkflowRun } from '../../scripts/engine/index';
import { expectNoSecret } from '../support/secrets';
import { credentialOf, imageNode, textNode, type Harness } from './arrange';

/** A node of a workflow, its settings as n8n saves them. */
export type Placed = Pick<Partial<INode>, 'onError' | 'retryOnFail' | 'maxTries'> & {
	name: string;
	parameters: IDataObject;
	/** Our image node where left out. */
	type?: string;
	typeVersion?: number;
};

export type WorkflowOptions = {
	signal?: AbortSignal;
	/** What the trigger delivers. */
	items?: INodeExecutionData[];
	/** From which node to which, by output; each leads to the next where left out. */
	wires?: Record<string, string[][]>;
	/** How often the same request is wanted. */
	repeats?: number;
};

/** Runs nodes behind a trigger called Start, in n8n's engine; its tasks are {@link checkTasks checked}. */
export async function runChecked(
	harness: Harness,
	nodes: Placed[],
	{ items, wires, repeats, signal }: WorkflowOptions = {},
): Promise<WorkflowRun> {
	const start = { name: 'Start', type: 'n8n-nodes-base.manualTrigger', parameters: {} };
	const names = ['Start', ...nodes.map(({ name }) => name)];
	const inRow = Object.fromEntries(nodes.map(({ name }, n) => [names[n]!, [[name]]]));
	const leadTo = (outputs: string[][]) => ({
		main: outputs.map((to) => to.map((node) => ({ node, type: 'main', index: 0 }))),
	});
	const wired = Object.entries(wires ?? inRow);
	const connections = wired.map(([from, outputs]) => [from, leadTo(outputs)] as const);
	const type = 'n8n-nodes-model-access.modelAccessImage';
	const placed = { type, typeVersion: 1, position: [0, 0] as [number, number] };
	const run = async () =>
		await runWorkflow({
			workflow: {
				nodes: [start, ...nodes].map((node) => ({ ...placed, ...node })),
				connections: Object.fromEntries(connections),
			},
			nodeTypes: {
				'n8n-nodes-model-access.modelAccess': textNode(harness.time),
				[type]: imageNode(harness.time),
			},
			triggerItems: items,
			...credentialOf(harness.access),
			time: harness.time,
			signal,
		});
	const left = ({ data: { resultData }, error }: WorkflowRun) => [
		resultData.runData,
		error && errorOf(error),
	];
	const ended = await checkTasks(harness.gateway, run, left, repeats);
	const { data, logs, uiMessages, error } = ended;
	expectNoSecret(harness.access.apiKey, data, logs, uiMessages, error);
	return ended;
}

/** The same harness; each run of its image node is {@link checkTasks checked}. */
export function checkingTasks(harness: Harness): Harness {
	const checked =
		<T, G extends unknown[]>(run: (...given: G) => Promise<T>, left: (ended: T) => unknown) =>
		async (...given: G) =>
			await checkTasks(harness.gateway, async () => await run(...given), left);
	return {
		...harness,
		image: checked(harness.image, ({ outputs }) => outputs),
		imageError: checked(harness.imageError, ({ error }) => errorOf(error)),
	};
}

/**
 * Checks that no request is accepted twice, and that output or error name each task that did not
 * fail. Each item of a run needs a request of its own, by which its task is told from the others.
 */
async function checkTasks<T>(
	{ tasks, requests }: Gateway,
	work: () => Promise<T>,
	left: (result: T) => unknown,
	repeats = 1,
): Promise<T> {
	const before = tasks.length;
	const result = await work();
	const text = JSON.stringify(left(result));
	const alive = tasks.slice(before).filter(({ failure }) => !failure);
	const bodies = alive.map(({ requestId }) =>
		JSON.stringify(requests.find(({ id }) => id === requestId)?.body),
	);
	const times = (body: unknown) => bodies.filter((other) => other === body).length;
	expect(alive.filter(({ id }) => !text.includes(id))).toEqual([]);
	expect(bodies.filter((body) => times(body) > repeats)).toEqual([]);
	return result;
}

/** What n8n shows of an error, and what it saves. */
const errorOf = (error: Error) => [error.message, error];

/** Checks that each item has a file with the image of its prompt, and returns the files. */
export async function expectImages(items: INodeExecutionData[], prompts: string[], field = 'data') {
	const files = await Promise.all(items.map(({ binary }) => readBinary(binary?.[field])));
	const belong = files.map((file, n) => imageBelongsTo(prompts[n] ?? '', file));
	expect(belong).toEqual(prompts.map(() => true));
	return files;
}
