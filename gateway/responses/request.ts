import { isObject, type JsonObject } from '../body';
import { ApiError, badField } from '../errors';
import { Fields } from '../fields';
import { decodePng } from '../drawing/png';
import { readDataUrl, readUpload } from '../images/upload';

/** A part of a message. */
export type Part =
	| { kind: 'text'; text: string }
	| { kind: 'image'; about: string }
	| { kind: 'file'; about: string };

/** An input item: the fields that the answer depends on. */
export type InputItem =
	| { type: 'message'; role: Role; parts: Part[] }
	| { type: 'function_call'; callId: string; name: string; arguments: string }
	| { type: 'function_call_output'; callId: string; output: string }
	/** @param reference the ID that the gateway has to know if the item has no content */
	| { type: 'other'; reference?: string };

const ROLES = ['user', 'assistant', 'system', 'developer'] as const;
export type Role = (typeof ROLES)[number];

export interface FunctionTool {
	name: string;
	parameters: JsonObject;
}

export type ToolChoice =
	| { mode: 'auto' | 'none' | 'required' }
	/** Only these functions. */
	| { mode: 'functions'; names: string[] }
	/** A hosted tool, by its type. */
	| { mode: 'hosted'; type: string };

export type Format =
	| { type: 'text' }
	| { type: 'json_object' }
	| { type: 'json_schema'; schema: JsonObject };

/** A valid request for a response. */
export interface ResponseRequest {
	model: string;
	input: InputItem[];
	instructions?: string;
	stream: boolean;
	store: boolean;
	previousResponseId?: string;
	maxOutputTokens: number;
	functions: FunctionTool[];
	/** Tools other than functions: their types and options. */
	hosted: Map<string, JsonObject>;
	toolChoice: ToolChoice;
	parallelToolCalls: boolean;
	format: Format;
	/** Whether the request asks for a reasoning summary. */
	summary: boolean;
	include: string[];
	/** The fields of the request that the response object repeats. */
	echo: JsonObject;
}

const NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'] as const;
const SUMMARIES = ['auto', 'concise', 'detailed'] as const;
const TIERS = ['auto', 'default', 'flex', 'scale', 'priority'] as const;

/**
 * Reads the body of `POST /v1/responses` (contract: Resources, Response request). Fields that the
 * contract does not name follow the OpenAI Responses format.
 * @throws ApiError 400 naming the field
 */
export function readResponseRequest(body: JsonObject, pixelLimit: number): ResponseRequest {
	const fields = new Fields(body);
	if (fields.has('messages')) {
		throw badField(
			'messages',
			'belongs to Chat Completions: the Responses endpoint uses input',
			'endpoint_mismatch',
		);
	}
	const model = fields.text('model');
	const input = readInput(fields, pixelLimit);
	const instructions = fields.string('instructions');
	const tools = fields.objects('tools') ?? [];
	const functions = tools.filter(({ object }) => object.type === 'function').map(readFunction);
	const hosted = new Map<string, JsonObject>();
	for (const tool of tools) {
		const type = tool.text('type');
		if (type !== 'function') hosted.set(type, tool.object);
	}
	const toolChoice = readToolChoice(fields, functions, tools.length > 0);
	const format = readFormat(fields);
	const reasoning = fields.record('reasoning');
	const effort = reasoning?.oneOf('effort', EFFORTS);
	const summary = reasoning?.oneOf('summary', SUMMARIES);
	const metadata = fields.record('metadata');
	for (const name of Object.keys(metadata?.object ?? {})) metadata?.string(name);
	if (fields.boolean('background')) throw badField('background', 'is not supported');
	fields.record('stream_options');
	const tier = fields.oneOf('service_tier', TIERS);
	const request = {
		model,
		input,
		instructions,
		stream: fields.boolean('stream') ?? false,
		store: fields.boolean('store') ?? true,
		previousResponseId: fields.string('previous_response_id'),
		maxOutputTokens: fields.integer('max_output_tokens', 1) ?? Infinity,
		functions,
		hosted,
		toolChoice,
		parallelToolCalls: fields.boolean('parallel_tool_calls') ?? true,
		format,
		summary: summary !== undefined,
		include: fields.strings('include') ?? [],
	};
	return {
		...request,
		echo: {
			background: false,
			instructions: instructions ?? null,
			max_output_tokens: fields.integer('max_output_tokens', 1) ?? null,
			max_tool_calls: fields.integer('max_tool_calls', 1) ?? null,
			metadata: metadata?.object ?? {},
			model,
			parallel_tool_calls: request.parallelToolCalls,
			previous_response_id: request.previousResponseId ?? null,
			prompt_cache_key: fields.string('prompt_cache_key') ?? null,
			reasoning: { effort: effort ?? null, summary: summary ?? null },
			safety_identifier: fields.string('safety_identifier') ?? null,
			service_tier: tier === undefined || tier === 'auto' ? 'default' : tier,
			store: request.store,
			temperature: fields.number('temperature', 0, 2) ?? 1,
			text: { format: { type: 'text' }, verbosity: 'medium', ...fields.record('text')?.object },
			tool_choice: body.tool_choice ?? 'auto',
			tools: tools.map(({ object }) => object),
			top_logprobs: fields.integer('top_logprobs', 0, 20) ?? 0,
			top_p: fields.number('top_p', 0, 1) ?? 1,
			truncation: fields.oneOf('truncation', ['auto', 'disabled']) ?? 'disabled',
			user: fields.string('user') ?? null,
		},
	};
}

