import { startGateway } from '../../gateway';
import type { Rest } from '../../scripts/n8n/rest';
import type { WorkflowFile } from '../../scripts/n8n/n8n-server';
import { chatModel, inARow, MANUAL } from '../../scripts/n8n/workflows';
import { servedBy } from './arrange';

const mood = { type: 'string', enum: ['happy', 'sad'] };
const output = { type: 'object', properties: { mood }, required: ['mood'] };
const schema = { type: 'object', properties: { output }, required: ['output'] };
const FORMAT = { type: 'json_schema', name: 'answer', schema };

/** A chain whose answer has to be read by a parser; the model is asked for the parser's schema. */
export const CHAIN = servedBy(
	inARow('chain', [
		MANUAL,
		{
			name: 'Basic LLM Chain',
			type: '@n8n/n8n-nodes-langchain.chainLlm',
			typeVersion: 1.7,
			parameters: { promptType: 'define', text: 'What a happy day', hasOutputParser: true },
			position: [0, 0],
		},
	]),
	'Basic LLM Chain',
	{
		ai_languageModel: chatModel('Model', [200, 220], {
			extraBody: JSON.stringify({ text: { format: FORMAT } }),
		}),
		ai_outputParser: {
			name: 'Structured Output Parser',
			type: '@n8n/n8n-nodes-langchain.outputParserStructured',
			typeVersion: 1.3,
			parameters: { schemaType: 'manual', inputSchema: JSON.stringify(output) },
			position: [420, 220],
		},
	},
);

/** Rounds of an agent in which it calls a tool; one more gives its answer. */
export const ROUNDS = 10;

/** A prompt by which the model calls the calculator once in each round. */
export const CALLS = Array.from(
	{ length: ROUNDS },
	(_round, n) => `[[${n === 0 ? 'call' : 'then'}:calculator {"input":"${n}*1000"}]]`,
).join(' ');

/** The example of an agent as its owner publishes it. n8n's limit is ten rounds, the answer included. */
export function published(example: WorkflowFile, path: string, options: object = {}): WorkflowFile {
	const changes: Record<string, { options?: object; [parameter: string]: unknown }> = {
		'When chat message received': { public: true, mode: 'webhook' },
		'AI Agent': { options: { maxIterations: ROUNDS + 2 } },
		'Model Access Chat Model': { options },
	};
	const nodes = example.nodes.map((node) => {
		const { options: given, ...parameters } = { ...node.parameters, ...changes[node.name] };
		const all = { ...(node.parameters.options as object | undefined), ...given };
		return { ...node, webhookId: path, parameters: { ...parameters, options: all } };
	});
	return { ...example, id: path, name: path, nodes };
}

/** A gateway that behaves as real ones do and stores nothing, with a credential of n8n's for it. */
export async function realGateway(rest: Rest) {
	const gateway = await startGateway({ profile: 'real', storesNothing: true });
	const credential = { name: 'Real Gateway', type: 'modelAccessApi' };
	const data = { apiKey: gateway.keys.active, baseUrl: gateway.baseUrl };
	const { id } = await rest.call<{ id: string }>('POST', '/credentials', { ...credential, data });
	const credentials = { modelAccessApi: { id, name: credential.name } };
	const publish = async (workflow: WorkflowFile): Promise<void> => {
		const nodes = workflow.nodes.map((node) =>
			node.credentials ? { ...node, credentials } : node,
		);
		const created = await rest.create({ ...workflow, id: undefined, nodes });
		await rest.activate(created.id);
	};
	return { gateway, publish };
}
