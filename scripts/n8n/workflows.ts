import type { WorkflowFile } from './n8n-server';

type Node = WorkflowFile['nodes'][number];
type Connections = Record<
	string,
	Record<string, Array<Array<{ node: string; type: string; index: number }>>>
>;

const AT: [number, number] = [0, 0];

/** The node that starts a workflow manually, and from the command line. */
export const MANUAL: Node = {
	name: 'By Hand',
	type: 'n8n-nodes-base.manualTrigger',
	typeVersion: 1,
	parameters: {},
	position: AT,
};

/** A node that writes the file of each item into a folder, under the file's own name. */
export function saved(name: string, folder: string): Node {
	return {
		name,
		type: 'n8n-nodes-base.readWriteFile',
		typeVersion: 1,
		parameters: {
			operation: 'write',
			fileName: `=${folder}/{{ $itemIndex }}-{{ $binary.data.fileName }}`,
			dataPropertyName: 'data',
			options: {},
		},
		position: AT,
	};
}

/** One of our nodes. */
export function ours(
	name: string,
	type: 'modelAccess' | 'modelAccessImage',
	parameters: Record<string, unknown>,
	settings: Record<string, unknown> = {},
): Node {
	return {
		name,
		type: `n8n-nodes-model-access.${type}`,
		typeVersion: 1,
		parameters: { options: {}, ...parameters },
		position: AT,
		...settings,
	};
}

/** Image → Generate with a prompt, as a user configures it. */
export function image(
	name: string,
	prompt: string,
	options: Record<string, unknown> = {},
	settings: Record<string, unknown> = {},
): Node {
	return ours(
		name,
		'modelAccessImage',
		{ resource: 'image', operation: 'generate', model: byId('aurora-image-1'), prompt, options },
		settings,
	);
}

/** The value of a model picker after the user entered an ID. */
export const byId = (value: string) => ({ __rl: true, mode: 'id', value });

/** Our chat model, connected to an agent or a chain. */
export function chatModel(
	name: string,
	position: Node['position'],
	advanced: Record<string, unknown> = {},
): Node {
	return {
		name,
		type: 'n8n-nodes-model-access.lmChatModelAccess',
		typeVersion: 1,
		parameters: { model: byId('aurora-text-1'), advanced },
		position,
	};
}

/** The connections of a sub-node, such as a model of an agent. */
export const serves = (node: string, type: string) => ({ [type]: [[{ node, type, index: 0 }]] });

/** Connections from each node to the next one. */
function chain(names: string[]): Connections {
	return Object.fromEntries(
		names
			.slice(0, -1)
			.map((name, index) => [
				name,
				{ main: [[{ node: names[index + 1] ?? '', type: 'main', index: 0 }]] },
			]),
	);
}

/** A workflow of nodes that follow one another. */
export function inARow(
	id: string,
	nodes: Node[],
	settings: WorkflowFile['settings'] = {},
): WorkflowFile {
	return {
		id,
		name: id,
		active: false,
		nodes: nodes.map((node, index) => ({
			id: `${id}-${index}`,
			...node,
			position: [index * 220, 0],
		})),
		connections: chain(nodes.map(({ name }) => name)),
		settings: { executionOrder: 'v1', ...settings },
	};
}

/** Adds a node behind a node without connections. */
export function followed(workflow: WorkflowFile, after: string, node: Node): WorkflowFile {
	return {
		...workflow,
		nodes: [...workflow.nodes, { id: `after-${after}`, ...node }],
		connections: { ...workflow.connections, ...chain([after, node.name]) },
	};
}

/** A webhook that takes POST. */
export function webhook(name: string, path: string, parameters: Record<string, unknown>): Node {
	return {
		name,
		type: 'n8n-nodes-base.webhook',
		typeVersion: 2.1,
		webhookId: path,
		parameters: { httpMethod: 'POST', path, options: {}, ...parameters },
		position: AT,
	};
}

/**
 * A node that answers a webhook with the first item's file. If n8n keeps binary data in memory, the
 * Webhook node's own "First Entry Binary" sends JSON instead.
 */
export function respondedWithFile(name: string): Node {
	return {
		name,
		type: 'n8n-nodes-base.respondToWebhook',
		typeVersion: 1.5,
		parameters: { respondWith: 'binary', options: {} },
		position: AT,
	};
}
