import type { INodeType } from 'n8n-workflow';

/**
 * A trigger that passes on the items at the start of the run. n8n's triggers do so after their
 * event: the engine passes the input through every node with a `webhook` method.
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
