import type { IDataObject } from 'n8n-workflow';
import { byId, MANUAL, ours as oursWithout, webhook } from '../scripts/n8n/workflows';
import { CREDENTIAL, type WorkflowFile } from '../scripts/n8n/n8n-server';

type Node = WorkflowFile['nodes'][number];
type Settings = Record<string, unknown>;
/** A connection from one node to another; output 0 if absent. */
type Edge = [from: string, to: string, output?: number];

/** Credentials of the nodes that ours are compared with. */
export const BEARER = { id: 'BenchBearer1', name: 'Bearer' };
export const BEARER_OF_TEN = { id: 'BenchBearer10', name: 'Bearer of ten at once' };
export const OPENAI = { id: 'BenchOpenAi1', name: 'OpenAI' };
export const OURS_OF_TEN = { id: 'BenchOurs10', name: 'Model Access of ten at once' };

const TEXT_MODEL = 'aurora-text-1';
const IMAGE_MODEL = 'aurora-image-1';

function core(name: string, type: string, typeVersion: number, parameters: Settings): Node {
	const fullType = type.includes('.') ? type : `n8n-nodes-base.${type}`;
	return { name, type: fullType, typeVersion, parameters, position: [0, 0] };
}

function connected(id: string, nodes: Node[], edges: Edge[], others: Settings = {}): WorkflowFile {
	const connections: Record<
		string,
		{ main: Array<Array<{ node: string; type: string; index: 0 }>> }
	> = {};
	for (const [from, to, output = 0] of edges) {
		const { main } = (connections[from] ??= { main: [] });
		while (main.length <= output) main.push([]);
		main[output]?.push({ node: to, type: 'main', index: 0 });
	}
	return {
		id,
		name: id,
		active: false,
		nodes: nodes.map((node, at) => ({ id: `${id}-${at}`, ...node, position: [at * 220, 0] })),
		connections: { ...connections, ...others },
		settings: { executionOrder: 'v1' },
	};
}

const chainOf = (names: string[]): Edge[] =>
	names.slice(0, -1).map((name, at) => [name, names[at + 1] ?? '']);

/** An HTTP Request node as a user configures it for this gateway. */
function http(name: string, parameters: Settings, credential = BEARER): Node {
	return {
		...core(name, 'httpRequest', 4.2, {
			authentication: 'genericCredentialType',
			genericAuthType: 'httpHeaderAuth',
			options: {},
			...parameters,
		}),
		credentials: { httpHeaderAuth: credential },
	};
}

const posted = (url: string, body: string): Settings => ({
	method: 'POST',
	url,
	sendBody: true,
	specifyBody: 'json',
	jsonBody: body,
});

/** Downloads an image from the storage, without a key. */
const download = (url: string) =>
	core('Download', 'httpRequest', 4.2, {
		url,
		options: { response: { response: { responseFormat: 'file', outputPropertyName: 'data' } } },
	});

const wait = (name: string, amount: number | string) => ({
	...core(name, 'wait', 1.1, { resume: 'timeInterval', amount, unit: 'seconds' }),
	webhookId: `bench-${name.toLowerCase()}`,
});

function question(name: string, left: string, right: string | number): Node {
	const type = typeof right === 'number' ? 'number' : 'string';
	return core(name, 'if', 2.2, {
		conditions: {
			options: { caseSensitive: true, leftValue: '', typeValidation: 'loose', version: 2 },
			combinator: 'and',
			conditions: [
				{ id: name, leftValue: left, rightValue: right, operator: { type, operation: 'equals' } },
			],
		},
		options: {},
	});
}

/** One of our nodes, with a credential. */
const ours = (
	name: string,
	type: 'modelAccess' | 'modelAccessImage',
	parameters: Settings,
	credential = CREDENTIAL,
) => oursWithout(name, type, parameters, { credentials: { modelAccessApi: credential } });

const each = (batchSize: number) => core('Each', 'splitInBatches', 3, { batchSize, options: {} });

/** The addresses that the measured workflows call. */
export interface Places {
	/** Address of the gateway; ends in `/v1`. */
	baseUrl: string;
	/** Address of the marks. */
	marks: string;
}

export const responseOf = (concurrency: number): IDataObject => ({
	resource: 'response',
	operation: 'create',
	model: byId(TEXT_MODEL),
	inputType: 'text',
	prompt: '={{ $json.prompt }}',
	advanced: { concurrency },
});

