const MONTHS = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ');

const DAY = '(?:mon|tue|wed|thu|fri|sat|sun)';
const LONG_DAY = '(?:mon|tues|wednes|thurs|fri|satur|sun)day';
const MONTH = `(?<month>${MONTHS.join('|')})`;
const TIME = '(?<time>\\d\\d:\\d\\d:\\d\\d)';

/** The three forms of RFC 9110, section 5.6.7; that of C's `asctime` is in GMT as well. */
const FORMS = [
	`${DAY}, (?<day>\\d\\d) ${MONTH} (?<year>\\d{4}) ${TIME} GMT`,
	`${LONG_DAY}, (?<day>\\d\\d)-${MONTH}-(?<year>\\d\\d) ${TIME} GMT`,
	`${DAY} ${MONTH} (?<day>[ \\d]\\d) ${TIME} (?<year>\\d{4})`,
].map((form) => new RegExp(`^${form}$`, 'i'));

/**
 * Reads an HTTP date, in one of its three forms.
 * @param now milliseconds since the epoch: a year of two digits is within 50 years of it
 * @returns milliseconds since the epoch; undefined if the text is no HTTP date
 */
export function parseHttpDate(text: string, now: number): number | undefined {
	const found = FORMS.map((form) => form.exec(text)?.groups).find(Boolean);
	if (!found) return undefined;
	const { day = '', month = '', year = '', time = '' } = found;
	const number = MONTHS.indexOf(month.toLowerCase()) + 1;
	const date = [fullYear(year, now), twoDigits(number), twoDigits(Number(day))].join('-');
	const ms = Date.parse(`${date}T${time}Z`);
	return Number.isNaN(ms) ? undefined : ms;
}

const twoDigits = (number: number) => String(number).padStart(2, '0');

function fullYear(year: string, now: number): string {
	if (year.length === 4) return year;
	const present = new Date(now).getUTCFullYear();
	const sameCentury = present - (present % 100) + Number(year);
	return String(sameCentury > present + 50 ? sameCentury - 100 : sameCentury);
}
