import { fieldsOf, parseJson } from './json';
import type { StreamEvent } from './event-stream';

/** How a stream of a response ended. */
export type StreamEnd =
	/** `response.completed` or `response.incomplete`: here is the response. */
	| { kind: 'response'; response: Record<string, unknown> }
	/** `response.failed` or `error`: here is what the gateway says. */
	| { kind: 'error'; error: Record<string, unknown>; responseId?: string };

/**
 * Puts a response together from its events. Events are understood by `type`, or by the event's
 * name where the JSON has none; kinds that are not known pass silently.
 *
 * It holds the text and the items, and nothing of the events themselves.
 * @see contract, "Events"
 */
export class ResponseAssembly {
	private started: Record<string, unknown> = {};
	private readonly items = new Map<number, Record<string, unknown>>();
	private readonly parts = new Map<string, Text>();
	private readonly calls = new Map<number, Text>();

	/**
	 * Takes in one event.
	 * @param onText told of each piece of text, as it comes
	 * @returns how the stream ended, if this was its end
	 */
	take(event: StreamEvent, onText?: (text: string) => void): StreamEnd | undefined {
		const json = parseJson(event.data);
		if (typeof json !== 'object' || json === null) return undefined;
		const fields = json as Record<string, unknown>;
		const type = typeof fields.type === 'string' ? fields.type : event.name;
		switch (type) {
			case 'response.created':
			case 'response.in_progress':
				this.started = fieldsOf(fields.response);
				return undefined;
			case 'response.output_item.added':
			case 'response.output_item.done':
				this.items.set(indexOf(fields), fieldsOf(fields.item));
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
				return this.failed(fieldsOf(fields.response));
			case 'error':
				return { kind: 'error', error: { ...fields, ...fieldsOf(fields.error) } };
			default:
				return undefined;
		}
	}

	/** All text so far, refusals included. */
	get partialText(): string {
		return [...this.parts.values()].map((part) => part.value).join('');
	}

	private text(fields: Record<string, unknown>, type: string): Text {
		const kind = type.startsWith('response.refusal') ? 'refusal' : 'output_text';
		const key = `${indexOf(fields)}:${Number(fields.content_index ?? 0)}:${kind}`;
		return entry(this.parts, key);
	}

	private call(fields: Record<string, unknown>): Text {
		return entry(this.calls, indexOf(fields));
	}

	private failed(response: Record<string, unknown>): StreamEnd {
		const responseId = typeof response.id === 'string' ? response.id : undefined;
		return { kind: 'error', error: fieldsOf(response.error), responseId };
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
		const indexes = [...this.items.keys(), ...this.calls.keys(), ...this.partIndexes()];
		return [...new Set(indexes)].sort((a, b) => a - b).map((index) => this.item(index));
	}

	private item(index: number): Record<string, unknown> {
		const item = this.items.get(index) ?? {};
		const call = this.calls.get(index);
		if (call) return { type: 'function_call', ...item, arguments: call.value || item.arguments };
		const content = [...this.parts]
			.filter(([key]) => key.startsWith(`${index}:`))
			.map(([key, { value }]) =>
				key.endsWith('refusal')
					? { type: 'refusal', refusal: value }
					: { type: 'output_text', text: value },
			);
		const done = Array.isArray(item.content) && item.content.length > 0;
		if (content.length === 0 || done) return item;
		return { type: 'message', role: 'assistant', ...item, content };
	}

	private partIndexes(): number[] {
		return [...this.parts.keys()].map((key) => Number(key.split(':')[0]));
	}
}

function indexOf({ output_index: index }: Record<string, unknown>): number {
	return typeof index === 'number' ? index : 0;
}

function entry<Key>(texts: Map<Key, Text>, key: Key): Text {
	const known = texts.get(key) ?? new Text();
	texts.set(key, known);
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
