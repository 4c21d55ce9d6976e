import { InputError } from '../../../nodes/shared/api/errors/errors';
import {
	jsonObjectParameter,
	onlySet,
	secondsParameter,
	withExtraBody,
} from '../../../nodes/shared/n8n/fields/parameters';
import { refusalOf } from '../client/arrange';

describe('a duration in seconds', () => {
	test.each([
		[undefined, 60_000],
		['', 60_000],
		[1, 1000],
		['2.5', 2500],
		[16.1, 16_101],
		[1.001, 1001],
		[2_147_483, 2_147_483_000],
	])('%j is whole milliseconds, as every timer takes them', (value, ms) => {
		const got = secondsParameter(value, 'Timeout', 60);
		expect(got).toBe(ms);
		expect(() => AbortSignal.timeout(got)).not.toThrow();
	});

	test.each([
		[0, 'Timeout is 0'],
		[-1, 'Timeout is below 0'],
		['soon', 'Timeout is not a number'],
		[5_000_000, 'Timeout is longer than 24 days'],
	])('%j is refused by the name of its field', (value, message) => {
		const error = refusalOf(() => secondsParameter(value, 'Timeout', 60));
		expect(error).toBeInstanceOf(InputError);
		expect(error.message).toBe(message);
	});
});

describe('JSON that does not parse says where', () => {
	test.each([
		['{"a": x}', '(line 1, column 7)'],
		['{ "a": 1,\n "b" }', '(line 2, column 6)'],
		['{"a": 1', 'it ends too early'],
		['{"a": "b', 'it ends too early'],
		['{"a":1}}', '(line 1, column 8)'],
	])('%j', (text, place) => {
		const error = refusalOf(() => jsonObjectParameter(text, 'Extra Body'));
		expect(error.message).toContain(place);
	});
});

test('what is not set is not sent, what is false or 0 is', () => {
	const fields = { a: undefined, b: null, c: '', d: false, e: 0, f: [] };
	expect(onlySet(fields)).toEqual({ d: false, e: 0, f: [] });
});

test('an extra body wins, and adds to objects that were set', () => {
	const merged = withExtraBody(
		{ model: 'a', text: { format: { type: 'json_object' } }, tools: [1] },
		{ model: 'b', text: { verbosity: 'low' }, tools: [2], more: true },
	);
	expect(merged).toEqual({
		model: 'b',
		text: { format: { type: 'json_object' }, verbosity: 'low' },
		tools: [2],
		more: true,
	});
});
