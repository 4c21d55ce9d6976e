import writeGood from 'write-good';
import type { Text } from './texts';

/** A problem of a text, with its place. */
export interface Finding extends Text {
	problem: string;
}

const MAX_WORDS = 20;

/** Words that our texts avoid, with their replacement. */
const REPLACED: Array<[word: RegExp, instead: string]> = [
	[/\b(some|no|any)body\b|\bwhoever\b/i, 'name the person or program'],
	[/\bbesides\b/i, '"also"'],
	[/\bsee-through\b/i, '"transparent"'],
	[/\bpictures?\b/i, '"image"'],
	[/\bat hand\b/i, '"available"'],
	[/\bin vain\b/i, '"without success"'],
	[/\bby turns\b/i, '"alternately"'],
	[/\bas one too many\b/i, 'the rate limit'],
	[/\bin place of\b/i, '"instead of"'],
	[/\bfor good\b/i, '"permanently"'],
	[/\b(utilize|leverage|e\.g\.,|etc\.)/i, 'a plain word'],
	[/[.,;:] {2,}(?=\S)/, 'one space'],
	[/\b(simply|just|obviously|of course)\b/i, 'nothing: leave it out'],
];

/** Texts of n8n and of gateways, word for word, and words that users search nodes by. */
const QUOTES = ['Modify, add, or remove item fields', 'picture'];

/** Findings of write-good that are too often wrong: "It is not charged", "all of them". */
const ACCEPTED =
	/^"(it (is|was)|all ?of|equivalent|type of|a number of|additional|however|(min|max)imum|allocate)"/i;

/** All rules on one text. */
export function check(text: Text): Finding[] {
	if (QUOTES.includes(text.text)) return [];
	const problems = [...longSentences(text), ...replacedWords(text), ...wordiness(text)];
	return problems.map((problem) => ({ ...text, problem }));
}

function longSentences({ text }: Text): string[] {
	return text
		.split(/(?<=[.!?:;])\s+(?=[\p{Lu}“"…]|n8n|npm)/u)
		.map((sentence) => ({ sentence, words: countWords(sentence) }))
		.filter(({ words }) => words > MAX_WORDS)
		.map(
			({ sentence, words }) => `${words} words in one sentence, at most ${MAX_WORDS}: ${sentence}`,
		);
}

const countWords = (sentence: string) =>
	sentence.split(/\s+/).filter((word) => /[\p{L}\d…]/u.test(word)).length;

function replacedWords({ text }: Text): string[] {
	return REPLACED.flatMap(([word, instead]) => {
		const found = word.exec(text)?.[0];
		return found === undefined ? [] : [`"${found}" instead of ${instead}: ${text}`];
	});
}

function wordiness({ text }: Text): string[] {
	return writeGood(text, { passive: false, adverb: false, weasel: false })
		.map(({ reason }) => reason)
		.filter((reason) => !ACCEPTED.test(reason) && !/^"([\d.,]+|n8n)" is repeated/.test(reason))
		.map((reason) => `${reason}: ${text}`);
}
