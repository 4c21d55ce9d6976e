import {
	NodeHelpers,
	type INode,
	type INodeProperties,
	type INodePropertyCollection,
	type INodePropertyOptions,
	type INodeType,
	type NodeParameterValueType,
} from 'n8n-workflow';
import { ModelAccessApi } from '../../credentials/ModelAccessApi.credentials';
import { LmChatModelAccess } from '../../nodes/LmChatModelAccess/LmChatModelAccess.node';
import { create } from '../../nodes/ModelAccess/actions/response/create.operation';
import { ModelAccess } from '../../nodes/ModelAccess/ModelAccess.node';
import { ModelAccessImage } from '../../nodes/ModelAccessImage/ModelAccessImage.node';
import { searchImageModels, searchModels } from '../../nodes/shared/n8n/fields/model-picker';
import { prepareNode } from '../../scripts/engine/index';
import { byId } from './arrange';

/** A field: its type, its default and, where it is a choice, the values of it. */
type Field = [type: string, initial: NodeParameterValueType, values?: unknown[]];
/** Fields by name, those of a collection by `collection.name`. */
type Fields = Record<string, Field>;

const text = (initial = ''): Field => ['string', initial];
const number = (initial: number): Field => ['number', initial];
const toggle = (initial: boolean): Field => ['boolean', initial];
const json = (initial: string): Field => ['json', initial];
const oneOf = (initial: string, ...values: string[]): Field => ['options', initial, values];
const model: Fields = { model: ['resourceLocator', { mode: 'list', value: '' }] };
const options = (fields: Fields): Fields => ({
	options: ['collection', {}],
	...Object.fromEntries(Object.entries(fields).map(([name, of]) => [`options.${name}`, of])),
});

const answering: Fields = {
	extraBody: json('{}'),
	idleTimeout: number(60),
	include: text(),
	maxOutputTokens: number(1024),
	maxRetries: number(3),
	reasoningEffort: oneOf('medium', 'high', 'low', 'medium', 'minimal', 'none', 'xhigh'),
	metadata: json('{}'),
	promptCacheKey: text(),
	reasoningSummary: oneOf('auto', 'auto', 'concise', 'detailed'),
	safetyIdentifier: text(),
	verbosity: oneOf('medium', 'high', 'low', 'medium'),
	serviceTier: oneOf('auto', 'auto', 'default', 'flex', 'priority'),
	store: toggle(false),
	temperature: number(1),
	timeout: number(300),
	topP: number(1),
};
const schema =
	'{\n  "type": "object",\n  "properties": {\n    "category": { "type": "string", "enum": ["bug", "wish", "praise"] }\n  },\n  "required": ["category"],\n  "additionalProperties": false\n}';
const format = (name: string): Fields => ({
	[name]: ['fixedCollection', { format: { type: 'json_schema' } }],
	[`${name}.format.type`]: oneOf('json_schema', 'json_object', 'json_schema', 'text'),
	[`${name}.format.name`]: text('answer'),
	[`${name}.format.schema`]: json(schema),
	[`${name}.format.strict`]: toggle(true),
});
const builtInTools = (more: Fields = {}): Fields => ({
	builtInTools: ['collection', {}],
	'builtInTools.codeInterpreter': toggle(true),
	'builtInTools.fileSearch': ['collection', { vectorStoreIds: '[]' }],
	'builtInTools.fileSearch.filters': json('{}'),
	'builtInTools.fileSearch.maxResults': number(1),
	'builtInTools.fileSearch.vectorStoreIds': json('[]'),
	...more,
	'builtInTools.webSearch': ['collection', { searchContextSize: 'medium' }],
	'builtInTools.webSearch.city': text(),
	'builtInTools.webSearch.country': text(),
	'builtInTools.webSearch.region': text(),
	'builtInTools.webSearch.searchContextSize': oneOf('medium', 'high', 'low', 'medium'),
	'builtInTools.webSearch.allowedDomains': text(),
});
const delivery = {
	simplify: toggle(true),
	downloadImages: toggle(true),
	binaryPropertyName: text('data'),
};
const looking: Fields = {
	concurrency: number(4),
	fileName: text(),
	maxFileSize: number(64),
	maxRetries: number(3),
	timeout: number(60),
};
const waiting: Fields = {
	...looking,
	maxWait: number(900),
	onTimeout: oneOf('error', 'error', 'returnTask'),
	pollInterval: number(3),
};
const drawing: Fields = {
	...waiting,
	background: oneOf('auto', 'auto', 'opaque', 'transparent'),
	extraBody: json('{}'),
	n: number(1),
	outputFormat: oneOf('png', 'jpeg', 'png', 'webp'),
	quality: oneOf('auto', 'auto', 'high', 'low', 'medium'),
	size: oneOf('auto', 'auto', '1536x1024', '1024x1536', '1024x1024'),
};

