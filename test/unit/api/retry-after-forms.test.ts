import { parseRetryAfter, readGatewayTime } from '../../../nodes/shared/api/http/retry-after';
import { START } from './arrange';

const read = (value: string, date?: string) =>
	parseRetryAfter({ 'retry-after': value, date }, START);

describe('Retry-After is an HTTP date in each of its three forms, all of them in GMT', () => {
	test.each([
		['IMF-fixdate', 'Thu, 01 Jan 2026 00:01:30 GMT', '2026-01-01T00:01:30Z'],
		['IMF-fixdate in another case', 'thu, 01 jan 2026 00:01:30 gmt', '2026-01-01T00:01:30Z'],
		['RFC 850', 'Thursday, 01-Jan-26 00:01:30 GMT', '2026-01-01T00:01:30Z'],
		['RFC 850, 50 years ahead', 'Wednesday, 01-Jan-76 00:00:00 GMT', '2076-01-01T00:00:00Z'],
		['RFC 850, more than that: passed', 'Saturday, 01-Jan-77 00:00:00 GMT', '1977-01-01T00:00:00Z'],
		['asctime', 'Thu Jan  1 00:01:30 2026', '2026-01-01T00:01:30Z'],
		['asctime, a day of two digits', 'Sat Jan 10 00:00:00 2026', '2026-01-10T00:00:00Z'],
	])('%s: %s', (_, value, meant) => {
		const ms = Date.parse(meant);
		expect(read(value)).toBe(Math.max(0, (ms - START) / 1000));
		expect(readGatewayTime({ date: value }, START)).toBe(ms);
	});
});

describe('Retry-After of any other form means nothing', () => {
	test.each([
		['a day and a number', ['Monday 5', 'Mon 5', 'Sun, 5', 'Friday, 13']],
		['a unit', ['5 s', '5s', '5sec', '1 minute', 'PT5S']],
		['a sign', ['-1', '+1', '-0']],
		[
			'another form of a number',
			['1e3', '0x10', '1.', '.5', '1,5', '1_000', 'Infinity', 'NaN', '٣'],
		],
		['empty', ['', ' ', '""']],
		['a list', ['5, 10', '5;10', '5 10', 'Thu, 01 Jan 2026 00:01:30 GMT, 5']],
		['a date of another form', ['2026-01-01T00:01:30Z', '01 Jan 2026 00:01:30 GMT', '1/1/2026']],
		['a date in another zone', ['Thu, 01 Jan 2026 00:01:30 +0200', 'Thu, 01 Jan 2026 00:01:30']],
		[
			'a date that does not exist',
			['Thu, 41 Jan 2026 00:01:30 GMT', 'Thu, 01 Foo 2026 00:01:30 GMT'],
		],
		['a time that does not exist', ['Thu, 01 Jan 2026 25:01:30 GMT', 'Thu Jan  1 00:61:30 2026']],
		[
			'a date with words around it',
			['at Thu, 01 Jan 2026 00:01:30 GMT', 'Thu Jan  1 00:01:30 2026 x'],
		],
	])('%s', (_, values) => {
		for (const value of values) expect([value, read(value)]).toEqual([value, undefined]);
	});

	test('nor does a Date header of another form: the local clock counts', () => {
		for (const date of ['5', 'Monday 5', '2028-01-01', '', 'yesterday']) {
			expect([date, readGatewayTime({ date }, START)]).toEqual([date, START]);
			expect([date, read('Thu, 01 Jan 2026 00:01:30 GMT', date)]).toEqual([date, 90]);
		}
	});
});
