import { asRecord } from '../http/json';
import { withType } from './item-forms';
import { readItemText, StreamedItem, withStreamed, type TextKind } from './streamed-item';
import type { GrowingText } from './growing-text';

type Fields = Record<string, unknown>;

/**
 * The output items of a stream. Gateways number them (`output_index`), name them (`item_id`,
 * `call_id`, their own `id`), do both, or neither. Without either, the order tells them apart. Some
 * give every item the same number, others every event another ID. No item overwrites another.
 */
export class StreamedItems {
	private readonly items: StreamedItem[] = [];
	private readonly byId = new Map<string, StreamedItem>();
	private readonly byIndex = new Map<number, StreamedItem>();
	/** Whether an ID came in several events: one that is not known is that of another item then. */
	private idsRecur = false;

	get isEmpty(): boolean {
		return this.items.length === 0;
	}

	/** Takes in `response.output_item.added`. */
	begin(fields: Fields) {
		const item = withType(asRecord(fields.item));
		const ids = getIds(fields);
		const known = this.find(ids, item);
		// An ID that was done with is that of another item now.
		const begun = known && !known.isDone ? known : this.itemOfTexts(fields, item);
		const to = begun ?? this.create(fields);
		to.begin(item);
		this.remember(ids, to);
	}

	/** Takes in `response.output_item.done`. */
	end(fields: Fields) {
		const item = withType(asRecord(fields.item));
		const ids = getIds(fields);
		const known = this.find(ids, item);
		const isAgain = known?.isDone === true && !known.agreesWith(item);
		const ended = (isAgain ? undefined : known) ?? this.openItem(fields, item);
		const to = ended ?? this.create(fields);
		to.end(item);
		this.remember(ids, to);
	}

	/** The text to which an event belongs. */
	text(fields: Fields, kind: TextKind): GrowingText {
		const name = kind === 'summary_text' ? 'summary_index' : 'content_index';
		const index = kind === 'arguments' || kind === 'input' ? 0 : readNumber(fields[name]);
		return this.itemOfText(fields, kind).text(kind, index ?? 0);
	}

	/** The items in their order; those of no type are none. */
	build(): Fields[] {
		return this.inOrder()
			.map((item) => item.build())
			.filter(isItem);
	}

	/** The items whose final form came. */
	buildDone(): Fields[] {
		return this.inOrder()
			.filter((item) => item.isDone)
			.map((item) => item.build())
			.filter(isItem);
	}

	/** Whether everything that was begun came to its end. */
	get allDone(): boolean {
		return this.items.every((item) => item.isDone || !isItem(item.build()));
	}

	/** The output of the final response, with what came on the way and it does not carry. */
	completeOutput(final: unknown): unknown {
		if (!Array.isArray(final) || final.length === 0) return this.build();
		const matches = this.match(final.map(asRecord));
		const text = final.map((item) => readItemText(asRecord(item))).join('\n');
		const missing = this.inOrder().filter(
			(item) => !matches.includes(item) && isMissing(item, text),
		);
		return this.merge(final, matches, missing);
	}

	private merge(
		final: unknown[],
		matches: Array<StreamedItem | undefined>,
		missing: StreamedItem[],
	): unknown[] {
		const order = this.inOrder();
		const waiting = [...missing];
		const output: unknown[] = [];
		const takeBefore = (place: number) => {
			while (waiting[0] && order.indexOf(waiting[0]) < place) output.push(waiting.shift()!.build());
		};
		final.forEach((item, position) => {
			const match = matches[position];
			if (match) takeBefore(order.indexOf(match));
			output.push(match ? withStreamed(asRecord(item), match.build()) : item);
		});
		takeBefore(Infinity);
		return output;
	}

	/** The streamed item of each final one: by an ID of its own, else the next of its type. */
	private match(final: Fields[]): Array<StreamedItem | undefined> {
		const named = final.map((item) => this.find(getIds({ item }), item));
		const isOnly = (one?: StreamedItem) => named.indexOf(one) === named.lastIndexOf(one);
		const matches = named.map((one) => (isOnly(one) ? one : undefined));
		const order = this.inOrder();
		final.forEach((item, position) => {
			if (!isItem(item)) return;
			const free = order.filter((one) => !matches.includes(one) && one.canBe(item));
			matches[position] ??= free.find((one) => one.agreesWith(item)) ?? free[0];
		});
		return matches;
	}