function readInput(fields: Fields, pixelLimit: number): InputItem[] {
	if (!fields.has('input')) throw badField('input', 'is required', 'missing_field');
	const { input } = fields.object;
	if (typeof input === 'string') {
		const text = fields.text('input');
		return [{ type: 'message', role: 'user', parts: [{ kind: 'text', text }] }];
	}
	if (!Array.isArray(input)) {
		throw badField('input', 'must be a string or an array of input items', 'invalid_type');
	}
	const items = fields.objects('input') ?? [];
	if (items.length === 0) throw badField('input', 'must not be empty');
	return items.map((item) => readItem(item, pixelLimit));
}

/** Types of items that a client may send back and that have no effect here. */
const SILENT = [
	'reasoning',
	'item_reference',
	'image_generation_call',
	'web_search_call',
	'file_search_call',
	'code_interpreter_call',
];

function readItem(item: Fields, pixelLimit: number): InputItem {
	const type = item.string('type') ?? 'message';
	switch (type) {
		case 'message':
			return {
				type,
				role: item.oneOf('role', ROLES) ?? missing(item.path('role')),
				parts: readContent(item, 'content', pixelLimit),
			};
		case 'function_call':
			return {
				type,
				callId: item.text('call_id'),
				name: item.text('name'),
				arguments: item.string('arguments') ?? missing(item.path('arguments')),
			};
		case 'function_call_output': {
			const parts = readContent(item, 'output', pixelLimit);
			return { type, callId: item.text('call_id'), output: textOf(parts) };
		}
		default:
			if (SILENT.includes(type)) return { type: 'other', reference: referenceOf(item, type) };
			throw badField(item.path('type'), `has the unknown value '${type}'`);
	}
}

function referenceOf(item: Fields, type: string): string | undefined {
	const isReference = type === 'item_reference' || type === 'reasoning';
	return isReference && !item.has('encrypted_content') ? item.string('id') : undefined;
}

function missing(path: string): never {
	throw badField(path, 'is required', 'missing_field');
}

function readContent(item: Fields, name: string, pixelLimit: number): Part[] {
	if (!item.has(name)) return missing(item.path(name));
	const content = item.object[name];
	if (typeof content === 'string') return [{ kind: 'text', text: content }];
	if (!Array.isArray(content)) {
		throw badField(item.path(name), 'must be a string or an array of parts', 'invalid_type');
	}
	const parts = item.objects(name) ?? [];
	if (parts.length === 0) throw badField(item.path(name), 'must not be empty');
	return parts.map((part) => readPart(part, pixelLimit));
}

function readPart(part: Fields, pixelLimit: number): Part {
	const type = part.text('type');
	switch (type) {
		case 'input_text':
		case 'output_text':
			return { kind: 'text', text: part.string('text') ?? missing(part.path('text')) };
		case 'refusal':
			return { kind: 'text', text: part.string('refusal') ?? missing(part.path('refusal')) };
		case 'input_image':
			part.oneOf('detail', ['auto', 'low', 'high', 'original']);
			return { kind: 'image', about: aboutImage(part, pixelLimit) };
		case 'input_file':
			return { kind: 'file', about: aboutFile(part) };
		default:
			throw badField(part.path('type'), `has the unknown value '${type}'`);
	}
}

