import fc from '../../support/fast-check';
import { keyRedactor, normalizeApiKey } from '../../../nodes/shared/api/credential/api-key';
import { InputError } from '../../../nodes/shared/api/errors/errors';
import { KEY, refusalOf, shown } from './arrange';

describe('what copying adds to a key is taken off', () => {
	test.each([
		['nothing', 'sk-abc123', 'sk-abc123'],
		['spaces', '  sk-abc123  ', 'sk-abc123'],
		['line breaks', '\r\nsk-abc123\r\n', 'sk-abc123'],
		['tabs', '\tsk-abc123\t', 'sk-abc123'],
		['no-break spaces', '\u00a0sk-abc123\u00a0', 'sk-abc123'],
		['a byte order mark', '\ufeffsk-abc123', 'sk-abc123'],
		['double quotes', '"sk-abc123"', 'sk-abc123'],
		['single quotes', "'sk-abc123'", 'sk-abc123'],
		['backticks', '`sk-abc123`', 'sk-abc123'],
		['typographic quotes', '“sk-abc123”', 'sk-abc123'],
		['single typographic quotes', '‘sk-abc123’', 'sk-abc123'],
		['quotes with spaces on both sides', ' " sk-abc123 " ', 'sk-abc123'],
		['Bearer', 'Bearer sk-abc123', 'sk-abc123'],
		['spaces before Bearer', '  Bearer sk-abc123', 'sk-abc123'],
		['quotes with spaces behind Bearer', 'Bearer " sk-abc123 "', 'sk-abc123'],
		['bearer in lower case', 'bearer sk-abc123', 'sk-abc123'],
		['BEARER and several spaces', 'BEARER   sk-abc123', 'sk-abc123'],
		['Bearer and a line break', 'Bearer\nsk-abc123\n', 'sk-abc123'],
		['quotes around Bearer', '"Bearer sk-abc123"', 'sk-abc123'],
		['quotes behind Bearer', 'Bearer "sk-abc123"', 'sk-abc123'],
		['a key that ends like bearer', 'xbearer', 'xbearer'],
		['the longest key', 'x'.repeat(4096), 'x'.repeat(4096)],
		['a key that begins like Bearer', 'bearer_abc', 'bearer_abc'],
		[
			'all that a header may hold',
			'!#$%&()*+,-./:;<=>?@[\\]^_{|}~',
			'!#$%&()*+,-./:;<=>?@[\\]^_{|}~',
		],
	])('%s: %j', (_, pasted, key) => {
		expect(normalizeApiKey(pasted)).toBe(key);
	});
});

