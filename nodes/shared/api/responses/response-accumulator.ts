import { asRecord, omitUndefined } from '../http/json';
import { readChunk, type ChatChunk } from './chat-completion';
import { getKind, readData, readFinal, toError, toFailure, type StreamEnd } from './event-fields';
import type { StreamEvent } from './event-stream';
import { STREAM_ENDED } from './incomplete';
import { readSpoken } from './item-forms';
import { readContentPiece, readMessageEvent } from './other-interfaces';
import { normalizeResponse } from './response-forms';
import type { TextKind } from './streamed-item';
import { StreamedItems } from './streamed-items';
import { argumentsText } from './tool-arguments';

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
		...textHandlers('response.text', 'output_text', 'text'),
		...textHandlers('response.refusal', 'refusal', 'refusal'),
		...textHandlers('response.reasoning_summary_text', 'summary_text', 'text'),
		...textHandlers('response.reasoning_text', 'reasoning_text', 'text'),
		...textHandlers('response.function_call_arguments', 'arguments', 'arguments'),
		...textHandlers('response.custom_tool_call_input', 'input', 'input'),
		['response.content_part.done', (to, fields) => to.settlePart(fields)],
		['response.reasoning_summary_part.done', (to, fields) => to.settlePart(fields)],
		['response.completed', (to, fields) => to.finish(fields, 'completed')],
		['response.done', (to, fields) => to.finish(fields, 'completed')],
		['response.incomplete', (to, fields) => to.finish(fields, 'incomplete')],
		['response.cancelled', (to, fields) => to.finish(fields, 'cancelled')],
		['response.canceled', (to, fields) => to.finish(fields, 'cancelled')],
		['response.failed', (_, fields) => toFailure(fields)],
		['response.error', (_, fields) => toError(fields)],
		['error', (_, fields) => toError(fields)],
		['document', (to, fields) => to.finish({ response: normalizeResponse(fields) }, 'completed')],
		['chat.completion.chunk', (to, fields, tell) => to.addPiece(readChunk(fields), tell)],
		['generateContent', (to, fields, tell) => to.addContent(fields, tell)],
		...['message_start', 'content_block_start', 'content_block_delta', 'message_delta'].map(
			(name): [string, Handler] => [
				name,
				(to, fields, tell) => to.addPiece(readMessageEvent(fields), tell),
			],
		),
		['message_stop', (to) => to.conclude()],
	]);

	private started: Fields = {};
	private readonly items = new StreamedItems();
	/** What the chunks of another interface said, without texts and calls. */
	private chat?: ChatChunk['response'];
	/** How many pieces of Gemini's interface came. */
	private contents = 0;

	/**
	 * Takes in one event.
	 * @param onText told of each piece of text, as it comes
	 * @returns how the stream ended, if this was its end
	 */
	add(event: StreamEvent, onText: (text: string) => void = () => {}): StreamEnd | undefined {
		for (const fields of readData(event)) {
			const handler = ResponseAccumulator.HANDLERS.get(getKind(event, fields) ?? '');
			const end = handler?.(this, fields, onText);
			if (end) return end;
		}
		return undefined;
	}

	/** Takes in a piece of a text. */
	addText(fields: Fields, kind: TextKind, tell: (text: string) => void) {
		const delta = readDelta(fields, kind);
		if (delta === undefined) return;
		this.items.text(fields, kind).add(delta);
		if (TOLD.includes(kind)) tell(delta);
	}

	/** Takes in a text as its last event tells it. */
	settle(fields: Fields, kind: TextKind, whole: unknown) {
		const text = argumentsText(whole);
		if (typeof text === 'string') this.items.text(fields, kind).settle(text);
	}

	/** Takes in a part of an item as its last event tells it. */
	private settlePart(fields: Fields) {
		const { type, text, refusal } = asRecord(fields.part);
		const kind = PART_KINDS.find((known) => known === type);
		if (kind && (text || refusal)) this.settle(fields, kind, text ?? refusal);
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

	private addContent(fields: Fields, tell: (text: string) => void) {
		this.addPiece(readContentPiece(fields, this.contents++), tell);
	}

	private addPiece({ response, events }: ChatChunk, tell: (text: string) => void) {
		const usage = { ...asRecord(this.chat?.usage), ...asRecord(response.usage) };
		this.chat = { ...this.chat, ...response };
		if (Object.keys(usage).length > 0) this.chat.usage = usage;
		for (const event of events) {
			if (event.item) this.items.begin(event);
			else this.addText(event, event.kind, tell);
		}
	}

	/** The final response wins; what it does not carry, the events before it do. */
	private finish(fields: Fields, status: string): StreamEnd {
		const final = readFinal(fields);
		const { status: said, usage } = final;
		if (said === 'failed' && !this.hasOutput) return toFailure({ response: final });
		const isEnd = typeof said === 'string' && said !== 'in_progress' && status !== 'cancelled';
		const response = {
			...this.started,
			...final,
			...omitUndefined({ usage: usage ?? this.started.usage }),
			status: isEnd ? said : status,
			output: this.items.completeOutput(final.output),
		};
		return { kind: 'response', response };
	}
}

/** The kinds of parts that have a text. */
const PART_KINDS: readonly TextKind[] = [
	'output_text',
	'refusal',
	'summary_text',
	'reasoning_text',
];

/** The piece of text in an event, which some gateways wrap into an object. */
function readDelta({ delta, text }: Fields, kind: TextKind): string | undefined {
	const given = delta ?? text;
	const isArguments = kind === 'arguments' || kind === 'input';
	const piece = isArguments ? argumentsText(given) : (asRecord(given).text ?? given);
	return typeof piece === 'string' ? piece : undefined;
}

/** The events of a text: its pieces, and its whole. */
function textHandlers(event: string, kind: TextKind, field: string): Array<[string, Handler]> {
	return [
		[`${event}.delta`, (to, fields, tell) => to.addText(fields, kind, tell)],
		[`${event}.done`, (to, fields) => to.settle(fields, kind, fields[field])],
	];
}
