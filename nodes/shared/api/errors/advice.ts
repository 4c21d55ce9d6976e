/** A field or an option that an advice may name, as users see it. */
export type OptionName =
	| 'Concurrency'
	| 'Idle Timeout'
	| 'Max File Size'
	| 'Max Wait'
	| 'Previous Response ID'
	| 'Stream'
	| 'Timeout';

/** What a user can do: a sentence, or one that is left out if the reader has no such option. */
export type Sentence = string | { ifOption: OptionName; text: string };

/** What a user can do about a failure, sentence by sentence. */
export type Advice = readonly Sentence[];

/**
 * Advice as a text that names no control which its reader does not have.
 * @param optionNames the available fields and options, by the names that users see; absent: none
 */
export function formatAdvice(advice: Advice, optionNames: ReadonlySet<string> = new Set()): string {
	return advice
		.flatMap((sentence) => {
			if (typeof sentence === 'string') return sentence;
			return optionNames.has(sentence.ifOption) ? sentence.text : [];
		})
		.filter(Boolean)
		.join(' ');
}
