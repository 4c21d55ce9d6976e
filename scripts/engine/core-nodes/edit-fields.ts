import { NodeOperationError, jsonParse, validateFieldType } from 'n8n-workflow';
import type {
	AssignmentCollectionValue,
	FieldType,
	IDataObject,
	IExecuteFunctions,
	INodeExecutionData,
	INodeType,
} from 'n8n-workflow';

/** "Edit Fields (Set)", version 3.3 and up: manual mapping and JSON, all or no other fields. */
export const editFields: INodeType = {
	description: {
		displayName: 'Edit Fields (Set)',
		name: 'set',
		group: ['input'],
		version: [3.3, 3.4],
		description: 'Modify, add, or remove item fields',
		defaults: { name: 'Edit Fields' },
		inputs: ['main'],
		outputs: ['main'],
		properties: [
			{
				displayName: 'Mode',
				name: 'mode',
				type: 'options',
				options: [
					{ name: 'Manual Mapping', value: 'manual' },
					{ name: 'JSON', value: 'raw' },
				],
				default: 'manual',
			},
			{
				displayName: 'JSON',
				name: 'jsonOutput',
				type: 'json',
				default: '{}',
				displayOptions: { show: { mode: ['raw'] } },
			},
			{
				displayName: 'Fields to Set',
				name: 'assignments',
				type: 'assignmentCollection',
				default: {},
				displayOptions: { show: { mode: ['manual'] } },
			},
			{
				displayName: 'Include Other Input Fields',
				name: 'includeOtherFields',
				type: 'boolean',
				default: false,
			},
			{
				displayName: 'Options',
				name: 'options',
				type: 'collection',
				default: {},
				options: [
					{
						displayName: 'Support Dot Notation',
						name: 'dotNotation',
						type: 'boolean',
						default: true,
					},
					{ displayName: 'Strip Binary Data', name: 'stripBinary', type: 'boolean', default: true },
					{
						displayName: 'Ignore Type Conversion Errors',
						name: 'ignoreConversionErrors',
						type: 'boolean',
						default: false,
					},
				],
			},
		],
	},
	async execute(this: IExecuteFunctions) {
		return [this.getInputData().map((item, index) => edited.call(this, item, index))];
	},
};

interface EditOptions {
	dotNotation?: boolean;
	stripBinary?: boolean;
	ignoreConversionErrors?: boolean;
}

function edited(
	this: IExecuteFunctions,
	item: INodeExecutionData,
	index: number,
): INodeExecutionData {
	const includeOthers = this.getNodeParameter('includeOtherFields', index) as boolean;
	const options = this.getNodeParameter('options', index) as EditOptions;
	const json: IDataObject = includeOthers ? structuredClone(item.json) : {};
	for (const [name, value] of Object.entries(newFields.call(this, index, options))) {
		if (options.dotNotation === false) json[name] = value;
		else setAt(json, name.split('.'), value);
	}
	const keepBinary = includeOthers && !options.stripBinary && item.binary;
	return { json, pairedItem: { item: index }, ...(keepBinary && { binary: { ...item.binary } }) };
}

function newFields(this: IExecuteFunctions, index: number, options: EditOptions): IDataObject {
	if (this.getNodeParameter('mode', index) === 'raw') {
		const raw = this.getNodeParameter('jsonOutput', index) as string | IDataObject;
		return typeof raw === 'string' ? jsonParse<IDataObject>(raw) : raw;
	}
	const { assignments = [] } = this.getNodeParameter(
		'assignments',
		index,
	) as Partial<AssignmentCollectionValue>;
	const fields = assignments.map(
		({ name, value, type = 'string' }): [string, IDataObject[string]] => {
			if (type === 'string') return [name, asText(value)];
			const checked = validateFieldType(name, value, type as FieldType);
			if (!checked.valid && !options.ignoreConversionErrors) {
				throw new NodeOperationError(this.getNode(), checked.errorMessage, { itemIndex: index });
			}
			return [name, checked.valid ? ((checked.newValue ?? null) as IDataObject[string]) : value];
		},
	);
	return Object.fromEntries(fields);
}

function asText(value: unknown): string | null {
	if (value === undefined || value === null) return null;
	return typeof value === 'object' ? JSON.stringify(value) : `${value as number}`;
}

function setAt(target: IDataObject, [key, ...rest]: string[], value: IDataObject[string]) {
	if (key === undefined) return;
	if (rest.length === 0) {
		target[key] = value;
		return;
	}
	const child = target[key];
	const object = typeof child === 'object' && child !== null ? (child as IDataObject) : {};
	target[key] = object;
	setAt(object, rest, value);
}
