import { fieldsOf, parseJson } from '../http/json';
import type { StreamEvent } from './event-stream';

/** How a stream of a response ended. */
export type StreamEnd =
	/** `response.completed` or `response.incomplete`: here is the response. */
	| { kind: 'response'; response: Record<string, unknown> }
	/** `response.failed` or `error`: here is what the gateway says. */
	| { kind: 'error'; error: Record<string, unknown> };

/** An output item as its events tell it. */
interface Told {
	item: Record<string, unknown>;
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

/**
 * Puts a response together from its events. Events are understood by `type`, or by the event's
 * name where the JSON has none; kinds that are not known pass silently.
 *
 * It holds the text and the items, and nothing of the events themselves.
 * @see contract, "Events"
 */
export class ResponseAssembly {
	private started: Record<string, unknown> = {};
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
	take(event: StreamEvent, onText?: (text: string) => void): StreamEnd | undefined {
		const json = parseJson(event.data);
		if (typeof json !== 'object' || json === null) return undefined;
		const fields = json as Record<string, unknown>;
		const type = kindOf(event, fields);
		switch (type) {
			case 'response.created':
			case 'response.in_progress':
				this.started = fieldsOf(fields.response);
				return undefined;
			case 'response.output_item.added':
			case 'response.output_item.done':
				this.items.set(indexOf(fields), {
					item: fieldsOf(fields.item),
					done: type === 'response.output_item.done',
				});
				return undefined;
			case 'response.output_text.delta':
			case 'response.refusal.delta':
				this.text(fields, type).add(fields.delta);
				if (typeof fields.delta === 'string') onText?.(fields.delta);
				return undefined;
			case 'response.output_text.done':
				this.text(fields, type).settle(fields.text);
				return undefined;
			case 'response.refusal.done':
				this.text(fields, type).settle(fields.refusal);
				return undefined;
			case 'response.function_call_arguments.delta':
				this.call(fields).add(fields.delta);
				return undefined;
			case 'response.function_call_arguments.done':
				this.call(fields).settle(fields.arguments);
				return undefined;
			case 'response.completed':
			case 'response.incomplete':
				return { kind: 'response', response: this.finished(fieldsOf(fields.response), type) };
			case 'response.failed':
				return { kind: 'error', error: errorOf({ ...fields, ...fieldsOf(fields.response) }) };
			case 'error':
				return { kind: 'error', error: { ...fields, ...errorOf(fields) } };
			default:
				return undefined;
		}
	}

	/** All text so far, refusals included. */
	get partialText(): string {
		return this.partsInOrder()
			.map(({ text }) => text.value)
			.join('');
	}

	private text(fields: Record<string, unknown>, type: string): Text {
		const kind = type.startsWith('response.refusal') ? 'refusal' : 'output_text';
		const item = indexOf(fields);
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

	private call(fields: Record<string, unknown>): Text {
		return entry(this.calls, indexOf(fields), () => new Text());
	}

	private partsInOrder(): Part[] {
		return [...this.parts.values()].sort((a, b) => a.item - b.item || a.index - b.index);
	}

	/** The final response wins; where its output is empty, what came on the way stands in. */
	private finished(final: Record<string, unknown>, type: string): Record<string, unknown> {
		const status = type === 'response.completed' ? 'completed' : 'incomplete';
		const whole = { ...this.started, ...final };
		const output =
			Array.isArray(final.output) && final.output.length > 0 ? final.output : undefined;
		return {
			...whole,
			status: typeof final.status === 'string' ? final.status : status,
			output: output ?? this.gathered(),
		};
	}

	private gathered(): Array<Record<string, unknown>> {
		const parts = this.partsInOrder();
		const byItem = new Map<number, Part[]>();
		for (const part of parts) entry(byItem, part.item, () => []).push(part);
		const indexes = [...this.items.keys(), ...this.calls.keys(), ...byItem.keys()];
		return [...new Set(indexes)]
			.sort((a, b) => a - b)
			.map((index) => this.item(index, byItem.get(index) ?? []))
			.filter(({ type }) => typeof type === 'string');
	}

	private item(index: number, parts: Part[]): Record<string, unknown> {
		const { item, done } = this.items.get(index) ?? { item: {}, done: false };
		const call = this.calls.get(index);
		if (call) return { type: 'function_call', ...item, arguments: call.value || item.arguments };
		const content = parts.map(contentOf);
		const whole = done && Array.isArray(item.content) && item.content.length > 0;
		if (content.length === 0 || whole) return item;
		return { type: 'message', role: 'assistant', ...item, content };
	}
}

/** By the JSON's `type`, or the event's name; an error also where only the name or a field says so. */
function kindOf({ name }: StreamEvent, { type, error }: Record<string, unknown>) {
	if (name === 'error') return name;
	if (typeof type === 'string') return type;
	return name ?? (error ? 'error' : undefined);
}

/** The error object in `error`, which may be a text alone. */
function errorOf({ error }: Record<string, unknown>): Record<string, unknown> {
	return typeof error === 'string' ? { message: error } : fieldsOf(error);
}

function contentOf({ kind, text: { value } }: Part): Record<string, unknown> {
	return kind === 'refusal' ? { type: kind, refusal: value } : { type: kind, text: value };
}

function indexOf({ output_index: index }: Record<string, unknown>): number {
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
