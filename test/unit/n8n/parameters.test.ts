import * as parameters from '../../../nodes/shared/n8n/fields/parameters';
import { expectError, refusalOf } from '../api/arrange';

const { jsonObjectParameter, omitUndefined, secondsParameter, withExtraBody } = parameters;

test.each([
	[undefined, 60_000],
	['', 60_000],
	[1, 1000],
	['2.5', 2500],
	[16.1, 16_101],
	[1.001, 1001],
	[2_147_483, 2_147_483_000],
])('a duration in seconds %j is whole milliseconds, as every timer takes them', (value, ms) => {
	const got = secondsParameter(value, 'Timeout', 60);
	expect(got).toBe(ms);
	expect(() => AbortSignal.timeout(got)).not.toThrow();
});

test.each([
	[0, 'Timeout is 0'],
	[-1, 'Timeout is below 0'],
	['soon', 'Timeout is not a number'],
	[5_000_000, 'Timeout is longer than 24 days'],
])('a duration in seconds %j is refused by the name of its field', (value, message) => {
	const error = refusalOf(() => secondsParameter(value, 'Timeout', 60));
	expectError(error, 'ValidationError', message);
});

test('JSON that does not parse is told in the platform’s words, on one line', () => {
	const fail = (text: string) => refusalOf(() => jsonObjectParameter(text, 'Extra Body')).message;
	expect(fail('{ "a": 1,\n "b" }')).toMatch(/^Extra Body is not valid JSON: .*"b" }/);
	expect(fail(`{"a":\n${'x'.repeat(500)}`)).toMatch(/^.{40,240}$/);
});

test('what is not set is not sent, what is false or 0 is', () => {
	const fields = { a: undefined, b: null, c: '', d: false, e: 0, f: [] };
	expect(omitUndefined(fields)).toEqual({ d: false, e: 0, f: [] });
});

test('an extra body wins, and adds to objects that were set', () => {
	const format = { type: 'json_object' };
	const own = { model: 'a', text: { format }, tools: [1] };
	const extra = { model: 'b', text: { verbosity: 'low' }, tools: [2], more: true };
	const text = { format, verbosity: 'low' };
	expect(withExtraBody(own, extra)).toEqual({ model: 'b', text, tools: [2], more: true });
});
