/** A choice, or a field whose type its default does not tell. */
type Field = [type: string, initial: unknown, values?: string[]];
/** Fields by name, those of a collection by `collection.name`: the default, whose type is theirs. */
type Fields = Record<string, string | number | boolean | Field>;

const json = (initial: string): Field => ['json', initial];
const oneOf = (initial: string, ...values: string[]): Field => ['options', initial, values];
const model: Fields = { model: ['resourceLocator', { mode: 'list', value: '' }] };
const within = (name: string, fields: Fields): Fields =>
	Object.fromEntries(Object.entries(fields).map(([inner, of]) => [`${name}.${inner}`, of]));
const BARE: Field = ['collection', {}];
const options = (of: Fields): Fields => ({ options: BARE, ...within('options', of) });
const advanced = (of: Fields): Fields => ({ advanced: BARE, ...within('advanced', of) });

const answering: Fields = {
	...{ maxOutputTokens: 1024, temperature: 1, topP: 1 },
	reasoningEffort: oneOf('medium', 'high', 'low', 'medium', 'minimal', 'none', 'xhigh'),
	reasoningSummary: oneOf('auto', 'auto', 'concise', 'detailed'),
	verbosity: oneOf('medium', 'high', 'low', 'medium'),
};
const carrying: Fields = {
	...{ extraBody: json('{}'), idleTimeout: 60, include: '', maxRetries: 3, metadata: json('{}') },
	...{ promptCacheKey: '', safetyIdentifier: '', store: false, timeout: 300 },
	serviceTier: oneOf('auto', 'auto', 'default', 'flex', 'priority'),
};
const schema =
	'{\n  "type": "object",\n  "properties": {\n    "category": { "type": "string", "enum": ["bug", "wish", "praise"] }\n  },\n  "required": ["category"],\n  "additionalProperties": false\n}';
