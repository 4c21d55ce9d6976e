import { createHash } from 'node:crypto';

/**
 * A number from 0 (included) to 1 (excluded) that depends on the words alone. The same words give
 * the same number in any order of calls.
 */
export function chanceOf(...words: Array<string | number>): number {
	return createHash('sha256').update(words.join('\0')).digest().readUInt32BE(0) / 2 ** 32;
}

/** One of the choices, by a number from 0 to 1. */
export function pick<T>(choices: readonly T[], chance: number): T {
	const choice = choices[Math.floor(chance * choices.length)];
	if (choice === undefined) throw new Error('There is nothing to choose from');
	return choice;
}