function aboutImage(part: Fields, pixelLimit: number): string {
	if (part.has('file_id')) return `the image ${part.text('file_id')}`;
	const field = part.path('image_url');
	const url = part.text('image_url');
	if (!url.startsWith('data:')) {
		if (!/^https?:\/\//.test(url)) throw badField(field, 'must be an http, https or data URL');
		return `an image at ${url}`;
	}
	const { bytes } = readDataUrl(field, url);
	const { mimeType, width, height } = readUpload(field, bytes, pixelLimit);
	const size = width === undefined ? '' : `, ${width}x${height}, mostly ${mainColor(bytes)}`;
	return `an image (${mimeType}${size})`;
}

/** The main color of a PNG, as a word. */
function mainColor(png: Buffer): string {
	const { data } = decodePng(png) ?? { data: Uint8Array.of() };
	const counts = new Map<string, number>();
	const step = Math.max(1, Math.floor(data.length / 4 / 4096)) * 4;
	for (let at = 0; at + 3 < data.length; at += step) {
		const color = colorWord(data[at] ?? 0, data[at + 1] ?? 0, data[at + 2] ?? 0);
		counts.set(color, (counts.get(color) ?? 0) + 1);
	}
	const [most] = [...counts].sort(([, one], [, other]) => other - one);
	return most?.[0] ?? 'nothing';
}

function colorWord(red: number, green: number, blue: number): string {
	const most = Math.max(red, green, blue);
	const range = most - Math.min(red, green, blue);
	if (range < 32) return most > 200 ? 'white' : most < 56 ? 'black' : 'grey';
	if (most === red) return green > red * 0.75 ? 'yellow' : 'red';
	return most === green ? 'green' : 'blue';
}

function aboutFile(part: Fields): string {
	const name = part.string('filename');
	if (part.has('file_id')) return `the file ${part.text('file_id')}`;
	if (part.has('file_url')) return `a file at ${part.text('file_url')}`;
	const field = part.path('file_data');
	const data = part.text('file_data');
	if (name === undefined) missing(part.path('filename'));
	const { mimeType, bytes } = readDataUrl(
		field,
		data.startsWith('data:') ? data : `data:application/octet-stream;base64,${data}`,
	);
	if (bytes.length === 0) throw badField(field, 'is an empty file');
	const begin = /^text\/|json|xml/.test(mimeType)
		? `, beginning "${bytes.subarray(0, 80).toString('utf8').split('\n', 1)[0] ?? ''}"`
		: '';
	return `the file ${name} (${mimeType}, ${bytes.length} bytes${begin})`;
}

function readFunction(tool: Fields): FunctionTool {
	const name = tool.text('name');
	if (!NAME.test(name)) {
		throw badField(tool.path('name'), 'may hold letters, digits, _ and -, at most 64');
	}
	tool.string('description');
	tool.boolean('strict');
	return { name, parameters: tool.record('parameters')?.object ?? {} };
}

function readToolChoice(fields: Fields, functions: FunctionTool[], anyTool: boolean): ToolChoice {
	const choice = fields.object.tool_choice ?? 'auto';
	if (typeof choice === 'string') {
		const mode = fields.oneOf('tool_choice', ['auto', 'none', 'required']) ?? 'auto';
		if (mode === 'required' && !anyTool) {
			throw badField('tool_choice', 'is required, but tools is empty');
		}
		return { mode };
	}
	if (!isObject(choice)) {
		throw badField('tool_choice', 'must be a string or an object', 'invalid_type');
	}
	const fieldsOf = new Fields(choice, 'tool_choice');
	const type = fieldsOf.text('type');
	const known = (of: Fields) => {
		const name = of.text('name');
		if (functions.some((tool) => tool.name === name)) return name;
		throw badField(of.path('name'), `'${name}' is not among tools`);
	};
	if (type === 'function') return { mode: 'functions', names: [known(fieldsOf)] };
	if (type === 'allowed_tools') {
		fieldsOf.oneOf('mode', ['auto', 'required']);
		const allowed = fieldsOf.objects('tools') ?? [];
		const named = allowed.filter(({ object }) => object.type === 'function');
		return { mode: 'functions', names: named.map(known) };
	}
	return { mode: 'hosted', type };
}

function readFormat(fields: Fields): Format {
	const text = fields.record('text');
	text?.oneOf('verbosity', ['low', 'medium', 'high']);
	const format = text?.record('format');
	const type = format?.oneOf('type', ['text', 'json_object', 'json_schema']);
	if (!format) return { type: 'text' };
	if (type === undefined) return missing(format.path('type'));
	if (type !== 'json_schema') return { type };
	if (!NAME.test(format.text('name'))) {
		throw badField(format.path('name'), 'may hold letters, digits, _ and -, at most 64');
	}
	format.boolean('strict');
	format.string('description');
	const schema = format.record('schema') ?? missing(format.path('schema'));
	return { type, schema: schema.object };
}

/** The texts of some parts. */
export const textOf = (parts: Part[]): string =>
	parts.flatMap((part) => (part.kind === 'text' ? [part.text] : [])).join('\n');

/**
 * Checks that each function output belongs to a call.
 * @param items history and input, in order
 * @throws ApiError 400
 */
export function checkCalls(items: InputItem[]) {
	const calls = new Set<string>();
	for (const item of items) {
		if (item.type === 'function_call') calls.add(item.callId);
		if (item.type === 'function_call_output' && !calls.has(item.callId)) {
			throw new ApiError(400, {
				code: 'unknown_call',
				message: `input: no function call has the call_id ${item.callId}`,
				param: 'input',
			});
		}
	}
}
