import { asRecord, parseJson } from '../http/json';
import { readChunk, type ChatChunk } from './chat-completion';
import type { StreamEvent } from './event-stream';
import { STREAM_ENDED } from './incomplete';
import { readSpoken } from './response-forms';
import type { TextKind } from './streamed-item';
import { StreamedItems } from './streamed-items';

/** How a stream of a response ended. */
export type StreamEnd =
	/** `response.completed`, `.done`, `.incomplete`, or `.cancelled`: here is the response. */
	| { kind: 'response'; response: Fields }
	/** `response.failed` or `error`: here is what the gateway says, and whether it made something. */
	| { kind: 'error'; error: Fields; hasOutput?: boolean };

type Fields = Record<string, unknown>;

/** What an event of one kind does; it returns the end of the stream if it is one. */
type Handler = (
	accumulator: ResponseAccumulator,
	fields: Fields,
	onText: (text: string) => void,
) => StreamEnd | undefined | void;

/** The kinds of text whose pieces are told as they come. */
const TOLD: readonly TextKind[] = ['output_text', 'refusal'];

/**
 * Puts a response together from its events. It reads events by `type`, or by the event's name if
 * the JSON has none. Unknown kinds are ignored.
 *
 * It holds the text and the items, and nothing of the events themselves.
 * @see contract, "Events"
 */
export class ResponseAccumulator {
	private static readonly HANDLERS: ReadonlyMap<string, Handler> = new Map<string, Handler>([
		['response.created', (to, fields) => to.begin(fields)],
		['response.in_progress', (to, fields) => to.begin(fields)],
		['response.output_item.added', (to, fields) => to.items.begin(fields)],
		['response.output_item.done', (to, fields) => to.items.end(fields)],
		...textHandlers('response.output_text', 'output_text', 'text'),
		...textHandlers('response.refusal', 'refusal', 'refusal'),
		...textHandlers('response.reasoning_summary_text', 'summary_text', 'text'),
		...textHandlers('response.reasoning_text', 'reasoning_text', 'text'),
		...textHandlers('response.function_call_arguments', 'arguments', 'arguments'),
		...textHandlers('response.custom_tool_call_input', 'input', 'input'),
		['response.completed', (to, fields) => to.finish(fields, 'completed')],
		['response.done', (to, fields) => to.finish(fields, 'completed')],
		['response.incomplete', (to, fields) => to.finish(fields, 'incomplete')],
		['response.cancelled', (to, fields) => to.finish(fields, 'cancelled')],
		['response.canceled', (to, fields) => to.finish(fields, 'cancelled')],
		['response.failed', (_, fields) => toFailure(fields)],
		['error', (_, { error, ...fields }) => asError({ ...fields, ...readError({ error }) })],
		['chat.completion.chunk', (to, fields, tell) => to.addChunk(readChunk(fields), tell)],
	]);

	private started: Fields = {};
	private readonly items = new StreamedItems();
	/** What the chunks of another interface said, without texts and calls. */
	private chat?: ChatChunk['response'];

	/**
	 * Takes in one event.
	 * @param onText told of each piece of text, as it comes
	 * @returns how the stream ended, if this was its end
	 */
	add(event: StreamEvent, onText: (text: string) => void = () => {}): StreamEnd | undefined {
		const json = parseJson(event.data);
		if (typeof json !== 'object' || json === null) return undefined;
		const fields = json as Fields;
		const handler = ResponseAccumulator.HANDLERS.get(getKind(event, fields) ?? '');
		return handler?.(this, fields, onText) ?? undefined;
	}

	/** Takes in a piece of a text. */
	addText(fields: Fields, kind: TextKind, tell: (text: string) => void) {
		const { delta } = fields;
		if (typeof delta !== 'string') return;
		this.items.text(fields, kind).add(delta);
		if (TOLD.includes(kind)) tell(delta);
	}

	/** Takes in a text as its last event tells it. */
	settle(fields: Fields, kind: TextKind, whole: unknown) {
		if (typeof whole === 'string') this.items.text(fields, kind).settle(whole);
	}

	/** Whether something of the answer came. */
	get hasOutput(): boolean {
		return !this.items.isEmpty;
	}

	/** All text so far, refusals included. */
	get partialText(): string {
		return this.items.build().map(readSpoken).join('');
	}

	/** The items that are finished. */
	get partialOutput(): Fields[] {
		return this.items.buildDone();
	}

	/**
	 * The response of a stream that ended without saying so. All items that began are done, and one
	 * is a message.
	 */
	conclude(): StreamEnd | undefined {
		if (this.chat?.status !== undefined) return this.finish({ response: this.chat }, 'completed');
		const isWhole =
			this.items.allDone && this.partialOutput.some((item) => readSpoken(item) !== '');
		if (!isWhole) return undefined;
		const response = { incomplete_details: { reason: STREAM_ENDED } };
		return this.finish({ response }, 'incomplete');
	}

	private begin(fields: Fields) {
		this.started = asRecord(fields.response);
	}

	private addChunk({ response, events }: ChatChunk, tell: (text: string) => void) {
		this.chat = { ...this.chat, ...response };
		for (const event of events) {
			if (event.item) this.items.begin(event);
			else this.addText(event, event.kind, tell);
		}
	}

	/** The final response wins; what it does not carry, the events before it do. */
	private finish(fields: Fields, status: string): StreamEnd {
		const final = asRecord(fields.response);
		const { status: said } = final;
		const isEnd = typeof said === 'string' && said !== 'in_progress' && status !== 'cancelled';
		const response = {
			...this.started,
			...final,
			status: isEnd ? said : status,
			output: this.items.completeOutput(final.output),
		};
		return { kind: 'response', response };
	}
}

/** The events of a text: its pieces, and its whole. */
function textHandlers(event: string, kind: TextKind, field: string): Array<[string, Handler]> {
	return [
		[`${event}.delta`, (to, fields, tell) => to.addText(fields, kind, tell)],
		[`${event}.done`, (to, fields) => to.settle(fields, kind, fields[field])],
	];
}

/** By the JSON's `type`, or the event's name; an error also where only the name or a field says so. */
function getKind({ name }: StreamEvent, { type, error, object }: Fields) {
	if (name === 'error') return name;
	if (typeof type === 'string') return type;
	if (object === 'chat.completion.chunk') return object;
	return name ?? (error ? 'error' : undefined);
}

/** The error object in `error`, which may be a text alone. */
function readError({ error }: Fields): Fields {
	return typeof error === 'string' ? { message: error } : asRecord(error);
}

const asError = (error: Fields): StreamEnd => ({ kind: 'error', error });

function toFailure(fields: Fields): StreamEnd {
	const response = asRecord(fields.response);
	const { output, usage } = response;
	const hasOutput =
		(Array.isArray(output) && output.length > 0) || Number(asRecord(usage).output_tokens) > 0;
	return { kind: 'error', error: readError({ ...fields, ...response }), hasOutput };
}