/**
 * Every field of all nodes by where it is shown, in the order of the panel. They are saved in
 * people's workflows: a row that changes or goes breaks those, and a new one has to be added here.
 */
const TABLE: Record<string, Record<string, Fields>> = {
	lmChatModelAccess: {
		everywhere: {
			notice: ['notice', ''],
			...model,
			...builtInTools(),
			...options({ ...answering, ...format('responseFormat') }),
		},
	},
	modelAccess: {
		everywhere: { resource: oneOf('response', 'response', 'model') },
		response: { operation: oneOf('create', 'create') },
		model: { operation: oneOf('getAll', 'getAll') },
		'response: create': {
			...model,
			inputType: oneOf('text', 'json', 'messages', 'text'),
			prompt: text(),
			messages: ['fixedCollection', { message: [{ role: 'user', type: 'text', text: '' }] }],
			'messages.message.role': oneOf('user', 'assistant', 'developer', 'system', 'user'),
			'messages.message.type': oneOf('text', 'file', 'image', 'text'),
			'messages.message.text': text(),
			'messages.message.imageSource': oneOf('binary', 'binary', 'url'),
			'messages.message.binaryPropertyNames': text('data'),
			'messages.message.imageUrl': text(),
			'messages.message.detail': oneOf('auto', 'auto', 'high', 'low'),
			'messages.message.fileBinaryPropertyNames': text('data'),
			inputJson: json('[\n  { "role": "user", "content": "Hello" }\n]'),
			instructions: text(),
			stream: toggle(false),
			simplify: toggle(true),
			...builtInTools({ 'builtInTools.imageGeneration': toggle(true) }),
			...options({
				...answering,
				binaryPropertyName: text('data'),
				concurrency: number(4),
				conversationId: text(),
				maxToolCalls: number(15),
				promptConfig: ['fixedCollection', { promptOptions: {} }],
				'promptConfig.promptOptions.promptId': text(),
				'promptConfig.promptOptions.version': text(),
				'promptConfig.promptOptions.variables': json('{}'),
				topLogprobs: number(0),
				...format('outputFormat'),
				parallelToolCalls: toggle(true),
				previousResponseId: text(),
				toolChoice: text('auto'),
				tools: json('[]'),
				truncation: oneOf('disabled', 'auto', 'disabled'),
			}),
		},
		'model: getAll': {
			returnAll: toggle(false),
			limit: number(50),
			...options({ search: text() }),
		},
	},
	modelAccessImage: {
		everywhere: { resource: oneOf('image', 'image', 'task') },
		image: { operation: oneOf('generate', 'generate', 'edit') },
		task: { operation: oneOf('get', 'get', 'wait') },
		'image: generate': {
			...model,
			prompt: text(),
			waitForCompletion: toggle(true),
			...delivery,
			...options(drawing),
		},
		'image: edit': {
			...model,
			prompt: text(),
			images: [
				'fixedCollection',
				{ image: [{ source: 'binary', binaryPropertyName: 'data', url: '' }] },
			],
			'images.image.source': oneOf('binary', 'binary', 'url'),
			'images.image.binaryPropertyName': text('data'),
			'images.image.url': text(),
			waitForCompletion: toggle(true),
			...delivery,
			...options({ ...drawing, maskBinaryPropertyName: text(), maskUrl: text() }),
		},
		'task: get': { taskId: text(), ...delivery, ...options(looking) },
		'task: wait': { taskId: text(), ...delivery, ...options(waiting) },
	},
};

/** What the user has to fill in, by operation; all else is complete as it comes from the panel. */
const MISSING: Record<string, string[]> = {
	'response: create': ['model', 'prompt'],
	'model: getAll': [],
	'image: generate': ['model', 'prompt'],
	'image: edit': ['model', 'prompt'],
	'task: get': ['taskId'],
	'task: wait': ['taskId'],
};

