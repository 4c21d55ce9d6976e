import writeGood from 'write-good';
import type { Text } from './texts';

/** What is wrong with a text, and where it stands. */
export interface Finding extends Text {
	problem: string;
}

const MAX_WORDS = 20;

/** Words that our texts do without, and what they say instead. */
const REPLACED: Array<[word: RegExp, instead: string]> = [
	[/\b(some|no|any)body\b|\bwhoever\b/i, 'name the person or program'],
	[/\bbesides\b/i, '"also"'],
	[/\bsee-through\b/i, '"transparent"'],
	[/\bpictures?\b/i, '"image"'],
	[/\bat hand\b/i, '"available"'],
	[/\bin vain\b/i, '"without success"'],
	[/\bfor good\b/i, '"permanently"'],
	[/\b(utilize|leverage|e\.g\.,|etc\.)/i, 'a plain word'],
	[/\b(simply|just|obviously|of course)\b/i, 'nothing: leave it out'],
];

/** What write-good finds too often in good sentences: "It is not charged", "all of them". */
const ACCEPTED = /^"(it (is|was)|all ?of|equivalent|type of|a number of|additional|however)"/i;

/** All rules on one text. */
export function check(text: Text): Finding[] {
	const problems = [...longSentences(text), ...replacedWords(text), ...wordiness(text)];
	return problems.map((problem) => ({ ...text, problem }));
}

function longSentences({ text }: Text): string[] {
	return text
		.split(/(?<=[.!?:;])\s+(?=[\p{Lu}“"…])/u)
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
		return found === undefined ? [] : [`"${found}" in place of ${instead}: ${text}`];
	});
}

function wordiness({ text }: Text): string[] {
	return writeGood(text, { passive: false, adverb: false, weasel: false })
		.map(({ reason }) => reason)
		.filter((reason) => !ACCEPTED.test(reason) && !/^"[\d.,]+" is repeated/.test(reason))
		.map((reason) => `${reason}: ${text}`);
}
