const CONTROLS = [
	'Concurrency',
	'Idle Timeout',
	'Max File Size',
	'Max Wait',
	'Stream',
	'Timeout',
] as const;

/** A field or an option that an advice may name, as users see it. */
export type Control = (typeof CONTROLS)[number];

/** All of them, for texts that speak to everybody. */
export const EVERY_CONTROL: ReadonlySet<string> = new Set(CONTROLS);

/** What a user can do: a sentence, or one that is of use only where there is a control for it. */
export type Sentence = string | { having: Control; say: string };

/** What a user can do about a failure, sentence by sentence. */
export type Advice = readonly Sentence[];

/**
 * Advice as a text that names no control which its reader does not have.
 * @param controls the controls at hand, by the names that users see; absent: none
 */
export function adviceFor(advice: Advice, controls: ReadonlySet<string> = new Set()): string {
	return advice
		.flatMap((sentence) => {
			if (typeof sentence === 'string') return sentence;
			return controls.has(sentence.having) ? sentence.say : [];
		})
		.filter(Boolean)
		.join(' ');
}
