import type {
	INodeProperties,
	INodePropertyCollection,
	INodePropertyOptions,
	INodeType,
	NodeParameterValueType,
} from 'n8n-workflow';
import { LmChatModelAccess } from '../../nodes/LmChatModelAccess/LmChatModelAccess.node';
import { ModelAccess } from '../../nodes/ModelAccess/ModelAccess.node';
import { ModelAccessImage } from '../../nodes/ModelAccessImage/ModelAccessImage.node';

/** A field by its path, its type, its default and, where it is a choice, the values of it. */
type Row = [
	path: string,
	type: string,
	initial: NodeParameterValueType,
	values?: INodePropertyOptions['value'][],
];

/**
 * Every field of all nodes in the order of the panel. They are saved in people's workflows: a row
 * that changes or goes breaks those, and a new one has to be added here.
 */
const TABLE: Record<string, Record<string, Row[]>> = {
	lmChatModelAccess: {
		everywhere: [
			['notice', 'notice', ''],
			['model', 'resourceLocator', { mode: 'list', value: '' }],
			['options', 'collection', {}],
			['options.extraBody', 'json', '{}'],
			['options.idleTimeout', 'number', 60],
			['options.maxOutputTokens', 'number', 1024],
			['options.maxRetries', 'number', 3],
			[
				'options.reasoningEffort',
				'options',
				'medium',
				['high', 'low', 'medium', 'minimal', 'none'],
			],
			['options.serviceTier', 'options', 'auto', ['auto', 'default', 'flex', 'priority']],
			['options.store', 'boolean', false],
			['options.temperature', 'number', 1],
			['options.timeout', 'number', 300],
			['options.topP', 'number', 1],
		],
	},
	modelAccess: {
		everywhere: [['resource', 'options', 'response', ['response', 'model']]],
		response: [['operation', 'options', 'create', ['create']]],
		model: [['operation', 'options', 'getAll', ['getAll']]],
		'response: create': [
			['model', 'resourceLocator', { mode: 'list', value: '' }],
			['inputType', 'options', 'text', ['json', 'messages', 'text']],
			['prompt', 'string', ''],
			['messages', 'fixedCollection', { message: [{ role: 'user', type: 'text', text: '' }] }],
			['messages.message.role', 'options', 'user', ['assistant', 'developer', 'system', 'user']],
			['messages.message.type', 'options', 'text', ['file', 'image', 'text']],
			['messages.message.text', 'string', ''],
			['messages.message.imageSource', 'options', 'binary', ['binary', 'url']],
			['messages.message.binaryPropertyNames', 'string', 'data'],
			['messages.message.imageUrl', 'string', ''],
			['messages.message.detail', 'options', 'auto', ['auto', 'high', 'low']],
			['messages.message.fileBinaryPropertyNames', 'string', 'data'],
			['inputJson', 'json', '[\n  { "role": "user", "content": "Hello" }\n]'],
			['stream', 'boolean', false],
			['simplify', 'boolean', true],
			['options', 'collection', {}],
			['options.concurrency', 'number', 4],
			['options.extraBody', 'json', '{}'],
			['options.idleTimeout', 'number', 60],
			['options.include', 'string', ''],
			['options.instructions', 'string', ''],
			['options.maxOutputTokens', 'number', 1024],
			['options.maxRetries', 'number', 3],
			['options.metadata', 'json', '{}'],
			['options.outputFormat', 'fixedCollection', { format: { type: 'json_schema' } }],
			[
				'options.outputFormat.format.type',
				'options',
				'json_schema',
				['json_object', 'json_schema', 'text'],
			],
			['options.outputFormat.format.name', 'string', 'answer'],
			[
				'options.outputFormat.format.schema',
				'json',
				'{\n  "type": "object",\n  "properties": {\n    "category": { "type": "string", "enum": ["bug", "wish", "praise"] }\n  },\n  "required": ["category"],\n  "additionalProperties": false\n}',
			],
			['options.outputFormat.format.strict', 'boolean', true],
			['options.parallelToolCalls', 'boolean', true],
			['options.previousResponseId', 'string', ''],
			['options.binaryPropertyName', 'string', 'data'],
			[
				'options.reasoningEffort',
				'options',
				'medium',
				['high', 'low', 'medium', 'minimal', 'none'],
			],
			['options.reasoningSummary', 'options', 'auto', ['auto', 'concise', 'detailed']],
			['options.serviceTier', 'options', 'auto', ['auto', 'default', 'flex', 'priority']],
			['options.store', 'boolean', false],
			['options.temperature', 'number', 1],
			['options.timeout', 'number', 300],
			['options.toolChoice', 'string', 'auto'],
			['options.tools', 'json', '[]'],
			['options.topP', 'number', 1],
			['options.truncation', 'options', 'disabled', ['auto', 'disabled']],
		],
		'model: getAll': [
			['returnAll', 'boolean', false],
			['limit', 'number', 50],
			['options', 'collection', {}],
			['options.search', 'string', ''],
		],
	},
	modelAccessImage: {
		everywhere: [['resource', 'options', 'image', ['image', 'task']]],
		image: [['operation', 'options', 'generate', ['generate', 'edit']]],
		task: [['operation', 'options', 'get', ['get', 'wait']]],
		'image: generate': [
			['model', 'resourceLocator', { mode: 'list', value: '' }],
			['prompt', 'string', ''],
			['waitForCompletion', 'boolean', true],
			['downloadImages', 'boolean', true],
			['binaryPropertyName', 'string', 'data'],
			['options', 'collection', {}],
			['options.background', 'options', 'auto', ['auto', 'opaque', 'transparent']],
			['options.concurrency', 'number', 4],
			['options.extraBody', 'json', '{}'],
			['options.fileName', 'string', ''],
			['options.maxFileSize', 'number', 64],
			['options.maxRetries', 'number', 3],
			['options.maxWait', 'number', 900],
			['options.n', 'number', 1],
			['options.onTimeout', 'options', 'error', ['error', 'returnTask']],
			['options.outputFormat', 'options', 'png', ['jpeg', 'png', 'webp']],
			['options.pollInterval', 'number', 3],
			['options.quality', 'options', 'auto', ['auto', 'high', 'low', 'medium']],
			['options.size', 'string', '1024x1024'],
			['options.timeout', 'number', 60],
		],
		'image: edit': [
			['model', 'resourceLocator', { mode: 'list', value: '' }],
			['prompt', 'string', ''],
			['imageSource', 'options', 'binary', ['binary', 'url']],
			['imageBinaryPropertyNames', 'string', 'data'],
			['imageUrls', 'string', ''],
			['waitForCompletion', 'boolean', true],
			['downloadImages', 'boolean', true],
			['binaryPropertyName', 'string', 'data'],
			['options', 'collection', {}],
			['options.background', 'options', 'auto', ['auto', 'opaque', 'transparent']],
			['options.concurrency', 'number', 4],
			['options.extraBody', 'json', '{}'],
			['options.fileName', 'string', ''],
			['options.maskBinaryPropertyName', 'string', ''],
			['options.maskUrl', 'string', ''],
			['options.maxFileSize', 'number', 64],
			['options.maxRetries', 'number', 3],
			['options.maxWait', 'number', 900],
			['options.n', 'number', 1],
			['options.onTimeout', 'options', 'error', ['error', 'returnTask']],
			['options.outputFormat', 'options', 'png', ['jpeg', 'png', 'webp']],
			['options.pollInterval', 'number', 3],
			['options.quality', 'options', 'auto', ['auto', 'high', 'low', 'medium']],
			['options.size', 'string', '1024x1024'],
			['options.timeout', 'number', 60],
		],
		'task: get': [
			['taskId', 'string', ''],
			['downloadImages', 'boolean', true],
			['binaryPropertyName', 'string', 'data'],
			['options', 'collection', {}],
			['options.concurrency', 'number', 4],
			['options.fileName', 'string', ''],
			['options.maxFileSize', 'number', 64],
			['options.maxRetries', 'number', 3],
			['options.timeout', 'number', 60],
		],
		'task: wait': [
			['taskId', 'string', ''],
			['downloadImages', 'boolean', true],
			['binaryPropertyName', 'string', 'data'],
			['options', 'collection', {}],
			['options.concurrency', 'number', 4],
			['options.fileName', 'string', ''],
			['options.maxFileSize', 'number', 64],
			['options.maxRetries', 'number', 3],
			['options.maxWait', 'number', 900],
			['options.onTimeout', 'options', 'error', ['error', 'returnTask']],
			['options.pollInterval', 'number', 3],
			['options.timeout', 'number', 60],
		],
	},
};

