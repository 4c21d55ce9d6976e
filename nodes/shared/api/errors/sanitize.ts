import { ModelAccessError, type ErrorDetails } from './errors';

/** Takes secrets out of text. */
export type Redact = (text: string) => string;

/** Longest piece of text from outside that a message quotes, in characters. */
const LONGEST_QUOTE = 500;

/**
 * Makes text from outside fit for a message: one line, no control characters, of bounded length.
 * @param text what the gateway, a proxy or a storage host sent
 * @param longest characters
 */
export function sanitizeForMessage(text: string, longest = LONGEST_QUOTE): string {
	const line = text
		.slice(0, longest * 4)
		// eslint-disable-next-line no-control-regex
		.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]+/g, ' ')
		.replace(/ {2,}/g, ' ')
		.trim();
	return line.length > longest ? `${line.slice(0, longest).trimEnd()}…` : line;
}

/**
 * A field of a gateway's answer, fit for a message: without secrets, and as {@link sanitizeForMessage} makes it.
 * @returns undefined if the field is no text, or empty
 */
export function sanitizeField(
	redact: Redact,
	value: unknown,
	longest?: number,
): string | undefined {
	return typeof value === 'string' && value !== ''
		? sanitizeForMessage(redact(value), longest)
		: undefined;
}

/**
 * A gateway's own message, as {@link sanitizeField} makes it, and what it says again and again once:
 * models repeat the paragraphs of a refusal.
 */
export function quoteMessage(redact: Redact, value: unknown): string | undefined {
	if (typeof value !== 'string' || value === '') return undefined;
	const text = redact(value);
	const isCut = text.length > LONGEST_READ;
	const read = isCut ? text.slice(0, LONGEST_READ).replace(/\S{1,100}$/, '') : text;
	const paragraphs = new Set(read.split(/[\r\n]+/).map((paragraph) => paragraph.trim()));
	return sanitizeForMessage(withoutRepetition([...paragraphs].join('\n')));
}

/** Characters in which repetitions are looked for. */
const LONGEST_READ = 20_000;

/** Fewest words of a piece whose repetition is left out. */
const FEWEST_WORDS = 3;

/** A text that says one piece over and over, with the piece said once. */
function withoutRepetition(text: string): string {
	const words = text.split(/\s+/).filter(Boolean);
	const period = findPeriod(words);
	const isRepeated = period >= FEWEST_WORDS && words.length >= 2 * period;
	return isRepeated ? words.slice(0, period).join(' ') : text;
}

/** The length of the shortest piece of which a list is a repetition, its last one cut or not. */
function findPeriod(words: string[]): number {
	// How long a beginning of the list ends at each word: the table of Knuth, Morris and Pratt.
	const borders: number[] = [0];
	for (let index = 1, border = 0; index < words.length; index++) {
		while (border > 0 && words[index] !== words[border]) border = borders[border - 1]!;
		if (words[index] === words[border]) border++;
		borders.push(border);
	}
	return words.length - (borders.at(-1) ?? 0);
}

/**
 * Takes secrets out of everything that an error shows: a gateway or proxy may have echoed the key.
 * @returns a new error of the same class and with the same fields
 */
export function redactError(error: unknown, redact: Redact): unknown {
	if (error instanceof ModelAccessError) return redactOwn(error, redact);
	return error instanceof Error ? redactOther(error, redact) : error;
}

/** An error of another class. No constructor runs, since it might change what it is given. */
function redactOther(error: Error, redact: Redact): Error {
	const { name, message, stack } = error;
	const texts = { name, message: redact(message), ...(stack && { stack: redact(stack) }) };
	const copy = Object.create(
		Object.getPrototypeOf(error) as object,
		Object.getOwnPropertyDescriptors(error),
	) as Error;
	// Not by assignment: a class may compute its name and message from what a copy does not have.
	for (const [key, value] of Object.entries(texts)) {
		const enumerable = Object.prototype.propertyIsEnumerable.call(error, key);
		Object.defineProperty(copy, key, { value, enumerable, writable: true, configurable: true });
	}
	return Object.assign(copy, redactTexts(error, redact));
}

function redactOwn(error: ModelAccessError, redact: Redact): ModelAccessError {
	const details = redactTexts(error.details, redact) as Partial<ErrorDetails>;
	const clean = error.with(details, redact(error.message));
	if (error.stack !== undefined) clean.stack = redact(error.stack);
	return clean;
}

/** The fields that are texts, or hold some. */
function redactTexts(fields: object, redact: Redact): Record<string, unknown> {
	const texts = Object.entries(fields).flatMap(([name, value]: [string, unknown]) => {
		if (typeof value === 'string') return [[name, redact(value)]];
		return Array.isArray(value) ? [[name, value.map((one) => redactText(one, redact))]] : [];
	});
	return Object.fromEntries(texts) as Record<string, unknown>;
}

/** The texts in a value, at any depth. */
function redactText(value: unknown, redact: Redact): unknown {
	if (typeof value === 'string') return redact(value);
	if (typeof value !== 'object') return value;
	return JSON.parse(redact(JSON.stringify(value))) as unknown;
}
