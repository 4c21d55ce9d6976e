import type { JsonObject } from '../body';
import { failedInLine } from '../reply';
import type { NamedFault } from './named';
import { rawReply } from './raw';
import { streamed } from './streams';

/** A plain answer in another form than the contract's. */
function formed(name: string, change: (response: JsonObject) => unknown): NamedFault {
	return {
		name,
		stage: 'after',
		make: async ({ route, reply }) => {
			if (route !== 'responses' || !reply || reply.stream || reply.status >= 300) return undefined;
			const { status, body } = await rawReply(reply);
			const text = change(JSON.parse(body.toString()) as JsonObject);
			return { kind: 'reply', status, headers: reply.headers, body: text };
		},
	};
}

interface Item extends JsonObject {
	type: string;
}

/** The items of a response, those of one type changed. */
const withItems = (response: JsonObject, type: string, change: (item: Item) => JsonObject) => ({
	...response,
	output: (response.output as Item[]).map((item) => (item.type === type ? change(item) : item)),
});

const textOf = ({ content }: Item): string =>
	(content as Array<{ text?: string }>).map(({ text = '' }) => text).join('');

const allText = ({ output }: JsonObject): string =>
	(output as Item[])
		.filter(({ type }) => type === 'message')
		.map(textOf)
		.join('');

/** The response in the form of the Chat Completions interface. */
function toChatCompletion(response: JsonObject): JsonObject {
	const calls = (response.output as Item[]).filter(({ type }) => type === 'function_call');
	const usage = response.usage as Record<string, number> | null;
	return {
		id: `chatcmpl-${String(response.id)}`,
		object: 'chat.completion',
		created: response.created_at,
		model: response.model,
		choices: [
			{
				index: 0,
				finish_reason: response.status === 'incomplete' ? 'length' : 'stop',
				message: {
					role: 'assistant',
					content: allText(response) || null,
					tool_calls: calls.map(({ call_id: id, name, arguments: given }) => ({
						id,
						type: 'function',
						function: { name, arguments: given },
					})),
				},
			},
		],
		usage: usage && {
			prompt_tokens: usage.input_tokens,
			completion_tokens: usage.output_tokens,
			total_tokens: usage.total_tokens,
		},
	};
}

const toEvents = (response: JsonObject) =>
	`event: response.completed\ndata: ${JSON.stringify({ type: 'response.completed', response })}\n\n`;

/** Plain answers in the forms of gateways that translate between interfaces. */
export const ANSWER_FORM_FAULTS: NamedFault[] = [
	formed('a content that is a text', (response) =>
		withItems(response, 'message', (item) => ({ ...item, content: textOf(item) })),
	),
	formed('parts that are called text', (response) =>
		withItems(response, 'message', (item) => ({
			...item,
			content: (item.content as JsonObject[]).map((part) => ({ ...part, type: 'text' })),
		})),
	),
	formed('a text in output_text alone', (response) => ({
		...response,
		output: [],
		output_text: allText(response),
	})),
	formed('a chat completion', toChatCompletion),
	formed('an answer without ID and status', (response) => omit(response, ['id', 'status'])),
	formed('an answer in a Markdown fence', (response) =>
		withItems(response, 'message', (item) => ({
			...item,
			content: [{ type: 'output_text', text: `\`\`\`json\n${textOf(item)}\n\`\`\`` }],
		})),
	),
	formed('arguments behind an empty object', (response) =>
		withItems(response, 'function_call', (item) => ({
			...item,
			arguments: `{}${String(item.arguments)}`,
		})),
	),
	formed('arguments that are null', (response) =>
		withItems(response, 'function_call', (item) => ({ ...item, arguments: null })),
	),
	formed('an empty answer of some tokens', (response) => ({ ...response, output: [] })),
	formed('events instead of JSON', toEvents),
];

type Change = (event: JsonObject & { type?: string }) => JsonObject | undefined;

/** A stream, the JSON of each event changed; those that become undefined are left out. */
const withEvents = (name: string, change: Change) =>
	streamed(name, (events) =>
		events.flatMap((text) => {
			const json = /^data: (\{.*\})$/m.exec(text)?.[1];
			const event = json === undefined ? undefined : (JSON.parse(json) as JsonObject);
			if (!event) return [text];
			const changed = change(event);
			if (!changed) return [];
			const type = typeof changed.type === 'string' ? `event: ${changed.type}\n` : '';
			return [`${type}data: ${JSON.stringify(changed)}\n\n`];
		}),
	);