const format = (name: string): Fields => ({
	[name]: ['fixedCollection', { format: { type: 'json_schema' } }],
	[`${name}.format.type`]: oneOf('json_schema', 'json_object', 'json_schema', 'text'),
	...within(`${name}.format`, { name: 'answer', schema: json(schema), strict: true }),
});
const builtInTools = (more: Fields = {}): Fields => ({
	builtInTools: BARE,
	...within('builtInTools', {
		codeInterpreter: true,
		fileSearch: ['collection', { vectorStoreIds: '[]' }],
		'fileSearch.filters': json('{}'),
		'fileSearch.maxResults': 1,
		'fileSearch.vectorStoreIds': json('[]'),
		...more,
		webSearch: ['collection', { searchContextSize: 'medium' }],
		...within('webSearch', { allowedDomains: '', city: '', country: '', region: '' }),
		'webSearch.searchContextSize': oneOf('medium', 'high', 'low', 'medium'),
	}),
});
const looking: Fields = {
	...{ binaryPropertyName: 'data', concurrency: 4, downloadImages: true },
	...{ maxFileSize: 64, maxRetries: 3, timeout: 60 },
};
const onTimeout = oneOf('error', 'error', 'returnTask');
const waiting: Fields = { ...looking, maxWait: 900, onTimeout, pollInterval: 3 };
const drawing: Fields = {
	...{ fileName: '', n: 1, background: oneOf('auto', 'auto', 'opaque', 'transparent') },
	outputFormat: oneOf('png', 'jpeg', 'png', 'webp'),
	quality: oneOf('auto', 'auto', 'high', 'low', 'medium'),
	size: oneOf('auto', 'auto', '1536x1024', '1024x1536', '1024x1024'),
};
const IMAGE = { source: 'binary', binaryPropertyName: 'data', url: '' };

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
			toolDescription:
				'Asks an AI model and returns its answer (text). If the tool asks for JSON, it also returns the JSON of the answer (parsed).',
			...model,
			inputType: oneOf('text', 'text', 'messages', 'json'),
			prompt: '',
			messages: ['fixedCollection', { message: [{ type: 'text', role: 'user', text: '' }] }],
			'messages.message.type': oneOf('text', 'text', 'image', 'file'),
			'messages.message.role': oneOf('user', 'user', 'assistant', 'system', 'developer'),
			'messages.message.text': '',
			'messages.message.imageSource': oneOf('binary', 'binary', 'url'),
			'messages.message.binaryPropertyNames': 'data',
			'messages.message.imageUrl': '',
			'messages.message.detail': oneOf('auto', 'auto', 'high', 'low'),
			'messages.message.fileBinaryPropertyNames': 'data',
			inputJson: json('[\n  { "role": "user", "content": "Hello" }\n]'),
			...{ instructions: '', stream: false, simplify: true },
			...builtInTools({ imageGeneration: true }),
			...options({
				...{ ...answering, ...format('outputFormat'), conversationId: '', maxToolCalls: 15 },
				...{ parallelToolCalls: true, previousResponseId: '', topLogprobs: 0 },
				promptConfig: ['fixedCollection', { promptOptions: {} }],
				...within('promptConfig.promptOptions', { promptId: '', version: '' }),
				'promptConfig.promptOptions.variables': json('{}'),
				...{ toolChoice: 'auto', tools: json('[]') },
			}),
			...advanced({
				...{ ...carrying, binaryPropertyName: 'data', concurrency: 4 },
				truncation: oneOf('disabled', 'auto', 'disabled'),
			}),
		},
		'model: getAll': {
			toolDescription:
				'Lists the AI models that are available. Returns the ID of each model (id) and, if known, its name (display_name).',
			...{ returnAll: false, limit: 50, ...options({ search: '' }) },
		},
	},
	modelAccessImage: {
		everywhere: { resource: oneOf('image', 'image', 'task') },
		image: { operation: oneOf('generate', 'generate', 'edit') },
		task: { operation: oneOf('get', 'get', 'wait') },
		'image: generate': {
			toolDescription:
				'Generates an image from a text prompt. Returns the URL of the image (image_url), when the URL expires (expires_at), and the ID of the task (task_id). If image_url is missing, the image is not done yet.',
			...{ ...model, prompt: '', waitForCompletion: true, simplify: true },
			...options(drawing),
			...advanced({ ...waiting, extraBody: json('{}') }),
		},
		'image: edit': {
			toolDescription:
				'Edits images by a text prompt. Returns the URL of the image (image_url), when the URL expires (expires_at), and the ID of the task (task_id). If image_url is missing, the image is not done yet.',
			...{ ...model, prompt: '', images: ['fixedCollection', { image: [IMAGE] }] },
			'images.image.source': oneOf('binary', 'binary', 'url'),
			...within('images.image', { binaryPropertyName: 'data', url: '' }),
			...{ waitForCompletion: true, simplify: true },
			...options({ ...drawing, maskBinaryPropertyName: '', maskUrl: '' }),
			...advanced({ ...waiting, extraBody: json('{}') }),
		},
		'task: get': {
			toolDescription:
				'Looks at an image task once, by its task ID. Returns its status (status) and, if the image is done, the URL of the image (image_url).',
			...{ taskId: '', simplify: true, ...options({ fileName: '' }) },
			...advanced(looking),
		},
		'task: wait': {
			toolDescription:
				'Waits until an image task is done, by its task ID. Returns the URL of the image (image_url) and when the URL expires (expires_at).',
			...{ taskId: '', simplify: true, ...options({ fileName: '' }) },
			...advanced(waiting),
		},
	},
};

/**
 * What the canvas shows below the node's name, by operation, and what the user has to fill in: all
 * else is complete as it comes from the panel.
 */
export const OPERATIONS: Record<string, [subtitle: string, ...missing: string[]]> = {
	'response: create': ['Create Response', 'model', 'prompt'],
	'model: getAll': ['List Models'],
	'image: generate': ['Generate Image', 'model', 'prompt'],
	'image: edit': ['Edit Image', 'model', 'prompt'],
	'task: get': ['Get Task', 'taskId'],
	'task: wait': ['Wait for Task', 'taskId'],
};
