import { NodeOperationError } from 'n8n-workflow';
import type { IDataObject, IExecuteFunctions, INodeExecutionData, INodeType } from 'n8n-workflow';

import type { CoreNodeOptions } from '.';

type Row = IDataObject & { id: number };

/**
 * "Data Table", version 1: insert, get all and delete rows, by table name. Conditions check
 * equality only.
 */
export const dataTable = ({ tables = {} }: CoreNodeOptions): INodeType => ({
	description: {
		displayName: 'Data Table',
		name: 'dataTable',
		group: ['input', 'transform'],
		version: [1, 1.1],
		description: 'Permanently save data across workflow executions in a table',
		defaults: { name: 'Data table' },
		inputs: ['main'],
		outputs: ['main'],
		properties: [
			{ displayName: 'Resource', name: 'resource', type: 'string', default: 'row' },
			{ displayName: 'Operation', name: 'operation', type: 'string', default: 'insert' },
			{
				displayName: 'Data table',
				name: 'dataTableId',
				type: 'resourceLocator',
				default: { mode: 'list', value: '' },
				required: true,
				modes: [{ displayName: 'By Name', name: 'name', type: 'string' }],
			},
			{ displayName: 'Must Match', name: 'matchType', type: 'string', default: 'anyCondition' },
			{
				displayName: 'Conditions',
				name: 'filters',
				type: 'fixedCollection',
				typeOptions: { multipleValues: true },
				default: {},
				options: [
					{
						displayName: 'Conditions',
						name: 'conditions',
						values: [
							{ displayName: 'Column', name: 'keyName', type: 'string', default: 'id' },
							{ displayName: 'Condition', name: 'condition', type: 'string', default: 'eq' },
							{ displayName: 'Value', name: 'keyValue', type: 'string', default: '' },
						],
					},
				],
			},
			{ displayName: 'Return All', name: 'returnAll', type: 'boolean', default: false },
			{
				displayName: 'Columns',
				name: 'columns',
				type: 'resourceMapper',
				default: { mappingMode: 'defineBelow', value: null },
			},
			{ displayName: 'Options', name: 'options', type: 'collection', default: {}, options: [] },
		],
	},
	async execute(this: IExecuteFunctions) {
		const output: INodeExecutionData[] = [];
		for (const index of this.getInputData().keys()) {
			const name = this.getNodeParameter('dataTableId', index, '', {
				extractValue: true,
			}) as string;
			const rows = tables[name];
			if (!rows) throw new NodeOperationError(this.getNode(), `No table is called "${name}"`);
			for (const json of rowsOf.call(this, rows as Row[], index)) {
				output.push({ json: { ...json }, pairedItem: { item: index } });
			}
		}
		return [output];
	},
});

interface Condition {
	keyName: string;
	condition: string;
	keyValue: unknown;
}

function rowsOf(this: IExecuteFunctions, rows: Row[], index: number): IDataObject[] {
	const operation = this.getNodeParameter('operation', index);
	const conditions = this.getNodeParameter('filters.conditions', index, []) as Condition[];
	const matches = (row: Row) =>
		conditions.length === 0 ||
		conditions.some(({ keyName, keyValue }) => row[keyName] === keyValue);
	switch (operation) {
		case 'insert': {
			const value = this.getNodeParameter('columns.value', index) as IDataObject;
			const row = { id: (rows.at(-1)?.id ?? 0) + 1, ...value };
			rows.push(row);
			return [row];
		}
		case 'get':
			return rows.filter(matches);
		case 'deleteRows': {
			if (conditions.length === 0) {
				throw new NodeOperationError(this.getNode(), 'At least one condition is required');
			}
			const deleted = rows.filter(matches);
			for (const row of deleted) rows.splice(rows.indexOf(row), 1);
			return deleted;
		}
		default:
			throw new NodeOperationError(this.getNode(), 'This run inserts, gets and deletes rows');
	}
}
