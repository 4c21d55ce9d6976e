import { ValidationError } from '../errors/errors';
import { pastedFault, withoutQuotes } from '../pasted-text';

const FIELD = 'API Key';
const ADVICE = 'Copy the key again from the gateway’s console without any other text.';

/** Characters of the longest key: with more, servers refuse the headers of a request as a whole. */
const LONGEST = 4096;

/**
 * The only place of the key rule. It removes what copying adds: spaces, line breaks, one pair of
 * quotes, the word `Bearer`. It refuses what could not be sent as a header.
 *
 * @param input as pasted into the credential
 * @returns the key as the `Authorization` header carries it
 * @throws {ValidationError} that names the fault and never shows the key
 * @see contract, "Authentication" 1 and 2
 */
export function normalizeApiKey(input: string): string {
	const trimmed = input.trim();
	if (trimmed.length > LONGEST) {
		throw new ValidationError(FIELD, `is longer than ${LONGEST} characters`, ADVICE);
	}
	const unquoted = withoutQuotes(trimmed);
	const bare = unquoted.text.replace(/^bearer\s+/i, '').trim();
	const key = unquoted.found ? bare : withoutQuotes(bare).text;

	if (key === '' || /^bearer$/i.test(key)) throw new ValidationError(FIELD, 'is empty', ADVICE);
	const fault = pastedFault(key) ?? (isAscii(key) ? undefined : NOT_ASCII);
	if (fault) throw new ValidationError(FIELD, fault, ADVICE);
	return key;
}

const NOT_ASCII = 'contains a character that is not ASCII';

const isAscii = (text: string) => /^[\u0021-\u007e]*$/.test(text);

/**
 * Takes a key out of text that is about to be shown, in each form in which a gateway or proxy
 * could have echoed it: plain, URL-encoded, base64.
 *
 * @param key the secret
 * @returns a function that replaces it by `[API key]`
 */
export function keyRedactor(key: string): (text: string) => string {
	if (key === '') return (text) => text;
	const forms = [key, ...urlEncoded(key), ...base64Cores(key)].filter(
		(form, index, all) => form.length > 3 && all.indexOf(form) === index,
	);
	return (text) => forms.reduce((clean, form) => clean.replaceAll(form, '[API key]'), text);
}

function urlEncoded(key: string): string[] {
	const encoded = encodeURIComponent(key);
	return [encoded, encoded.replace(/%../g, (code) => code.toLowerCase())];
}

/** The part of a key's base64 form that does not depend on what stands before and after it. */
function base64Cores(key: string): string[] {
	if (!/^[\u0000-\u00ff]*$/.test(key)) return []; // eslint-disable-line no-control-regex
	return [0, 1, 2].flatMap((offset) => {
		const encoded = btoa('\0'.repeat(offset) + key);
		const first = Math.ceil((offset * 8) / 6);
		const last = Math.floor(((offset + key.length) * 8) / 6);
		const core = encoded.slice(first, last);
		return [core, core.replaceAll('+', '-').replaceAll('/', '_')];
	});
}