const nodes: Record<string, INodeType> = {
	lmChatModelAccess: new LmChatModelAccess(),
	modelAccess: new ModelAccess(),
	modelAccessImage: new ModelAccessImage(),
};

/** Rows of properties and of all that is inside them. */
function rowsOf(properties: INodeProperties[], above = ''): Row[] {
	return properties.flatMap(({ name, type, default: initial, options = [] }): Row[] => {
		const path = `${above}${name}`;
		switch (type) {
			case 'options':
			case 'multiOptions':
				return [[path, type, initial, valuesOf(options as INodePropertyOptions[])]];
			case 'collection':
				return [[path, type, initial], ...rowsOf(options as INodeProperties[], `${path}.`)];
			case 'fixedCollection': {
				const groups = options as INodePropertyCollection[];
				const inside = groups.flatMap((group) => rowsOf(group.values, `${path}.${group.name}.`));
				return [[path, type, initial], ...inside];
			}
			default:
				return [[path, type, initial]];
		}
	});
}

const valuesOf = (options: INodePropertyOptions[]) => options.map(({ value }) => value);

/** The fields of a node by where they are shown: `resource`, or `resource: operation`. */
function fieldsOf({ description }: INodeType): Record<string, Row[]> {
	const found: Record<string, INodeProperties[]> = {};
	for (const property of description.properties) {
		for (const place of placesOf(property)) (found[place] ??= []).push(property);
	}
	return Object.fromEntries(Object.entries(found).map(([place, of]) => [place, rowsOf(of)]));
}

function placesOf({ displayOptions }: INodeProperties): string[] {
	const resources = displayOptions?.show?.resource as string[] | undefined;
	const operations = displayOptions?.show?.operation as string[] | undefined;
	if (!resources) return ['everywhere'];
	return resources.flatMap(
		(resource) => operations?.map((operation) => `${resource}: ${operation}`) ?? [resource],
	);
}

const places = Object.entries(TABLE).flatMap(([node, of]) =>
	Object.entries(of).map(([place, rows]): [string, string, Row[]] => [node, place, rows]),
);

test.each(places)('the fields of %s in "%s" are those of the table', (node, place, rows) => {
	expect(fieldsOf(nodes[node]!)[place]).toEqual(rows);
});

test.each(Object.entries(nodes))('%s shows fields nowhere else', (name, node) => {
	expect(Object.keys(fieldsOf(node)).sort()).toEqual(Object.keys(TABLE[name]!).sort());
});

test.each(Object.entries(nodes))('each default of %s is one of the choices', (_name, node) => {
	const choices = Object.values(fieldsOf(node))
		.flat()
		.filter(([, , , values]) => values !== undefined);
	expect(choices.length).toBeGreaterThan(1);
	for (const [path, , initial, values] of choices)
		expect([path, values]).toEqual([path, expect.arrayContaining([initial])]);
});