describe('what could not be sent is refused by the name of its fault, without the key', () => {
	test.each([
		['nothing', '', 'is empty'],
		['white space', ' \n ', 'is empty'],
		['a whole file', 'x'.repeat(4097), 'is longer than 4096 characters'],
		['quotes around nothing', '""', 'is empty'],
		['Bearer alone', 'Bearer', 'is empty'],
		['Bearer and spaces', 'Bearer   ', 'is empty'],
		['a space inside', 'sk-secret 123', 'contains a space'],
		['a tab inside', 'sk-secret\t123', 'contains a space'],
		['a no-break space inside', 'sk-secret\u00a0123', 'contains a space'],
		['a zero-width space', 'sk-secret\u200b123', 'contains a space'],
		['the header’s name', 'Authorization: Bearer sk-secret123', 'contains a space'],
		['Bearer twice', 'Bearer Bearer sk-secret123', 'contains a space'],
		['two keys', 'sk-secret123\nsk-secret456', 'contains a line break'],
		['a carriage return', 'sk-secret\r123', 'contains a line break'],
		['a header in the key', 'sk-secret123\r\nX-Evil: 1', 'contains a line break'],
		['a null', 'sk-secret\u0000123', 'control character'],
		['a delete', 'sk-secret123\u007f', 'control character'],
		['a quote alone', '"', 'contains a quote'],
		['a quote in front', '"sk-secret123', 'contains a quote'],
		['another quote in front', "'sk-secret123", 'contains a quote'],
		['a backtick in front', '`sk-secret123', 'contains a quote'],
		['a typographic quote in front', '“sk-secret123', 'contains a quote'],
		['a single typographic quote in front', '‘sk-secret123', 'contains a quote'],
		['a quote behind', "sk-secret123'", 'contains a quote'],
		['a quote inside', 'sk-"secret"123', 'contains a quote'],
		['two pairs of quotes', '"\'sk-secret123\'"', 'contains a quote'],
		['quotes that do not match', '"sk-secret123\'', 'contains a quote'],
		['low quotes', '„sk-secret123“', 'contains a quote'],
		['an umlaut', 'sk-secretä123', 'not ASCII'],
		['an ellipsis of a shortened key', 'sk-secret…123', 'not ASCII'],
		['bullets of a hidden key', '••••••••', 'not ASCII'],
		['a Cyrillic letter', 'sk-sесret123', 'not ASCII'],
	])('%s: %s', (_, pasted, problem) => {
		const error = refusalOf(() => normalizeApiKey(pasted));

		expect(error).toBeInstanceOf(InputError);
		expect(error).toMatchObject({ field: 'API Key' });
		expect(error.message).toMatch(/^API Key /);
		expect(error.message).toContain(problem);
		expect(error.facts).toMatchObject({ retryable: false });
		expect(error.facts.advice).toContain('Copy the key again');
		for (const piece of pasted.match(/[\w-]{5,}/g) ?? []) {
			if (/^(bearer|authorization)$/i.test(piece)) continue;
			expect(shown(error)).not.toContain(piece);
		}
	});

	test('whatever is pasted gives a key that stays as it is, or an input error without it', () => {
		const pasted = fc.oneof(
			fc.string({ unit: 'binary', maxLength: 40 }),
			fc
				.tuple(
					fc.constantFrom('', ' ', '"', 'Bearer ', '“', '\n'),
					fc.string({ unit: fc.constantFrom(...'abcXYZ019-_."\' \n') }),
					fc.constantFrom('', ' ', '"', '”', '\n'),
				)
				.map((parts) => parts.join('')),
		);
		let keys = 0;
		fc.assert(
			fc.property(pasted, (text) => {
				let key: string;
				try {
					key = normalizeApiKey(text);
				} catch (error) {
					expect(error).toBeInstanceOf(InputError);
					const bare = text.trim();
					if (bare.length > 20) expect((error as InputError).message).not.toContain(bare);
					return;
				}
				keys++;
				expect(key).toMatch(/^[!-~]+$/);
				expect(key).not.toMatch(/["'`]/);
				expect(normalizeApiKey(key)).toBe(key);
			}),
			{ numRuns: 500 },
		);
		expect(keys).toBeGreaterThan(10);
	});
});

describe('a key that somebody echoes is taken out', () => {
	const redact = keyRedactor(KEY);

	test('as it is, each time', () => {
		expect(redact(`key ${KEY} and ${KEY}.`)).toBe('key [API key] and [API key].');
	});

	test('as a header', () => {
		expect(redact(`{"authorization":"Bearer ${KEY}"}`)).toBe(
			'{"authorization":"Bearer [API key]"}',
		);
	});

	test('URL-encoded, with either case of hex digits', () => {
		const encoded = encodeURIComponent(KEY);
		const lower = encoded.replace(/%../g, (code) => code.toLowerCase());
		expect(encoded).not.toBe(lower);
		expect(redact(`?key=${encoded}&x=1`)).toBe('?key=[API key]&x=1');
		expect(redact(`?key=${lower}&x=1`)).toBe('?key=[API key]&x=1');
	});

	test.each([0, 1, 2, 3, 4, 5])('in base64, with %i bytes before it', (bytes) => {
		const text = 'user:'.slice(0, bytes).padEnd(bytes, 'x') + KEY + ':tail';
		for (const form of ['base64', 'base64url'] as const) {
			const clean = redact(`<${Buffer.from(text).toString(form)}>`);
			expect(clean).toContain('[API key]');
			expect(decodings(clean)).not.toContain(KEY.slice(2, 8));
		}
	});

	test('in base64 at every alignment, whatever stands around it', () => {
		const bytes = fc.uint8Array({ maxLength: 12 });
		const keys = fc.string({ unit: fc.constantFrom(...'abcdXYZ0123456789-_+/~'), minLength: 12 });
		fc.assert(
			fc.property(keys, bytes, bytes, (key, before, after) => {
				const encoded = Buffer.concat([before, Buffer.from(key), after]).toString('base64');
				const clean = keyRedactor(key)(encoded);
				expect(clean).toContain('[API key]');
				expect(clean.replaceAll('[API key]', '').length).toBeLessThanOrEqual(
					Math.ceil((4 * (before.length + after.length + 4)) / 3) + 4,
				);
			}),
			{ numRuns: 300 },
		);
	});

	test('other text stays as it is', () => {
		const text = 'model "sk-live" was not found; see https://example.com/docs?a=1%2F2';
		expect(redact(text)).toBe(text);
	});

	test('a key of a few letters is left alone, since it would tear words apart', () => {
		expect(keyRedactor('abc')('an abcess, abc')).toBe('an abcess, abc');
		expect(keyRedactor('k3y!')('?key=k3y!')).toBe('?key=[API key]');
	});

	test('an empty key takes nothing out', () => {
		expect(keyRedactor('')('some text')).toBe('some text');
	});

	/** What can be decoded from the pieces that redaction has left, at every alignment. */
	function decodings(text: string): string {
		return text
			.split(/[^A-Za-z0-9+/_=-]+/)
			.flatMap((piece) =>
				[0, 1, 2, 3].map((shift) => Buffer.from(piece.slice(shift), 'base64').toString('latin1')),
			)
			.join('\n');
	}
});
