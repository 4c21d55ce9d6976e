import { quoteMessage } from '../../../nodes/shared/api/errors/sanitize';

const quote = (text: unknown) => quoteMessage((line) => line, text);

const REFUSAL = 'I can’t help with that request.';
const REASON = 'It asks for a real person.';
const BOTH = `${REFUSAL}\n\n${REASON}`;
const WORDS = 'word0 word1 word2 word3 word4';

test.each([
	['a text as it is', REFUSAL, REFUSAL],
	['paragraphs that are repeated, once', `${BOTH}\n${REFUSAL}`, `${REFUSAL} ${REASON}`],
	['a text three times over, once', Array(3).fill(REFUSAL).join(' '), REFUSAL],
	['the recorded words of a model, once', `${WORDS} ${WORDS} ${WORDS}`, WORDS],
	['a last piece that was cut off, once', `${REFUSAL} ${REFUSAL} I can’t help`, REFUSAL],
	['a word or two again and again, as it is', 'no no no no', 'no no no no'],
	['a piece that is not said twice in full', 'a b c d a b', 'a b c d a b'],
	['a piece whose end is that of another', 'a b c a b d a b c a b d', 'a b c a b d'],
	['blanks alone, as nothing', ' \n ', ''],
])('a message quotes %s', (_, said, quoted) => {
	expect(quote(said)).toBe(quoted);
});

test('what is no text is not quoted', () => {
	expect([undefined, 5, {}, ''].map(quote)).toEqual([undefined, undefined, undefined, undefined]);
});

test('a very long text is read to a bound, and quoted to a smaller one', () => {
	const long = `${'so '.repeat(100)}and on, for ever. `;
	expect(quote(long.repeat(10_000))).toBe(long.trim());
	expect(quote('y '.repeat(50_000))).toHaveLength(500);
});