export const imageOf = (advanced: IDataObject): IDataObject => ({
	resource: 'image',
	operation: 'generate',
	model: byId(IMAGE_MODEL),
	prompt: '={{ $json.prompt }}',
	advanced,
});

export const TASK_WITH_FILE: IDataObject = {
	resource: 'task',
	operation: 'get',
	taskId: '={{ $json.task_id }}',
};

/** All workflows that n8n's command `execute` runs, by their names in the table. */
export function measuredWorkflows({ baseUrl, marks }: Places): Record<string, WorkflowFile> {
	const start = {
		...core('Start', 'httpRequest', 4.2, { url: `${marks}/start`, options: {} }),
		executeOnce: true,
	};
	const end = {
		...core('End', 'httpRequest', 4.2, {
			url: `=${marks}/end?items={{ $input.all().length }}`,
			options: {},
		}),
		executeOnce: true,
	};
	const first = core('First', 'set', 3.4, {
		mode: 'raw',
		jsonOutput: '={{ ({ prompt: "Hello" }) }}',
		options: {},
	});
	const begin = [MANUAL, start];
	/** A node between the marks. One item before has loaded and compiled everything. */
	const alone = (id: string, node: Node, warm = true) => {
		const before = warm ? [MANUAL, first, { ...node, name: `${node.name} Once` }] : [MANUAL];
		const nodes = [...before, start, node, end];
		return connected(id, nodes, chainOf(nodes.map(({ name }) => name)));
	};

	const submit = (credential = BEARER, prompt = '$json.prompt') =>
		http(
			'Submit',
			posted(
				`${baseUrl}/images/generations/async`,
				`={{ JSON.stringify({ model: "${IMAGE_MODEL}", prompt: ${prompt} }) }}`,
			),
			credential,
		);
	const poll = (credential = BEARER) =>
		http('Poll', { url: `=${baseUrl}/images/tasks/{{ $json.task_id }}` }, credential);
	const done = question('Done', '={{ $json.status }}', 'completed');
	const untilDone: Edge[] = [
		['Submit', 'Wait'],
		['Wait', 'Poll'],
		['Poll', 'Done'],
		['Done', 'Download'],
		['Done', 'Wait', 1],
	];
	const loop = (credential = BEARER) => [
		submit(credential),
		wait('Wait', 3),
		poll(credential),
		done,
		download('={{ $json.image_url }}'),
	];
	const inBatchesOf = (id: string, size: number, credential = BEARER) =>
		connected(
			id,
			[...begin, each(size), ...loop(credential), end],
			[
				[MANUAL.name, 'Start'],
				['Start', 'Each'],
				['Each', 'End'],
				['Each', 'Submit', 1],
				...untilDone,
				['Download', 'Each'],
			],
		);

	/**
	 * A task that ends with 429 is submitted again after half a minute. n8n runs the branch of the
	 * left node first, so refused images do not wait for running ones.
	 */
	const again = (from: string) => [
		submit(BEARER, `$('${from}').item.json.prompt`),
		wait('Later', 30),
		wait('Wait', 3),
		poll(),
		done,
		question('Refused', '={{ $json.http_status }}', 429),
		download('={{ $json.image_url }}'),
	];
	const untilTaken: Edge[] = [
		['Submit', 'Wait'],
		['Wait', 'Poll'],
		['Poll', 'Done'],
		['Done', 'Download'],
		['Done', 'Refused', 1],
		['Refused', 'Later'],
		['Refused', 'Wait', 1],
		['Later', 'Submit'],
	];

	const answer = (name: string) =>
		http(
			name,
			posted(
				`${baseUrl}/responses`,
				`={{ JSON.stringify({ model: "${TEXT_MODEL}", input: $json.prompt }) }}`,
			),
		);
	const openAi = {
		...core('Answer', '@n8n/n8n-nodes-langchain.openAi', 2.1, {
			resource: 'text',
			operation: 'response',
			modelId: byId(TEXT_MODEL),
			responses: { values: [{ type: 'text', role: 'user', content: '={{ $json.prompt }}' }] },
			simplify: true,
			options: {},
		}),
		credentials: { openAiApi: OPENAI },
	};

	return {
		imagesOurs: alone(
			'images-ours',
			ours('Images', 'modelAccessImage', imageOf({ concurrency: 20 })),
			false,
		),
		imagesOneByOne: inBatchesOf('images-one-by-one', 1),
		imagesExpert: connected(
			'images-expert',
			[...begin, ...loop(), end],
			[[MANUAL.name, 'Start'], ['Start', 'Submit'], ...untilDone, ['Download', 'End']],
		),
		limitedOurs: alone(
			'limited-ours',
			ours('Images', 'modelAccessImage', imageOf({ concurrency: 20 }), OURS_OF_TEN),
			false,
		),
		limitedOursTen: alone(
			'limited-ours-ten',
			ours('Images', 'modelAccessImage', imageOf({ concurrency: 10 }), OURS_OF_TEN),
			false,
		),
		limitedExpert: inBatchesOf('limited-expert', 10, BEARER_OF_TEN),
		backgroundOurs: alone(
			'background-ours',
			ours('Images', 'modelAccessImage', imageOf({})),
			false,
		),
		backgroundOneByOne: connected(
			'background-one-by-one',
			[...begin, each(1), ...again('Each'), end],
			[
				[MANUAL.name, 'Start'],
				['Start', 'Each'],
				['Each', 'End'],
				['Each', 'Submit', 1],
				...untilTaken,
				['Download', 'Each'],
			],
		),
		backgroundAllAtOnce: connected(
			'background-all-at-once',
			[...begin, ...again('Start'), end],
			[[MANUAL.name, 'Start'], ['Start', 'Submit'], ...untilTaken, ['Download', 'End']],
		),
		downloadsOurs: alone(
			'downloads-ours',
			ours('Files', 'modelAccessImage', TASK_WITH_FILE),
			false,
		),
		downloadsOursInTurn: alone(
			'downloads-ours-in-turn',
			ours('Files', 'modelAccessImage', { ...TASK_WITH_FILE, advanced: { concurrency: 1 } }),
			false,
		),
		downloadsHttp: alone('downloads-http', download('={{ $json.image_url }}'), false),
		answersOurs: alone('answers-ours', ours('Answers', 'modelAccess', responseOf(1))),
		answersOursSide: alone('answers-ours-side', ours('Answers', 'modelAccess', responseOf(20))),
		answersHttp: alone('answers-http', answer('Answer')),
		answersHttpLoop: connected(
			'answers-http-loop',
			[...begin, each(1), answer('Answer'), end],
			[
				[MANUAL.name, 'Start'],
				['Start', 'Each'],
				['Each', 'End'],
				['Each', 'Answer', 1],
				['Answer', 'Each'],
			],
		),
		answersOpenAi: alone('answers-openai', openAi),
	};
}