const isEnd = (type: unknown) => type === 'response.completed' || type === 'response.incomplete';

/** The end of a stream by another event, or by none. */
const endedBy = (name: string, end: string | undefined) =>
	withEvents(name, (event) => {
		if (!isEnd(event.type)) return event;
		return end === undefined ? undefined : { ...event, type: end };
	});

const withoutNumber = (event: JsonObject) => omit(event, ['output_index']);

const withoutOutput = (event: JsonObject) =>
	isEnd(event.type) ? { ...event, response: { ...(event.response as object), output: [] } } : event;

/** The end of an item and of a response without what the deltas said. */
function withoutText(event: JsonObject): JsonObject {
	const bare = (item: JsonObject) => (item.type === 'message' ? { ...item, content: [] } : item);
	if (event.type === 'response.output_item.done') {
		return { ...event, item: bare(event.item as JsonObject) };
	}
	if (!isEnd(event.type)) return event;
	const response = event.response as JsonObject;
	const output = (response.output as JsonObject[]).map(bare);
	return { ...event, response: { ...response, output } };
}

/** A limit that ends a stream before any output. */
const refusedInLine = (name: string, code: string, message: string): NamedFault => ({
	name,
	stage: 'before',
	make: () => ({ kind: 'reply', ...failedInLine(code, message) }),
});

/** Streams in the forms of gateways that translate between interfaces. */
export const STREAM_FORM_FAULTS: NamedFault[] = [
	endedBy('a stream that ends by response.done', 'response.done'),
	endedBy('a stream that ends by response.canceled', 'response.canceled'),
	endedBy('a stream without a final event', undefined),
	withEvents('a stream without numbers and output', (event) => withoutOutput(withoutNumber(event))),
	withEvents('a stream of number 0 alone', (event) =>
		withoutOutput('output_index' in event ? { ...event, output_index: 0 } : event),
	),
	withEvents('a stream whose end has no text', withoutText),
];

/** Limits that come as events of a stream, with status 200. */
export const LIMIT_FAULTS: NamedFault[] = [
	refusedInLine(
		'a limit in a stream',
		'rate_limit_exceeded',
		'Concurrency limit exceeded for user, please retry later',
	),
	refusedInLine('an overload in a stream', 'server_is_overloaded', 'No account is free'),
	refusedInLine('a bill in a stream', 'billing_error', 'Insufficient account balance'),
];

/**
 * A refusal as LiteLLM passes it on: its message quotes the provider's error as JSON, and its own
 * code is the status. A stream has status 200, and the error in its first event.
 */
const quoting = (name: string, status: number, type: string, provider: JsonObject): NamedFault => ({
	name,
	stage: 'before',
	make: ({ record, route }) => {
		const message = `litellm.APIError: OpenAIException - ${JSON.stringify({ error: provider })}`;
		const body = { error: { message, type, param: null, code: String(status) } };
		const { stream } = ('body' in record ? (record.body ?? {}) : {}) as JsonObject;
		if (route !== 'responses' || stream !== true) return { kind: 'reply', status, body };
		const headers = { 'Content-Type': 'text/event-stream' };
		return { kind: 'reply', status: 200, headers, body: `data: ${JSON.stringify(body)}\n\n` };
	},
});

/** Errors whose message quotes the error of a provider. */
export const QUOTED_FAULTS: NamedFault[] = [
	quoting('a quoted limit', 429, 'throttling_error', {
		type: 'rate_limit_error',
		code: 'rate_limit_exceeded',
		message: 'Rate limit reached for requests',
	}),
	quoting('a quoted quota', 429, 'throttling_error', {
		type: 'insufficient_quota',
		code: 'insufficient_quota',
		message: 'You exceeded your current quota',
	}),
	quoting('a quoted wrong key', 401, 'authentication_error', {
		type: 'invalid_request_error',
		code: 'invalid_api_key',
		message: 'Incorrect API key provided',
	}),
];

function omit(object: JsonObject, names: string[]): JsonObject {
	return Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));
}
