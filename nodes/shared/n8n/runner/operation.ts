import {
	NodeOperationError,
	type IExecuteFunctions,
	type INodeExecutionData,
	type INodeProperties,
} from 'n8n-workflow';
import type { Time } from '../../api/http/clock';
import { runItems, type ItemScope } from './run-items';
import { n8nTime } from '../clock';

/** One operation of a node: what the panel shows and what happens for one item. */
export interface Operation {
	/** How workflows save it. */
	value: string;
	name: string;
	/** How the nodes panel lists it: "Generate an image". */
	action: string;
	description: string;
	/** Its fields, without `displayOptions` for resource and operation. */
	properties: INodeProperties[];
	/**
	 * Does the operation for one item.
	 * @returns the output items; the runner links them to their input item
	 * @throws {ModelAccessError}
	 */
	run(item: ItemScope): Promise<INodeExecutionData[]>;
}

/** A resource and its operations; the one list of them. */
export interface Resource {
	value: string;
	name: string;
	description: string;
	operations: Operation[];
}

/** The resource and operation selectors of a node, and each operation's fields below them. */
export function resourceProperties(resources: Resource[]): INodeProperties[] {
	return [
		{
			displayName: 'Resource',
			name: 'resource',
			type: 'options',
			noDataExpression: true,
			options: resources.map(({ name, value, description }) => ({ name, value, description })),
			default: firstOf(resources),
		},
		...resources.map(
			({ value, operations }): INodeProperties => ({
				displayName: 'Operation',
				name: 'operation',
				type: 'options',
				noDataExpression: true,
				displayOptions: { show: { resource: [value] } },
				options: operations.map(({ name, value: operation, description, action }) => ({
					name,
					value: operation,
					description,
					action,
				})),
				default: firstOf(operations),
			}),
		),
		...resources.flatMap(({ value: resource, operations }) =>
			operations.flatMap(({ value: operation, properties }) =>
				properties.map((property) => ({
					...property,
					displayOptions: {
						...property.displayOptions,
						show: {
							resource: [resource],
							operation: [operation],
							...property.displayOptions?.show,
						},
					},
				})),
			),
		),
	];
}

function firstOf(choices: Array<{ value: string }>): string {
	return choices[0]?.value ?? '';
}

/**
 * Runs the operation that the node is set to.
 * @param time n8n's, but for tests
 */
export async function execute(
	context: IExecuteFunctions,
	resources: Resource[],
	time: Time = n8nTime,
): Promise<INodeExecutionData[][]> {
	const chosen = context.getNodeParameter('resource', 0, '');
	const wanted = context.getNodeParameter('operation', 0, '');
	const operation = resources
		.find(({ value }) => value === chosen)
		?.operations.find(({ value }) => value === wanted);
	if (!operation) {
		throw new NodeOperationError(
			context.getNode(),
			`The operation "${String(wanted)}" of "${String(chosen)}" does not exist`,
			{ description: 'Choose Resource and Operation from their lists.' },
		);
	}
	return await runItems(context, operation, time);
}
