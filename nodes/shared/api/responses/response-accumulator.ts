import { asRecord, parseJson } from '../http/json';
import type { StreamEvent } from './event-stream';

/** How a stream of a response ended. */
export type StreamEnd =
	/** `response.completed` or `response.incomplete`: here is the response. */
	| { kind: 'response'; response: Fields }
	/** `response.failed` or `error`: here is what the gateway says. */
	| { kind: 'error'; error: Fields };

/** An output item as its events tell it. */
interface Told {
	item: Fields;
	/** Whether this is its final form. */
	done: boolean;
}

/** A text of one content part. */
interface Part {
	item: number;
	index: number;
	kind: 'output_text' | 'refusal';
	text: Text;
}

type Fields = Record<string, unknown>;

/** What an event of one kind does; it returns the end of the stream if it is one. */
type Handler = (
	accumulator: ResponseAccumulator,
	fields: Fields,
	onText: (text: string) => void,
) => StreamEnd | undefined | void;

/**
 * Puts a response together from its events. Events are understood by `type`, or by the event's
 * name if the JSON has none; kinds that are not known pass silently.
 *
 * It holds the text and the items, and nothing of the events themselves.
 * @see contract, "Events"
 */
export class ResponseAccumulator {
	private static readonly HANDLERS: ReadonlyMap<string, Handler> = new Map<string, Handler>([
		['response.created', (to, fields) => to.begin(fields)],
		['response.in_progress', (to, fields) => to.begin(fields)],
		['response.output_item.added', (to, fields) => to.setItem(fields, false)],
		['response.output_item.done', (to, fields) => to.setItem(fields, true)],
		['response.output_text.delta', (to, fields, tell) => to.addText(fields, 'output_text', tell)],
		['response.refusal.delta', (to, fields, tell) => to.addText(fields, 'refusal', tell)],
		['response.output_text.done', (to, fields) => to.settle(fields, 'output_text', fields.text)],
		['response.refusal.done', (to, fields) => to.settle(fields, 'refusal', fields.refusal)],
		['response.function_call_arguments.delta', (to, fields) => to.call(fields).add(fields.delta)],
		[
			'response.function_call_arguments.done',
			(to, fields) => to.call(fields).settle(fields.arguments),
		],
		['response.completed', (to, fields) => to.finish(fields, 'completed')],
		['response.incomplete', (to, fields) => to.finish(fields, 'incomplete')],
		[
			'response.failed',
			(_, fields) => asError(readError({ ...fields, ...asRecord(fields.response) })),
		],
		['error', (_, fields) => asError({ ...fields, ...readError(fields) })],
	]);

	private started: Fields = {};
	private readonly items = new Map<number, Told>();
	private readonly parts = new Map<string, Part>();
	private readonly calls = new Map<number, Text>();
	/** The part of the last piece of text: the next piece mostly belongs to it too. */
	private growing?: Part;

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

	/** All text so far, refusals included. */
	get partialText(): string {
		return this.partsInOrder()
			.map(({ text }) => text.value)
			.join('');
	}

	private begin(fields: Fields) {
		this.started = asRecord(fields.response);
	}

	private setItem(fields: Fields, done: boolean) {
		this.items.set(readIndex(fields), { item: asRecord(fields.item), done });
	}

	private addText(fields: Fields, kind: Part['kind'], tell: (text: string) => void) {
		this.text(fields, kind).add(fields.delta);
		if (typeof fields.delta === 'string') tell(fields.delta);
	}

	private settle(fields: Fields, kind: Part['kind'], whole: unknown) {
		this.text(fields, kind).settle(whole);
	}

	private text(fields: Fields, kind: Part['kind']): Text {
		const item = readIndex(fields);
		const index = typeof fields.content_index === 'number' ? fields.content_index : 0;
		const { growing } = this;
		const goesOn = growing?.item === item && growing.index === index && growing.kind === kind;
		this.growing = goesOn ? growing : this.part(item, index, kind);
		return this.growing.text;
	}

	private part(item: number, index: number, kind: Part['kind']): Part {
		return entry(this.parts, `${item}:${index}:${kind}`, () => ({
			item,
			index,
			kind,
			text: new Text(),
		}));
	}

	private call(fields: Fields): Text {
		return entry(this.calls, readIndex(fields), () => new Text());
	}

	private partsInOrder(): Part[] {
		return [...this.parts.values()].sort((a, b) => a.item - b.item || a.index - b.index);
	}

	/** The final response wins; if its output is empty, what came on the way stands in. */
	private finish(fields: Fields, status: string): StreamEnd {
		const final = asRecord(fields.response);
		const hasOutput = Array.isArray(final.output) && final.output.length > 0;
		const response = {
			...this.started,
			...final,
			status: typeof final.status === 'string' ? final.status : status,
			output: hasOutput ? final.output : this.buildOutput(),
		};
		return { kind: 'response', response };
	}

	private buildOutput(): Fields[] {
		const parts = this.partsInOrder();
		const byItem = new Map<number, Part[]>();
		for (const part of parts) entry(byItem, part.item, () => []).push(part);
		const indexes = [...this.items.keys(), ...this.calls.keys(), ...byItem.keys()];
		return [...new Set(indexes)]
			.sort((a, b) => a - b)
			.map((index) => this.item(index, byItem.get(index) ?? []))
			.filter(({ type }) => typeof type === 'string');
	}

	private item(index: number, parts: Part[]): Fields {
		const { item, done } = this.items.get(index) ?? { item: {}, done: false };
		const call = this.calls.get(index);
		if (call) return { type: 'function_call', ...item, arguments: call.value || item.arguments };
		const content = parts.map(toContent);
		const whole = done && Array.isArray(item.content) && item.content.length > 0;
		if (content.length === 0 || whole) return item;
		return { type: 'message', role: 'assistant', ...item, content };
	}
}

/** By the JSON's `type`, or the event's name; an error also where only the name or a field says so. */
function getKind({ name }: StreamEvent, { type, error }: Fields) {
	if (name === 'error') return name;
	if (typeof type === 'string') return type;
	return name ?? (error ? 'error' : undefined);
}

/** The error object in `error`, which may be a text alone. */
function readError({ error }: Fields): Fields {
	return typeof error === 'string' ? { message: error } : asRecord(error);
}

const asError = (error: Fields): StreamEnd => ({ kind: 'error', error });

function toContent({ kind, text: { value } }: Part): Fields {
	return kind === 'refusal' ? { type: kind, refusal: value } : { type: kind, text: value };
}

function readIndex({ output_index: index }: Fields): number {
	return typeof index === 'number' ? index : 0;
}

function entry<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
	const known = map.get(key) ?? make();
	map.set(key, known);
	return known;
}

/** Pieces joined at once are joined cheaply, and take no more room than their text. */
const PIECES_AT_ONCE = 1024;

/** A text that grows by pieces. */
class Text {
	private joined = '';
	private pieces: string[] = [];

	add(piece: unknown) {
		if (typeof piece !== 'string') return;
		this.pieces.push(piece);
		if (this.pieces.length >= PIECES_AT_ONCE) this.join();
	}

	/** The whole text, as the gateway says at its end. */
	settle(text: unknown) {
		if (typeof text !== 'string') return;
		this.joined = text;
		this.pieces = [];
	}

	get value(): string {
		this.join();
		return this.joined;
	}

	private join() {
		this.joined += this.pieces.join('');
		this.pieces = [];
	}
}