/** What the canvas shows below the node's name, by operation. */
const SUBTITLES: Record<string, string> = {
	'response: create': 'Create Response',
	'model: getAll': 'List Models',
	'image: generate': 'Generate Image',
	'image: edit': 'Edit Image',
	'task: get': 'Get Task',
	'task: wait': 'Wait for Task',
};

const nodes: Array<[string, INodeType]> = [
	new LmChatModelAccess(),
	new ModelAccess(),
	new ModelAccessImage(),
].map((node) => [node.description.name, node]);

/** Properties by their path, with those in collections of every depth. */
function withInner(properties: INodeProperties[], above = ''): Array<[string, INodeProperties]> {
	return properties.flatMap((property): Array<[string, INodeProperties]> => {
		const { name, type, options: inner = [] } = property;
		const path = `${above}${name}`;
		const groups = type === 'fixedCollection' ? (inner as INodePropertyCollection[]) : [];
		return [
			[path, property],
			...groups.flatMap((group) => withInner(group.values, `${path}.${group.name}.`)),
			...(type === 'collection' ? withInner(inner as INodeProperties[], `${path}.`) : []),
		];
	});
}

const choicesOf = ({ options: choices = [] }: INodeProperties) => choices as INodePropertyOptions[];

/** Where a property is shown: `everywhere`, `resource`, or `resource: operation`. */
function placesOf({ displayOptions }: INodeProperties): string[] {
	const show = (displayOptions?.show ?? {}) as Record<string, string[] | undefined>;
	const { resource: resources, operation: operations } = show;
	if (!resources) return ['everywhere'];
	return resources.flatMap((resource) =>
		operations ? operations.map((operation) => `${resource}: ${operation}`) : [resource],
	);
}

function shownAt({ description }: INodeType, place: string) {
	return withInner(description.properties.filter((field) => placesOf(field).includes(place)));
}

