import type { IDataObject, INode, INodeExecutionData } from 'n8n-workflow';
import { ModelAccessApi } from '../../credentials/ModelAccessApi.credentials';
import { imageBelongsTo, type Gateway, type GatewayOptions, type ImageTask } from '../../gateway';
import { chanceOf } from '../../gateway/faults/catalogue';
import {
	readBinary,
	runWorkflow,
	type RunWorkflowOptions,
	type WorkflowRun,
} from '../../scripts/engine/index';
import { expectNoSecret } from '../support/secrets';
import { imageNode, numbered, startHarness, textNode, type Harness } from './arrange';
import { generateImage } from './parameters';

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

/** Runs nodes behind a trigger called Start, in n8n's engine, on the harness's clock. */
async function runNodes(
	harness: Harness,
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
			'n8n-nodes-model-access.modelAccess': textNode(harness.time),
			'n8n-nodes-model-access.modelAccessImage': imageNode(harness.time),
		},
		triggerItems: items,
		credentials: { modelAccessApi: { ...harness.access } },
		credentialTypes: [new ModelAccessApi()],
		time: harness.time,
		...rest,
	});
	expectNoSecret(harness.access.apiKey, run.data, run.logs, run.uiMessages, run.error);
	return run;
}

const inRow = (names: string[]): Wires =>
	Object.fromEntries(names.slice(0, -1).map((name, index) => [name, [[names[index + 1]!]]]));

/** {@link runNodes}, its tasks {@link checkTasks checked} over the workflow as a whole. */
export async function runChecked(
	harness: Harness,
	nodes: Placed[],
	{ repeats, ...options }: WorkflowOptions & { repeats?: number } = {},
): Promise<WorkflowRun> {
	return await checkTasks(
		harness.gateway,
		async () => await runNodes(harness, nodes, options),
		({ data: { resultData }, error }) => [resultData.runData, error && errorOf(error as Error)],
		repeats,
	);
}

/** The same harness; each run of its image node is {@link checkTasks checked}. */
export function checkingTasks(harness: Harness): Harness {
	return {
		...harness,
		image: async (...given) =>
			await checkTasks(
				harness.gateway,
				async () => await harness.image(...given),
				({ outputs }) => outputs,
			),
		imageError: async (...given) =>
			await checkTasks(
				harness.gateway,
				async () => await harness.imageError(...given),
				({ error }) => errorOf(error),
			),
	};
}

/**
 * Compares what a gateway accepted with what a run says of it: no request is accepted twice, and
 * each accepted task's ID is in the output or the error. A task that failed may be followed by
 * another one and need not be named: there is nothing to fetch.
 *
 * Each item of a run has to have a request of its own, by which a task is told from the others.
 * @param left what the run left behind for its user
 * @param repeats how often the same request is wanted
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
	const bodies = alive.map((task) => bodyOf(task, requests));
	const times = (body: unknown) => bodies.filter((other) => other === body).length;
	expect(alive.filter(({ id }) => !text.includes(id))).toEqual([]);
	expect(bodies.filter((body) => times(body) > repeats)).toEqual([]);
	return result;
}

const bodyOf = ({ requestId }: ImageTask, requests: Gateway['requests']) =>
	JSON.stringify(requests.find(({ id }) => id === requestId)?.body);

/** What n8n shows of an error, and what it saves. */
const errorOf = (error: Error) => [error.message, error];

/** Checks that each item has a file with the image of its prompt, and returns the files. */
export async function expectImages(
	items: INodeExecutionData[],
	prompts: string[],
	field = 'data',
): Promise<Buffer[]> {
	const files = await Promise.all(
		items.map(async ({ binary }) => await readBinary(binary?.[field])),
	);
	expect(files.map((file, n) => imageBelongsTo(prompts[n] ?? '', file))).toEqual(
		prompts.map(() => true),
	);
	return files;
}

interface BatchSettings {
	options?: IDataObject;
	/** Seconds of the clock's minute that have passed when it begins. */
	phase?: number;
	/** Of the waits that the queue draws. */
	seed?: number;
}

/**
 * Draws images of 40 s at a gateway that checks its limits after the 202.
 * @returns the outcomes in the gateway's usage log
 */
export async function drawBatch(
	count: number,
	gateway: GatewayOptions,
	{ options = {}, phase = 0, seed }: BatchSettings = {},
) {
	const harness = await startHarness({ backgroundLimits: true, taskSeconds: 40, ...gateway });
	try {
		const { time } = harness;
		await time.advance(phase * 1000);
		let drawn = 0;
		if (seed !== undefined) time.chance = () => chanceOf(seed, 'jitter', drawn++);
		const began = time.now();
		const ended = await harness.image(
			generateImage({
				prompt: '=Picture {{ $json.n }}',
				options: { ...options, downloadImages: false },
			}),
			{ items: numbered(count), onError: 'continueRegularOutput' },
		);
		const { tasks, charges } = harness.gateway;
		const errors = ended.items.filter(({ json }) => json.error !== undefined);
		return {
			seconds: (time.now() - began) / 1000,
			refused: tasks.filter(({ failure }) => failure).length,
			charged: charges.length,
			arrived: ended.items.length - errors.length,
			prompts: ended.items.map(({ json }) => json.prompt),
			advice: errors.map(({ json }) => (json.error_details as IDataObject).advice as string),
			hints: ended.hints.map(({ message }) => message),
		};
	} finally {
		await harness.close();
	}
}
