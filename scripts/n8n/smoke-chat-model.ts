import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { FIRST_N8N } from '../../nodes/LmChatModelAccess/sdk';
import type { Gateway } from '../../gateway';
import { chatModel, inARow, serves, webhook } from './workflows';
import { isAtLeast, type Installation } from './installation';
import type { N8n, Running } from './n8n';
import type { Rest } from './rest';
import { parseRun } from './saved-run';
import type { WorkflowFile } from './n8n-server';
import { until } from './until';
import { posted, streamed } from './webhook';

/** A running n8n with the workflows of {@link agentWorkflows}. */
export interface Started {
	n8n: N8n;
	running: Running;
	rest: Rest;
	gateway: Gateway;
}

interface Agent {
	/** ID of the workflow and path of its webhook. */
	id: string;
	/** Its name in the results. */
	label: string;
	/** Version of the AI Agent node; current n8n has all of these. */
	typeVersion: number;
	responseMode: 'lastNode' | 'streaming';
}

/** Version 2 of the agent calls tools itself. Version 3 leaves this to n8n's engine. */
const AGENTS: Agent[] = [
	{ id: 'agent-2', label: 'AI Agent 2.2', typeVersion: 2.2, responseMode: 'lastNode' },
	{ id: 'agent-3', label: 'AI Agent 3', typeVersion: 3, responseMode: 'lastNode' },
	{ id: 'agent-3s', label: 'AI Agent 3 streaming', typeVersion: 3, responseMode: 'streaming' },
];

const AGENT = 'AI Agent';
const MODEL = 'Model';
const CALCULATOR = 'Calculator';
const QUESTION = 'How much is it? [[call:calculator {"input":"6*7"}]]';
const ANSWER = /calculator says: .*42/i;

/** The workflows of {@link checkChatModel}: agents behind webhooks, each with a tool. */
export const agentWorkflows = (): WorkflowFile[] => AGENTS.map(agentWorkflow);

function agentWorkflow({ id, typeVersion, responseMode }: Agent): WorkflowFile {
	const row = inARow(id, [
		webhook('Question', id, { responseMode }),
		{
			name: AGENT,
			type: '@n8n/n8n-nodes-langchain.agent',
			typeVersion,
			parameters: {
				promptType: 'define',
				text: '={{ $json.body.question }}',
				options: { enableStreaming: responseMode === 'streaming' },
			},
			position: [0, 0],
		},
	]);
	const calculator = {
		name: CALCULATOR,
		type: '@n8n/n8n-nodes-langchain.toolCalculator',
		typeVersion: 1,
		parameters: {},
	};
	return {
		...row,
		nodes: [
			...row.nodes,
			{ ...chatModel(MODEL, [200, 220]), id: `${id}-model` },
			{ ...calculator, id: `${id}-calculator`, position: [400, 220] },
		],
		connections: {
			...row.connections,
			[MODEL]: serves(AGENT, 'ai_languageModel'),
			[CALCULATOR]: serves(AGENT, 'ai_tool'),
		},
	};
}

/**
 * Lets agents use the chat model. If n8n has the kit for AI nodes, it holds a conversation with one
 * tool call. Without the kit, it fails with an error that names the required version.
 * @returns what happened, for the table of results
 * @throws {Error} something else happened, or {@link FIRST_N8N} is not the first n8n with the kit
 */
export async function checkChatModel(started: Started): Promise<string> {
	const { installation } = started.n8n;
	const has = hasKit(installation);
	const [major = 0, minor = 0] = FIRST_N8N.split('.').map(Number);
	if (has !== isAtLeast(installation.version, [major, minor])) {
		const what = has ? 'has' : 'does not have';
		throw new Error(
			`n8n ${installation.version} ${what} the kit for AI nodes, contrary to FIRST_N8N (${FIRST_N8N})`,
		);
	}
	for (const agent of AGENTS) {
		await started.rest.activate(agent.id);
		await (has ? checkConversation(started, agent) : checkError(started, agent));
	}
	const labels = AGENTS.map(({ label }) => label).join(', ');
	return has
		? `one tool call and the answer (${labels})`
		: `the error "${neededN8n()}", nothing sent (${labels})`;
}

/** Whether an n8n has the kit for AI nodes. */
const hasKit = ({ folder }: Installation): boolean =>
	existsSync(join(folder, 'node_modules', '@n8n', 'ai-node-sdk'));

/** The error of the chat model in an n8n without the kit. */
const neededN8n = () => `needs n8n ${FIRST_N8N} or newer`;

async function checkConversation({ running, gateway }: Started, agent: Agent): Promise<void> {
	const since = gateway.requests.length;
	const reply = await ask(running, agent);
	const answer =
		agent.responseMode === 'streaming' ? (await streamed(reply)).text : await reply.text();
	const sent = gateway.requests.slice(since).map(({ route }) => route);
	const outcome = `${agent.label} answered ${reply.status} ${answer.slice(0, 1000)}`;
	if (!reply.ok || !ANSWER.test(answer)) throw new Error(outcome);
	// One request that calls the tool, one with its output.
	if (sent.join() !== 'responses,responses') throw new Error(`${outcome} after: ${sent.join()}`);
}

async function checkError({ n8n, running, rest, gateway }: Started, agent: Agent): Promise<void> {
	const since = gateway.requests.length;
	await (await ask(running, agent)).text();
	const { id } = await until(`${agent.label} has failed`, async () =>
		(await rest.executions(agent.id)).find(({ status }) => status === 'error'),
	);
	const { data = '' } = await rest.execution(id);
	const { error, runData } = parseRun(n8n.installation, data).resultData;
	// The error of the execution, and the error of the agent.
	for (const shown of [error, runData[AGENT]?.[0]?.error]) {
		const { message = '', description = '' } = shown ?? {};
		if (!message.includes(neededN8n()) || !description.includes('Update n8n')) {
			throw new Error(`${agent.label} failed with: ${JSON.stringify(shown)?.slice(0, 1000)}`);
		}
	}
	const sent = gateway.requests.length - since;
	if (sent > 0) throw new Error(`${agent.label} sent ${sent} requests before it failed`);
}

const ask = async ({ address }: Running, { id }: Agent) =>
	await posted(`${address}/webhook/${id}`, { question: QUESTION });
