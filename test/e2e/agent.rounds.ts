import { startGateway, type Gateway } from '../../gateway';
import type { Rest } from '../../scripts/n8n/rest';
import type { WorkflowFile } from '../../scripts/n8n/n8n-server';

/** Rounds of the agent in which it calls a tool; one more gives its answer. */
export const ROUNDS = 10;

/** A prompt by which the model calls the calculator once in each round. */
export const CALLS = Array.from(
	{ length: ROUNDS },
	(_round, n) => `[[${n === 0 ? 'call' : 'then'}:calculator {"input":"${n}*1000"}]]`,
).join(' ');

const KEPT = ['When chat message received', 'AI Agent', 'Model Access Chat Model', 'Calculator'];

/**
 * A gateway that behaves as real ones do and stores nothing, with a credential of n8n's for it.
 * @returns the gateway, and what publishes an agent that uses it
 */
export async function realGateway(rest: Rest) {
	const gateway = await startGateway({ profile: 'real', storesNothing: true });
	const credential = { name: 'Real Gateway', type: 'modelAccessApi' };
	const data = { apiKey: gateway.keys.active, baseUrl: gateway.baseUrl };
	const { id } = await rest.call<{ id: string }>('POST', '/credentials', { ...credential, data });
	const modelAccessApi = { id, name: credential.name };
	return {
		gateway,
		/**
		 * @param path at which it chats
		 * @param options of its chat model
		 */
		publish: async (example: WorkflowFile, path: string, options: object): Promise<void> => {
			const nodes = example.nodes
				.filter(({ name }) => KEPT.includes(name))
				.map((node) => withSettings(node, path, options))
				.map((node) => (node.credentials ? { ...node, credentials: { modelAccessApi } } : node));
			const connections = Object.fromEntries(
				Object.entries(example.connections).filter(([from]) => KEPT.includes(from)),
			);
			const workflow = { ...example, id: undefined, name: path, nodes, connections };
			const { id } = await rest.create(workflow);
			await rest.activate(id);
		},
	};
}

/** A node of the example: open to everybody, with rounds enough, and the options of the model. */
function withSettings(
	node: WorkflowFile['nodes'][number],
	path: string,
	options: object,
): WorkflowFile['nodes'][number] {
	const { name, parameters } = node;
	const given = parameters.options as object;
	switch (name) {
		case 'When chat message received':
			return {
				...node,
				webhookId: path,
				parameters: { ...parameters, public: true, mode: 'webhook' },
			};
		case 'AI Agent':
			// n8n's own limit is ten, the answer included.
			return {
				...node,
				parameters: { ...parameters, options: { ...given, maxIterations: ROUNDS + 2 } },
			};
		case 'Model Access Chat Model':
			return { ...node, parameters: { ...parameters, options: { ...given, ...options } } };
		default:
			return node;
	}
}

/** What the gateway read and counted of a request of the agent. */
export interface Round {
	instructions?: string;
	/** As the gateway counted them. */
	inputTokens?: number;
	/** Outputs of tools that it carried. */
	outputs: number;
	/** Reasoning that it carried with its content. */
	thoughts: number;
	/** Whether it asked for the content of reasoning. */
	asksForThoughts: boolean;
}

interface Body {
	instructions?: string;
	include?: string[];
	input: Array<{ type?: string; encrypted_content?: string }>;
}

/** The requests of an agent, in order. */
export const roundsOf = ({ requests }: Gateway, since: number): Round[] =>
	requests.slice(since).map(({ body, inputTokens }) => {
		const { instructions, include = [], input } = body as Body;
		return {
			instructions,
			inputTokens,
			outputs: input.filter(({ type }) => type === 'function_call_output').length,
			thoughts: input.filter((item) => item.type === 'reasoning' && item.encrypted_content).length,
			asksForThoughts: include.includes('reasoning.encrypted_content'),
		};
	});
