import { asRecord } from '../http/json';
import { GrowingText } from './growing-text';
import { readPartText } from './item-forms';
import { argumentsText, isWholeArguments } from './tool-arguments';

type Fields = Record<string, unknown>;

/** What a text of a stream is a part of. */
export type TextKind =
	| 'output_text'
	| 'refusal'
	| 'summary_text'
	| 'reasoning_text'
	| 'arguments'
	| 'input';

/** The type of the items that have texts of this kind. */
const ITEM_TYPES: Record<TextKind, string> = {
	output_text: 'message',
	refusal: 'message',
	summary_text: 'reasoning',
	reasoning_text: 'reasoning',
	arguments: 'function_call',
	input: 'custom_tool_call',
};

const getKey = (kind: TextKind, index: number) => `${index}:${kind}`;

/** Where an item has its parts. */
const PART_FIELDS = ['content', 'summary'] as const;
type PartField = (typeof PART_FIELDS)[number];

interface Part {
	kind: TextKind;
	index: number;
	text: GrowingText;
}

/** One output item, as the events of a stream tell it. */
export class StreamedItem {
	private begun: Fields = {};
	private ended?: Fields;
	private readonly parts = new Map<string, Part>();

	/** Whether an event has named it by an ID. */
	isNamed = false;

	/**
	 * @param index the `output_index` of its events, where they have one
	 * @param place where it stands among the others; those of one place in the order of their begin
	 */
	constructor(
		readonly index: number | undefined,
		readonly place: number,
	) {}

	/** Whether an item itself came, not only its texts. */
	get hasItem(): boolean {
		return typeof this.begun.type === 'string' || this.isDone;
	}

	/** Whether its final form came. */
	get isDone(): boolean {
		return this.ended !== undefined;
	}

	/** Its type, as far as known. */
	get type(): unknown {
		const [part] = this.parts.values();
		return this.ended?.type ?? this.begun.type ?? (part && ITEM_TYPES[part.kind]);
	}

	private get callId(): unknown {
		return this.ended?.call_id ?? this.begun.call_id;
	}

	begin(item: Fields) {
		this.begun = item;
	}

	end(item: Fields) {
		this.ended = item;
	}

	/** Whether a text of this kind can belong to it. */
	takes(kind: TextKind): boolean {
		return this.type === undefined || this.type === ITEM_TYPES[kind];
	}

	text(kind: TextKind, index: number): GrowingText {
		const key = getKey(kind, index);
		const part = this.parts.get(key) ?? { kind, index, text: new GrowingText() };
		this.parts.set(key, part);
		return part.text;
	}

	/** Whether an item can be this one, by its type and the ID of its call. */
	canBe({ type, call_id: callId }: Fields): boolean {
		const isSame = (mine: unknown, other: unknown) =>
			mine === undefined || other === undefined || mine === other;
		return isSame(this.type, type) && isSame(this.callId, callId);
	}

	/** The same, and of their texts one is the beginning of the other. */
	agreesWith(item: Fields): boolean {
		const [mine, other] = [readItemText(this.build()), readItemText(item)];
		return this.canBe(item) && (mine.startsWith(other) || other.startsWith(mine));
	}

	/** The item: its final form, and what that does not carry. */
	build(): Fields {
		const item = { ...this.begun, ...this.ended };
		const type = item.type ?? this.type;
		return this.parts.size === 0 ? item : this.fill({ ...getDefaults(type), ...item });
	}

	private fill(item: Fields): Fields {
		const text = (kind: TextKind) => this.parts.get(getKey(kind, 0))?.text.value;
		switch (item.type) {
			case 'function_call':
				return withArguments(item, [
					this.ended?.arguments,
					text('arguments'),
					this.begun.arguments,
				]);
			case 'custom_tool_call':
				return { ...item, input: longest([item.input, text('input')]) };
			default:
				return PART_FIELDS.reduce((filled, field) => this.fillParts(filled, field), item);
		}
	}

	private fillParts(item: Fields, field: PartField): Fields {
		const own = this.inOrder(({ kind }) => (kind === 'summary_text') === (field === 'summary'));
		const streamed = own.map(({ kind, text: { value } }) => toPart(kind, value));
		const isMore = readText(streamed).length > readText(item[field]).length;
		return isMore ? { ...item, [field]: mergeParts(item[field], streamed) } : item;
	}

	private inOrder(isWanted: (part: Part) => boolean): Part[] {
		return [...this.parts.values()].filter(isWanted).sort((a, b) => a.index - b.index);
	}
}

/** All that an item says: text, refusal, reasoning, arguments. */
export function readItemText(item: Fields): string {
	const { arguments: given, input } = item;
	return [...PART_FIELDS.map((field) => readText(item[field])), argumentsText(given), input].join(
		'',
	);
}

/**
 * The final form of an item, with what came on the way and it does not carry: of two the one that
 * says more.
 */
export function withStreamed(final: Fields, streamed: Fields): Fields {
	if (final.type === 'function_call') {
		return withArguments(final, [final.arguments, streamed.arguments]);
	}
	const isMore = readItemText(streamed).length > readItemText(final).length;
	const taken = [...PART_FIELDS, 'input'].filter(
		(name) => streamed[name] !== undefined && (isMore || final[name] === undefined),
	);
	const merged: Fields = {};
	for (const name of taken) merged[name] = mergeParts(final[name], streamed[name]);
	return { ...final, ...merged };
}

/** The parts that came, each with what else the item's own part of its place says. */
function mergeParts(own: unknown, streamed: unknown): unknown {
	if (!Array.isArray(streamed) || !Array.isArray(own)) return streamed;
	return streamed.map((part: unknown, index) => {
		const known = asRecord(own[index]);
		return known.type === asRecord(part).type ? { ...known, ...asRecord(part) } : part;
	});
}

const getDefaults = (type: unknown): Fields =>
	type === 'message' ? { type, role: 'assistant' } : { type };

/** The text of a content: a text, or a list of parts. */
function readText(content: unknown): string {
	if (typeof content === 'string') return content;
	if (!Array.isArray(content)) return '';
	return content
		.map(asRecord)
		.map((part) => readPartText(part) ?? part.refusal)
		.join('');
}

const toPart = (kind: TextKind, text: string): Fields =>
	kind === 'refusal' ? { type: kind, refusal: text } : { type: kind, text };

/**
 * A call with its arguments: the first that are whole; else those that say most, and of them the
 * first.
 */
function withArguments(item: Fields, candidates: unknown[]): Fields {
	const given = candidates.find(isWholeArguments) ?? longest(candidates);
	return given ? { ...item, arguments: given } : item;
}

function longest(candidates: unknown[]): unknown {
	const length = (value: unknown) => (typeof value === 'string' ? value.length : -1);
	return candidates.reduce((best, next) => (length(next) > length(best) ? next : best));
}
