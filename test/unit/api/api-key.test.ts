import fc from '../../support/fast-check';
import { keyRedactor, normalizeApiKey } from '../../../nodes/shared/api/credential/api-key';
import { expectError, KEY, refusalOf, shown } from './arrange';

const K = 'sk-abc123';

test.each<[string, string[]]>([
	['white space', [` ${K}  `, `\r\n${K}\r\n`, `\t${K}\t`, `\u00a0${K}\u00a0`, `\ufeff${K}`]],
	['quotes, Bearer in or around them', [` " ${K} " `, `"Bearer ${K}"`, `Bearer " ${K} "`]],
	['a pair of quotes', [`"${K}"`, `'${K}'`, `\`${K}\``, `“${K}”`, `‘${K}’`]],
	['Bearer', [`Bearer ${K}`, `  Bearer ${K}`, `bearer ${K}`, `BEARER   ${K}`, `Bearer\n${K}\n`]],
])('what copying adds to a key is taken off: %s', (_, pasted) => {
	for (const text of pasted) expect([text, normalizeApiKey(text)]).toEqual([text, K]);
});

test('a key stays as it is', () => {
	const SIGNS = '!#$%&()*+,-./:;<=>?@[\\]^_{|}~';
	for (const key of [K, 'xbearer', 'bearer_abc', 'x'.repeat(4096), SIGNS])
		expect(normalizeApiKey(key)).toBe(key);
});

const BREAK = 'contains a line break or another control character';
const [SPACE, QUOTE] = ['contains a space', 'contains a quote'];
const NO_ASCII = 'contains a character that is not ASCII';
const S = 'sk-secret123';

test.each<[string, string[], string]>([
	['nothing', ['', ' \n ', '""'], 'is empty'],
	['Bearer alone', ['Bearer', 'Bearer   '], 'is empty'],
	['a whole file', ['x'.repeat(4097)], 'is longer than 4096 characters'],
	['white space inside', ['sk-bearer 123', 'sk-secret\t123', 'sk-secret\u00a0123'], SPACE],
	['invisible white space', ['sk-secret\u200b123', 'sk-secret\ufeff123'], SPACE],
	['the header’s name, Bearer twice', [`Authorization: Bearer ${S}`, `Bearer Bearer ${S}`], SPACE],
	['two keys', [`${S}\nsk-secret456`, `${S}\r\nX-Evil: 1`, 'sk-secret\r123'], BREAK],
	['a control character', ['sk-secret\u0000123', `${S}\u007f`], BREAK],
	['a quote in front', ['"', `"${S}`, `'${S}`, `\`${S}`, `“${S}`, `‘${S}`, `„${S}“`], QUOTE],
	['a quote behind or inside', [`${S}'`, 'sk-"secret"123', 'sk«secret»123'], QUOTE],
	['quotes that do not match', [`"${S}'`, `"'${S}'"`], QUOTE],
	['letters of other scripts', ['sk-secretä123', 'sk-sесret123'], NO_ASCII],
	['a key that is shortened or hidden', ['sk-secret…123', '••••••••'], NO_ASCII],
])('what could not be sent is refused by its fault, without the key: %s', (_, refused, problem) => {
	for (const pasted of refused) {
		const error = refusalOf(() => normalizeApiKey(pasted));
		expectError(error, 'ValidationError', `API Key ${problem}`, { advice: /Copy the key again/ });
		expect(error).toMatchObject({ field: 'API Key' });
		for (const piece of pasted.match(/[\w-]{5,}/g) ?? []) {
			if (/^(bearer|authorization)$/i.test(piece)) continue;
			expect(shown(error)).not.toContain(piece);
		}
	}
});

describe('a key that somebody echoes is taken out', () => {
	const redact = keyRedactor(KEY);
	const encoded = encodeURIComponent(KEY);
	const lower = encoded.replace(/%../g, (code) => code.toLowerCase());

	test.each([
		['as it is, each time', `"Bearer ${KEY}", ${KEY}.`, '"Bearer [API key]", [API key].'],
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