describe.each(nodes)('the node %s', (name, node) => {
	const { description } = node;
	const { properties } = description;
	const places = Object.keys(TABLE[name]!);
	const operations = places.filter((place) => place.includes(': '));

	test.each(places)('has the fields of the table at "%s"', (place) => {
		const shown = shownAt(node, place);
		const fields = shown.map(([path, field]): [string, Field] => {
			const { type, default: initial } = field;
			const values = choicesOf(field).map(({ value }) => value);
			return [path, type === 'options' ? [type, initial, values] : [type, initial]];
		});
		const table = TABLE[name]![place]!;
		expect(Object.fromEntries(fields)).toEqual(table);
		expect(fields).toHaveLength(Object.keys(table).length);
		const outside = (path: string) => !path.startsWith('options.');
		const order = fields.map(([path]) => path).filter(outside);
		expect(order).toEqual(Object.keys(table).filter(outside));
		const names = shown.filter(([path]) => /^options\.\w+$/.test(path));
		const sorted = names.map(([, { displayName }]) => displayName);
		expect(sorted).toEqual([...sorted].sort((a, b) => a.localeCompare(b)));
	});

	test('shows a field nowhere else', () => {
		expect(new Set(properties.flatMap(placesOf))).toEqual(new Set(places));
	});

	test('lacks only what the user alone knows', () => {
		for (const place of operations.length > 0 ? operations : ['everywhere']) {
			const [resource, operation] = place.split(': ');
			const chosen = operation === undefined ? {} : { resource, operation };
			const parameters =
				NodeHelpers.getNodeParameters(properties, chosen, true, false, null, description) ?? {};
			const placed = { ...prepareNode({ node }).node, parameters } as INode;
			const issues = NodeHelpers.getNodeParametersIssues(properties, placed, description);
			const missing = Object.keys(issues?.parameters ?? {}).sort();
			expect([place, missing]).toEqual([place, MISSING[place] ?? ['model']]);
		}
	});

	test('shows under its name what it is set to', () => {
		const subtitleOf = (parameters: object) => {
			const given = { node, parameters: parameters as INode['parameters'] };
			const { workflow, node: placed } = prepareNode(given);
			const { expression } = workflow;
			return expression.getSimpleParameterValue(placed, description.subtitle, 'manual', {});
		};
		if (operations.length === 0) {
			expect(subtitleOf({ model: byId('aurora-text-1') })).toBe('aurora-text-1');
		}
		for (const place of operations) {
			const [resource, operation] = place.split(': ');
			expect(subtitleOf({ resource, operation })).toBe(SUBTITLES[place]);
		}
	});

	test('needs the credential, and is a tool or a model for agents', () => {
		const isModel = name === 'lmChatModelAccess';
		expect(description).toMatchObject({
			version: 1,
			credentials: [{ name: 'modelAccessApi', required: true }],
			...(isModel
				? { inputs: [], outputs: ['ai_languageModel'] }
				: { inputs: ['main'], outputs: ['main'], usableAsTool: true }),
		});
		const search = name === 'modelAccessImage' ? searchImageModels : searchModels;
		expect(node.methods?.listSearch).toEqual({ searchModels: search });
	});

	test('names every operation for the nodes panel, with a verb first', () => {
		for (const field of properties.filter((property) => property.name === 'operation')) {
			for (const { action, description: says } of choicesOf(field)) {
				expect(action).toMatch(/^[A-Z][a-z]+ (for )?(a|an|many) [a-z]/);
				expect(says).toMatch(/^[A-Z]/);
			}
		}
	});

	const UNITS: Record<string, string> = {
		timeout: '(Seconds)',
		idleTimeout: '(Seconds)',
		maxWait: '(Seconds)',
		pollInterval: '(Seconds)',
		maxFileSize: '(MB)',
	};
	const silent = ['notice', 'resource', 'operation', 'options'];
	test.each<[string, (field: INodeProperties) => boolean]>([
		[
			'is explained',
			({ name: of, type, description: says, hint }) =>
				silent.includes(of) || type === 'fixedCollection' || Boolean(says ?? hint),
		],
		[
			'is explained by one sentence without a full stop, or by several with',
			({ description: says = '' }) => /[.!?] /.test(says) === says.endsWith('.'),
		],
		[
			'has no blank around its words, and no part left out',
			({ description: says = '' }) => says === says.trim() && !says.includes('undefined'),
		],
		[
			'begins with Whether, if it is on or off',
			({ type, description: says }) => type !== 'boolean' || /^Whether /.test(says ?? ''),
		],
		[
			'has a name in title case, with its unit',
			({ type, name: of, displayName }) =>
				type === 'notice' || (/^[A-Z]/.test(displayName) && displayName.endsWith(UNITS[of] ?? '')),
		],
		[
			'is a list that can be searched or an ID, if it is a model',
			({ type, modes }) =>
				type !== 'resourceLocator' ||
				(modes?.map((mode) => mode.name).join() === 'list,id' &&
					modes[0]?.typeOptions?.searchListMethod === 'searchModels' &&
					modes[0].typeOptions.searchable === true),
		],
	])('each field %s', (_rule, holds) => {
		const broken = withInner(properties).filter(([, field]) => !holds(field));
		expect(broken.map(([path]) => path)).toEqual([]);
	});

	test('names no field twice in one view', () => {
		const views = properties.map((field) => JSON.stringify([field.name, field.displayOptions]));
		expect(new Set(views).size).toBe(views.length);
	});
});

test('the chat model has its options from Response → Create, with the same words', () => {
	const optionsOf = (properties: INodeProperties[]) =>
		properties.find(({ name }) => name === 'options')?.options ?? [];
	const { properties } = new LmChatModelAccess().description;
	const own = ['responseFormat'];
	const shared = optionsOf(properties).filter(({ name }) => !own.includes(name));
	expect(optionsOf(create.properties)).toEqual(expect.arrayContaining(shared));
});

test('the credential hides the key and shows what an address looks like', () => {
	const { name, properties, test: check, documentationUrl } = new ModelAccessApi();
	const field = { type: 'string', required: true, default: '' };
	expect(name).toBe('modelAccessApi');
	expect(properties).toMatchObject([
		{ ...field, name: 'apiKey', typeOptions: { password: true } },
		{ ...field, name: 'baseUrl', placeholder: 'https://api.example.com/v1' },
		{ name: 'allowPrivateHttp', type: 'boolean', default: false },
	]);
	expect(check.request).toMatchObject({ url: '/models' });
	expect(documentationUrl).toMatch(/^https:\/\//);
});
