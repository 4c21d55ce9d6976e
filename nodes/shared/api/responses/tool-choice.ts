const MODES = ['auto', 'none', 'required'];

/** A function that the model has to call. */
export interface FunctionChoice {
	type: 'function';
	name: string;
}

/**
 * Reads a tool choice that is one word.
 * @param word a mode of the API, or the name of a function
 * @returns `tool_choice` as the API takes it
 * @see contract, "Response request"
 */
export function parseToolChoice(word: string): string | FunctionChoice {
	return MODES.includes(word) ? word : { type: 'function', name: word };
}