	/** The item of one of these IDs, if it can be that one. */
	private find(ids: string[], item: Fields): StreamedItem | undefined {
		const known = ids.map((id) => this.byId.get(id));
		return known.find((one) => one?.canBe(item));
	}

	private create(fields: Fields): StreamedItem {
		const index = readNumber(fields.output_index);
		const item = new StreamedItem(index, index ?? this.items.at(-1)?.place ?? 0);
		this.items.push(item);
		if (index !== undefined) this.byIndex.set(index, item);
		return item;
	}

	private remember(ids: string[], item: StreamedItem) {
		for (const id of ids) this.byId.set(id, item);
		item.isNamed ||= ids.length > 0;
	}

	/** The item that so far is known by its texts alone. */
	private itemOfTexts(fields: Fields, item: Fields): StreamedItem | undefined {
		const candidate = this.latest(fields);
		if (!candidate || candidate.hasItem || this.isOther(candidate, getIds(fields)))
			return undefined;
		return candidate.agreesWith(item) ? candidate : undefined;
	}

	/** The item that is open and may end like this: of several the first whose text agrees. */
	private openItem(fields: Fields, item: Fields): StreamedItem | undefined {
		const ids = getIds(fields);
		const index = readNumber(fields.output_index);
		const isThere = (one: StreamedItem) =>
			index === undefined || one.index === undefined || one.index === index;
		const open = this.items.filter(
			(one) => !one.isDone && isThere(one) && !this.isOther(one, ids) && one.canBe(item),
		);
		return open.find((one) => one.agreesWith(item)) ?? open[0];
	}

	private itemOfText(fields: Fields, kind: TextKind): StreamedItem {
		const ids = getIds(fields);
		const known = ids.map((id) => this.byId.get(id)).find((item) => item?.takes(kind));
		if (known) {
			this.idsRecur = true;
			return known;
		}
		const latest = this.latest(fields, kind);
		const item = latest && !this.isOther(latest, ids) ? latest : this.create(fields);
		// The event of a text names its item only where that has no name.
		if (!item.isNamed) this.remember(ids, item);
		return item;
	}

	/** The open item of this number; without a number the latest that takes such a text. */
	private latest(fields: Fields, kind?: TextKind): StreamedItem | undefined {
		const fits = (item: StreamedItem) => !item.isDone && (kind === undefined || item.takes(kind));
		const index = readNumber(fields.output_index);
		if (index === undefined) return this.items.findLast(fits);
		const numbered = this.byIndex.get(index);
		return numbered && fits(numbered) ? numbered : undefined;
	}

	/**
	 * Whether IDs that are not known tell that an event is not of this item. Where each event has
	 * another ID, they tell nothing of an item that was begun.
	 */
	private isOther(item: StreamedItem, ids: string[]): boolean {
		return ids.length > 0 && item.isNamed && (this.idsRecur || !item.hasItem);
	}

	private inOrder(): StreamedItem[] {
		return [...this.items].sort((a, b) => a.place - b.place);
	}
}

const isItem = ({ type }: Fields) => typeof type === 'string';

/** Whether an item is to be added to an output that lacks it. */
function isMissing(item: StreamedItem, outputText: string): boolean {
	const text = readItemText(item.build());
	if (item.type === 'message') return !outputText.includes(text);
	return item.isDone && isItem(item.build());
}

/** The IDs by which an event names its item: of its call, and its own. */
function getIds({ call_id, item_id, item }: Fields): string[] {
	const { id, call_id: ofItem } = asRecord(item);
	return [call_id, ofItem, item_id, id].filter(
		(value): value is string => typeof value === 'string' && value !== '',
	);
}

const readNumber = (value: unknown) => (typeof value === 'number' ? value : undefined);
