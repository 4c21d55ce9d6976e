import type {
	IDataObject,
	IExecuteFunctions,
	INodeExecutionData,
	INodeProperties,
} from 'n8n-workflow';
import type { Slot } from '../../api/http/rate-limit-queue';
import type { Client } from '../../api/http/request';
import type { Hint } from '../hints';
import type { RequestBounds } from '../http/client';
import type { Connection } from '../http/connection';
import type { ItemWork } from '../resume/work-tracker';

/** What an operation sees of the item it works on. */
export interface ItemScope {
	context: IExecuteFunctions;
	/** Position of the item in the input. */
	index: number;
	connection: Connection;
	/** The options for this item by name, of both collections. */
	options: IDataObject;
	/** A parameter's value for this item; a resource locator's is its ID. */
	parameter(name: string): unknown;
	/** A client bounded as given; its other needs are those of the run. */
	client(bounds: RequestBounds): Client & { slot: Slot };
	/** What the item pays for. */
	work: ItemWork;
	hint: Hint;
	/**
	 * Where the workflow itself streams: opens the item's turn to pass text on to its caller. The
	 * runner ends it.
	 */
	beginStream?: () => (piece: string) => void;
}

/** One operation of a node: what the panel shows and what happens for one item. */
export interface Operation {
	/** How workflows save it. */
	value: string;
	name: string;
	/** How the nodes panel lists it: "Generate an image". */
	action: string;
	/** What the canvas shows below the node's name, if other than the action says. */
	subtitle?: string;
	description: string;
	/** What one request of it asks for, as a word for messages: `image`, `answer`. */
	unit: string;
	/** What an agent's model reads of it by default: what it does, and what it gives back. */
	toolDescription: string;
	/** The output fields that an agent gets, unless the node is to return raw data. */
	toolFields: string[];
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
			default: getFirst(resources),
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
				default: getFirst(operations),
			}),
		),
		...resources.flatMap(({ value: resource, operations }) =>
			operations.flatMap(({ value: operation, toolDescription, properties }) =>
				[toolDescriptionField(toolDescription), ...properties].map((property) => ({
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

/**
 * The description of the tool. n8n adds its own field ("Generate an image in Model Access Image")
 * to nodes without this one.
 */
const toolDescriptionField = (toolDescription: string): INodeProperties => ({
	displayName: 'Tool Description',
	name: 'toolDescription',
	type: 'string',
	typeOptions: { rows: 5 },
	required: true,
	default: toolDescription,
	description: 'What the agent’s model reads about this tool, to know when to call it',
	displayOptions: { show: { '@tool': [true] } },
});

/**
 * The expression of what the canvas shows below a node's name. Its keys are flat: n8n takes the end
 * of an object within an object for the end of the expression.
 */
export function getSubtitle(resources: Resource[]): string {
	const subtitles = resources.flatMap(({ value: resource, operations }) =>
		operations.map(({ value, action, subtitle }) => [
			`${resource}.${value}`,
			subtitle ?? toTitle(action),
		]),
	);
	const table = JSON.stringify(Object.fromEntries(subtitles));
	return `={{ (${table})[$parameter["resource"] + "." + $parameter["operation"]] }}`;
}

/** "Wait for a task" as a title: "Wait for Task". */
function toTitle(action: string): string {
	const words = action.split(' ').filter((word) => word !== 'a' && word !== 'an');
	return words
		.map((word) => (word === 'for' ? word : word.charAt(0).toUpperCase() + word.slice(1)))
		.join(' ');
}

function getFirst(choices: Array<{ value: string }>): string {
	return choices[0]?.value ?? '';
}
