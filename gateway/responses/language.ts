import { createHash } from 'node:crypto';

/**
 * Splits a text into the pieces of a stream. Joined, they are the text again. A piece counts as a
 * token: white space and up to 12 characters.
 */
export const piecesOf = (text: string): string[] => text.match(/\s*\S{1,12}|\s+/gu) ?? [];

/** Number of tokens of a text: its pieces. */
export const tokensOf = (text: string): number => piecesOf(text).length;

/** A whole number below `limit`, chosen by a text. */
export const numberOf = (text: string, limit: number): number =>
	createHash('sha256').update(text).digest().readUInt32BE(0) % limit;

/** The element of a list, chosen by a text. */
export function choose<T>(list: readonly [T, ...T[]], text: string): T {
	return list[numberOf(text, list.length)] ?? list[0];
}

const GOOD =
	/\b(good|great|love|loved|lovely|excellent|happy|thank|thanks|perfect|best|wonderful|fast)\b/gi;
const BAD =
	/\b(bad|broken|hate|hated|awful|terrible|unhappy|angry|refund|worst|late|slow|never|damaged)\b/gi;

/** The mood of a text, by its good and bad words. */
export function moodOf(text: string): 'positive' | 'negative' | 'neutral' {
	const balance = (text.match(GOOD) ?? []).length - (text.match(BAD) ?? []).length;
	return balance > 0 ? 'positive' : balance < 0 ? 'negative' : 'neutral';
}

/**
 * Chooses a label for a text. It is the first label that the text contains as a word. Else it is
 * the label that is the text's mood. Else the hash of the text decides.
 */
export function classify(labels: readonly [string, ...string[]], text: string): string {
	const words = ` ${text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, ' ')} `;
	const plain = (label: string) =>
		label
			.toLowerCase()
			.replace(/[^\p{L}\p{N}]+/gu, ' ')
			.trim();
	const mood = moodOf(text);
	return (
		labels.find((label) => plain(label) !== '' && words.includes(` ${plain(label)} `)) ??
		labels.find((label) => plain(label) === mood) ??
		choose(labels, text)
	);
}

const MEDIA = ['oil painting', 'watercolor', 'photograph', 'paper collage', 'ink drawing'] as const;
const LIGHTS = [
	'golden hour',
	'soft morning light',
	'moonlight',
	'storm light',
	'neon glow',
] as const;
const VIEWS = ['wide angle', 'close up', 'seen from above', 'centered', 'low horizon'] as const;

/** An image prompt for a subject. */
export function imagePromptFor(subject: string): string {
	const about = subject.trim().replace(/[.!?\s]+$/, '') || 'a quiet landscape';
	const parts = [choose(MEDIA, `medium ${about}`), choose(LIGHTS, `light ${about}`)];
	return `${about}, ${parts.join(', ')}, ${choose(VIEWS, `view ${about}`)}`;
}
