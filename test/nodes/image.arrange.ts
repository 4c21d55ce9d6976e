import type { IDataObject, INode, INodeExecutionData } from 'n8n-workflow';
import { ModelAccessApi } from '../../credentials/ModelAccessApi.credentials';
import type { Gateway, ImageTask } from '../../gateway';
import { runWorkflow, type RunWorkflowOptions, type WorkflowRun } from '../../scripts/engine/index';
import { expectNoSecret } from '../support/secrets';
import { imageNode, textNode, type Story } from './arrange';

/** A node of a workflow, its settings as n8n saves them. */
export type Placed = Pick<Partial<INode>, 'onError' | 'retryOnFail' | 'maxTries'> & {
	name: string;
	parameters: IDataObject;
	/** Our image node where left out. */
	type?: string;
	typeVersion?: number;
};

/** From which node to which, by output: `{ Start: [['Draw']] }`. */
export type Wires = Record<string, string[][]>;

export type WorkflowOptions = Pick<
	RunWorkflowOptions,
	'signal' | 'mode' | 'onNodeDone' | 'executionId'
> & {
	/** What the trigger delivers. */
	items?: INodeExecutionData[];
	/** Each node leads to the next where left out. */
	wires?: Wires;
};

/** Runs nodes behind a trigger called Start, in n8n's engine, on the story's clock. */
export async function runNodes(
	story: Story,
	nodes: Placed[],
	{ items, wires = inRow(['Start', ...nodes.map(({ name }) => name)]), ...rest }: WorkflowOptions,
): Promise<WorkflowRun> {
	const start = { name: 'Start', type: 'n8n-nodes-base.manualTrigger', parameters: {} };
	const run = await runWorkflow({
		workflow: {
			nodes: [start, ...nodes].map((node) => ({
				type: 'n8n-nodes-model-access.modelAccessImage',
				typeVersion: 1,
				position: [0, 0],
				...node,
			})),
			connections: Object.fromEntries(
				Object.entries(wires).map(([from, outputs]) => [
					from,
					{ main: outputs.map((to) => to.map((node) => ({ node, type: 'main', index: 0 }))) },
				]),
			),
		},
		nodeTypes: {
			'n8n-nodes-model-access.modelAccess': textNode(story.time),
			'n8n-nodes-model-access.modelAccessImage': imageNode(story.time),
		},
		triggerItems: items,
		credentials: { modelAccessApi: { ...story.access } },
		credentialTypes: [new ModelAccessApi()],
		time: story.time,
		...rest,
	});
	expectNoSecret(story.access.apiKey, run.data, run.logs, run.uiMessages, run.error);
	return run;
}

const inRow = (names: string[]): Wires =>
	Object.fromEntries(names.slice(0, -1).map((name, index) => [name, [[names[index + 1]!]]]));

/**
 * Compares what a gateway accepted with what the nodes said of it, run by run: no request is
 * accepted twice, and each accepted task's ID is in the output or the error. A task that failed may
 * be followed by another one, and need not be named then: there is nothing to fetch, now or later.
 *
 * Each item of a run has to have a request of its own, by which a task is told from the others.
 */
export class TaskBooks {
	/** How many tasks were accepted in all runs. */
	accepted = 0;
	/** What was not as it should be. */
	readonly problems: string[] = [];

	/** The same story, its runs of the image node looked at. */
	follow(story: Story): Story {
		const { gateway } = story;
		return {
			...story,
			image: async (...given) =>
				await this.over(
					gateway,
					async () => await story.image(...given),
					({ outputs }) => outputs,
				),
			imageError: async (...given) =>
				await this.over(
					gateway,
					async () => await story.imageError(...given),
					({ error }) => errorOf(error),
				),
		};
	}

	/** {@link runNodes}, the workflow looked at as a whole. */
	async workflow(
		story: Story,
		nodes: Placed[],
		{ repeats, ...options }: WorkflowOptions & { repeats?: number } = {},
	): Promise<WorkflowRun> {
		return await this.over(
			story.gateway,
			async () => await runNodes(story, nodes, options),
			({ data: { resultData }, error }) => [resultData.runData, error && errorOf(error as Error)],
			repeats,
		);
	}

	/**
	 * Looks at one run.
	 * @param left what the run left behind for its user
	 * @param repeats how often the same request is wanted
	 */
	async over<T>(
		{ tasks, requests }: Gateway,
		work: () => Promise<T>,
		left: (result: T) => unknown,
		repeats = 1,
	): Promise<T> {
		const before = tasks.length;
		const result = await work();
		const made = tasks.slice(before);
		this.accepted += made.length;
		const text = JSON.stringify(left(result));
		const alive = made.filter(({ failure }) => !failure);
		for (const { id } of alive) {
			if (!text.includes(id)) this.problems.push(`Task ${id} is lost`);
		}
		const bodies = alive.map((task) => bodyOf(task, requests));
		for (const body of new Set(bodies)) {
			const times = bodies.filter((other) => other === body).length;
			if (times > repeats) this.problems.push(`Accepted ${times} times: ${body}`);
		}
		return result;
	}
}

const bodyOf = ({ requestId }: ImageTask, requests: Gateway['requests']) =>
	JSON.stringify(requests.find(({ id }) => id === requestId)?.body);

/** What n8n shows of an error, and what it saves. */
const errorOf = (error: Error) => [error.message, error];