const STREAMING = { responseMode: 'streaming' };

/** Workflows that stream to their caller; each is at `/webhook/<id>`. */
export function streamingWorkflows(): Record<string, WorkflowFile> {
	const prompt = 'Tell me a long story';
	const agent = core('Agent', '@n8n/n8n-nodes-langchain.agent', 3, {
		promptType: 'define',
		text: prompt,
		options: { enableStreaming: true },
	});
	const withModel = (id: string, model: Node) =>
		connected(id, [webhook('Call', id, STREAMING), agent, model], [['Call', 'Agent']], {
			[model.name]: { ai_languageModel: [[{ node: 'Agent', type: 'ai_languageModel', index: 0 }]] },
		});
	return {
		node: connected(
			'stream-node',
			[
				webhook('Call', 'stream-node', STREAMING),
				ours('Answer', 'modelAccess', {
					...responseOf(1),
					prompt,
					stream: true,
					options: {},
				}),
			],
			[['Call', 'Answer']],
		),
		chatModel: withModel('stream-chat-model', {
			...core('Model', 'n8n-nodes-model-access.lmChatModelAccess', 1, {
				model: byId(TEXT_MODEL),
				options: {},
			}),
			credentials: { modelAccessApi: CREDENTIAL },
		}),
		openAi: withModel('stream-openai', {
			...core('Model', '@n8n/n8n-nodes-langchain.lmChatOpenAi', 1.3, {
				model: byId(TEXT_MODEL),
				responsesApiEnabled: true,
				options: {},
			}),
			credentials: { openAiApi: OPENAI },
		}),
	};
}
