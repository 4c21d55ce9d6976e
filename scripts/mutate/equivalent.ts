/** A mutant that no test can tell from the code. */
export interface EquivalentMutant {
	/** As in the table of files. */
	file: string;
	/** The line of the code on which the mutant begins, trimmed. */
	line: string;
	/** What is replaced, and by what, each with all white space as single spaces. */
	original: string;
	replacement: string;
	/** Why no behavior differs. */
	reason: string;
}

/** They do not count in the score. */
export const EQUIVALENT: EquivalentMutant[] = [];
