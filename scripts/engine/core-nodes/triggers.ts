import type { INodeType } from 'n8n-workflow';

/**
 * A trigger that hands on the items that the run was started with, as n8n's own do once their event
 * has come: the engine passes its input through for every node with a `webhook` method.
 */
export const trigger = (name: string, displayName: string): INodeType => ({
	description: {
		displayName,
		name,
		group: ['trigger'],
		version: [1, 1.1, 1.2, 2, 2.1, 2.2, 2.3],
		description: 'Starts the workflow',
		defaults: { name: displayName },
		inputs: [],
		outputs: ['main'],
		properties: [],
	},
	webhook: async () => ({}),
});
