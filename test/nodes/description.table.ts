import type { NodeParameterValueType } from 'n8n-workflow';

/** A field: its type, its default and, where it is a choice, the values of it. */
export type Field = [type: string, initial: NodeParameterValueType, values?: unknown[]];
/** Fields by name, those of a collection by `collection.name`. */
export type Fields = Record<string, Field>;

const text = (initial = ''): Field => ['string', initial];
const number = (initial: number): Field => ['number', initial];
const toggle = (initial: boolean): Field => ['boolean', initial];
const json = (initial: string): Field => ['json', initial];
const oneOf = (initial: string, ...values: string[]): Field => ['options', initial, values];
const model: Fields = { model: ['resourceLocator', { mode: 'list', value: '' }] };
const collection = (name: string, fields: Fields): Fields => ({
	[name]: ['collection', {}],
	...Object.fromEntries(Object.entries(fields).map(([inner, of]) => [`${name}.${inner}`, of])),
});
const options = (fields: Fields): Fields => collection('options', fields);
const advanced = (fields: Fields): Fields => collection('advanced', fields);
/** Shown where an agent uses the node as a tool. */
const tool = (says: string): Fields => ({ toolDescription: text(says) });

const answering: Fields = {
	maxOutputTokens: number(1024),
	reasoningEffort: oneOf('medium', 'high', 'low', 'medium', 'minimal', 'none', 'xhigh'),
	reasoningSummary: oneOf('auto', 'auto', 'concise', 'detailed'),
	temperature: number(1),
	topP: number(1),
	verbosity: oneOf('medium', 'high', 'low', 'medium'),
};
const carrying: Fields = {
	extraBody: json('{}'),
	idleTimeout: number(60),
	include: text(),
	maxRetries: number(3),
	metadata: json('{}'),
	promptCacheKey: text(),
	safetyIdentifier: text(),
	serviceTier: oneOf('auto', 'auto', 'default', 'flex', 'priority'),
	store: toggle(false),
	timeout: number(300),
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
	'builtInTools.webSearch.allowedDomains': text(),
	'builtInTools.webSearch.city': text(),
	'builtInTools.webSearch.country': text(),
	'builtInTools.webSearch.region': text(),
	'builtInTools.webSearch.searchContextSize': oneOf('medium', 'high', 'low', 'medium'),
});
const simplify = { simplify: toggle(true) };
const named: Fields = { fileName: text() };
const looking: Fields = {
	binaryPropertyName: text('data'),
	concurrency: number(4),
	downloadImages: toggle(true),
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
	...named,
	background: oneOf('auto', 'auto', 'opaque', 'transparent'),
	n: number(1),
	outputFormat: oneOf('png', 'jpeg', 'png', 'webp'),
	quality: oneOf('auto', 'auto', 'high', 'low', 'medium'),
	size: oneOf('auto', 'auto', '1536x1024', '1024x1536', '1024x1024'),
};

/**
 * Every field of all nodes by where it is shown, in the order of the panel. They are saved in
 * people's workflows: a row that changes or goes breaks those, and a new one has to be added here.
 */
export const TABLE: Record<string, Record<string, Fields>> = {
	lmChatModelAccess: {
		everywhere: {
			notice: ['notice', ''],
			...model,
			...builtInTools(),
			...options({ ...answering, ...format('responseFormat') }),
			...advanced(carrying),
		},
	},
	modelAccess: {
		everywhere: { resource: oneOf('response', 'response', 'model') },
		response: { operation: oneOf('create', 'create') },
		model: { operation: oneOf('getAll', 'getAll') },
		'response: create': {
			...tool(
				'Asks an AI model and returns its answer (text). If the tool asks for JSON, it also returns the JSON of the answer (parsed).',
			),
			...model,
			inputType: oneOf('text', 'text', 'messages', 'json'),
			prompt: text(),
			messages: ['fixedCollection', { message: [{ type: 'text', role: 'user', text: '' }] }],
			'messages.message.type': oneOf('text', 'text', 'image', 'file'),
			'messages.message.role': oneOf('user', 'user', 'assistant', 'system', 'developer'),
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
				conversationId: text(),
				maxToolCalls: number(15),
				...format('outputFormat'),
				parallelToolCalls: toggle(true),
				previousResponseId: text(),
				promptConfig: ['fixedCollection', { promptOptions: {} }],
				'promptConfig.promptOptions.promptId': text(),
				'promptConfig.promptOptions.version': text(),
				'promptConfig.promptOptions.variables': json('{}'),
				toolChoice: text('auto'),
				tools: json('[]'),
				topLogprobs: number(0),
			}),
			...advanced({
				...carrying,
				binaryPropertyName: text('data'),
				concurrency: number(4),
				truncation: oneOf('disabled', 'auto', 'disabled'),
			}),
		},
		'model: getAll': {
			...tool(
				'Lists the AI models that are available. Returns the ID of each model (id) and, if known, its name (display_name).',
			),
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
			...tool(
				'Generates an image from a text prompt. Returns the URL of the image (image_url), when the URL expires (expires_at), and the ID of the task (task_id). If image_url is missing, the image is not done yet.',
			),
			...model,
			prompt: text(),
			waitForCompletion: toggle(true),
			...simplify,
			...options(drawing),
			...advanced({ ...waiting, extraBody: json('{}') }),
		},
		'image: edit': {
			...tool(
				'Edits images by a text prompt. Returns the URL of the image (image_url), when the URL expires (expires_at), and the ID of the task (task_id). If image_url is missing, the image is not done yet.',
			),
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
			...simplify,
			...options({ ...drawing, maskBinaryPropertyName: text(), maskUrl: text() }),
			...advanced({ ...waiting, extraBody: json('{}') }),
		},
		'task: get': {
			...tool(
				'Looks at an image task once, by its task ID. Returns its status (status) and, if the image is done, the URL of the image (image_url).',
			),
			taskId: text(),
			...simplify,
			...options(named),
			...advanced(looking),
		},
		'task: wait': {
			...tool(
				'Waits until an image task is done, by its task ID. Returns the URL of the image (image_url) and when the URL expires (expires_at).',
			),
			taskId: text(),
			...simplify,
			...options(named),
			...advanced(waiting),
		},
	},
};

/** What the user has to fill in, by operation; all else is complete as it comes from the panel. */
export const MISSING: Record<string, string[]> = {
	'response: create': ['model', 'prompt'],
	'model: getAll': [],
	'image: generate': ['model', 'prompt'],
	'image: edit': ['model', 'prompt'],
	'task: get': ['taskId'],
	'task: wait': ['taskId'],
};

/** What the canvas shows below the node's name, by operation. */
export const SUBTITLES: Record<string, string> = {
	'response: create': 'Create Response',
	'model: getAll': 'List Models',
	'image: generate': 'Generate Image',
	'image: edit': 'Edit Image',
	'task: get': 'Get Task',
	'task: wait': 'Wait for Task',
};
