import fc from '../../support/fast-check';
import { keyRedactor, normalizeApiKey } from '../../../nodes/shared/api/credential/api-key';
import { ValidationError } from '../../../nodes/shared/api/errors/errors';
import { KEY, refusalOf, shown } from './arrange';

const K = 'sk-abc123';

test.each<[string, string[]]>([
	['white space', [` ${K}  `, `\r\n${K}\r\n`, `\t${K}\t`, `\u00a0${K}\u00a0`, `\ufeff${K}`]],
	['a pair of quotes', [`"${K}"`, `'${K}'`, `\`${K}\``, `“${K}”`, `‘${K}’`]],
	['quotes with white space', [` " ${K} " `]],
	['Bearer', [`Bearer ${K}`, `  Bearer ${K}`, `bearer ${K}`, `BEARER   ${K}`, `Bearer\n${K}\n`]],
	['Bearer and quotes', [`"Bearer ${K}"`, `Bearer "${K}"`, `Bearer " ${K} "`]],
])('what copying adds to a key is taken off: %s', (_, pasted) => {
	for (const text of pasted) expect([text, normalizeApiKey(text)]).toEqual([text, K]);
});

const SIGNS = '!#$%&()*+,-./:;<=>?@[\\]^_{|}~';
const KEYS = [K, 'sk-undefined', 'xbearer', 'bearer_abc', 'x'.repeat(4096), SIGNS];
test.each(KEYS)('a key stays as it is: %s', (key) => {
	expect(normalizeApiKey(key)).toBe(key);
});

describe('what could not be sent is refused by the name of its fault, without the key', () => {
	const BREAK = 'contains a line break or another control character';
	const [SPACE, QUOTE] = ['contains a space', 'contains a quote'];
	const NO_ASCII = 'contains a character that is not ASCII';
	const S = 'sk-secret123';

	test.each<[string, string[], string]>([
		['nothing', ['', ' \n ', '""'], 'is empty'],
		['Bearer alone', ['Bearer', 'Bearer   '], 'is empty'],
		['a whole file', ['x'.repeat(4097)], 'is longer than 4096 characters'],
		['a space inside', ['sk-bearer 123', 'sk-secret 123'], SPACE],
		['other white space inside', ['sk-secret\t123', 'sk-secret\u00a0123'], SPACE],
		['invisible white space', ['sk-secret\u200b123', 'sk-secret\ufeff123'], SPACE],
		['the header’s name', [`Authorization: Bearer ${S}`], SPACE],
		['Bearer twice', [`Bearer Bearer ${S}`], SPACE],
		['two keys', [`${S}\nsk-secret456`, `${S}\r\nX-Evil: 1`, 'sk-secret\r123'], BREAK],
		['a control character', ['sk-secret\u0000123', `${S}\u007f`], BREAK],
		['a quote in front', ['"', `"${S}`, `'${S}`, `\`${S}`, `“${S}`, `‘${S}`, `„${S}“`], QUOTE],
		['a quote behind or inside', [`${S}'`, 'sk-"secret"123', 'sk«secret»123'], QUOTE],
		['two pairs of quotes', [`"'${S}'"`], QUOTE],
		['quotes that do not match', [`"${S}'`], QUOTE],
		['letters of other scripts', ['sk-secretä123', 'sk-sесret123'], NO_ASCII],
		['a key that is shortened or hidden', ['sk-secret…123', '••••••••'], NO_ASCII],
	])('%s', (_, refused, problem) => {
		for (const pasted of refused) {
			const error = refusalOf(() => normalizeApiKey(pasted));
			expect(error).toBeInstanceOf(ValidationError);
			expect(error).toMatchObject({ field: 'API Key', message: `API Key ${problem}` });
			expect(error.details.advice).toContain('Copy the key again');
			for (const piece of pasted.match(/[\w-]{5,}/g) ?? []) {
				if (/^(bearer|authorization)$/i.test(piece)) continue;
				expect(shown(error)).not.toContain(piece);
			}
		}
	});

	test('whatever is pasted gives a key that stays as it is, or an input error without it', () => {
		const around = fc.constantFrom('', ' ', '"', 'Bearer ', '“', '”', '\n');
		const inside = fc.string({ unit: fc.constantFrom(...'abcXYZ019-_."\' \n') });
		const parts = fc.tuple(around, inside, around).map((pieces) => pieces.join(''));
		const pasted = fc.oneof(fc.string({ unit: 'binary', maxLength: 40 }), parts);
		let keys = 0;
		const check = (text: string) => {
			const key = normalizeApiKey(text);
			keys++;
			expect(key).toMatch(/^[!-~]+$/);
			expect(key).not.toMatch(/["'`]/);
			expect(normalizeApiKey(key)).toBe(key);
		};
		fc.assert(
			fc.property(pasted, (text) => {
				try {
					check(text);
				} catch (error) {
					if (!(error instanceof ValidationError)) throw error;
					if (text.trim().length > 20) expect(error.message).not.toContain(text.trim());
				}
			}),
			{ numRuns: 500 },
		);
		expect(keys).toBeGreaterThan(10);
	});
});

describe('a key that somebody echoes is taken out', () => {
	const redact = keyRedactor(KEY);
	const encoded = encodeURIComponent(KEY);
	const lower = encoded.replace(/%../g, (code) => code.toLowerCase());

	test.each([
		['as it is, each time', `key ${KEY} and ${KEY}.`, 'key [API key] and [API key].'],
		['as a header', `{"auth":"Bearer ${KEY}"}`, '{"auth":"Bearer [API key]"}'],
		['URL-encoded', `?key=${encoded}&x=1`, '?key=[API key]&x=1'],
		['URL-encoded in lower case', `?key=${lower}&x=1`, '?key=[API key]&x=1'],
		['and nothing else', 'model "sk-live": see https://x.y/?a=1%2F2', undefined],
	])('%s', (_, text, clean = text) => {
		expect(encoded).not.toBe(lower);
		expect(redact(text)).toBe(clean);
	});

	test('in base64 at every alignment, whatever stands around it', () => {
		const bytes = fc.uint8Array({ maxLength: 12 });
		const keys = fc.string({ unit: fc.constantFrom(...'abcXYZ0123456789-_+/?>~'), minLength: 12 });
		const forms = fc.constantFrom('base64' as const, 'base64url' as const);
		fc.assert(
			fc.property(keys, bytes, bytes, forms, (key, before, after, form) => {
				const encoded = Buffer.concat([before, Buffer.from(key), after]).toString(form);
				const clean = keyRedactor(key)(encoded);
				expect(clean).toContain('[API key]');
				const most = Math.ceil((4 * (before.length + after.length + 4)) / 3) + 4;
				expect(clean.replaceAll('[API key]', '').length).toBeLessThanOrEqual(most);
			}),
			{ numRuns: 300 },
		);
	});

	test('but not one of a few letters, which would tear words apart, and in any script', () => {
		expect(keyRedactor('abc')('an abcess, abc')).toBe('an abcess, abc');
		expect(keyRedactor('k3y!')('?key=k3y!')).toBe('?key=[API key]');
		expect(keyRedactor('')('some text')).toBe('some text');
		expect(keyRedactor('a-ключ-b')('<a-ключ-b>')).toBe('<[API key]>');
	});
});
