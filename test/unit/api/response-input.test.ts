import { ValidationError } from '../../../nodes/shared/api/errors/errors';
import { inputFromJson, textPart } from '../../../nodes/shared/api/responses/response-input';
import { refusalOf } from './arrange';

const read = (value: unknown) =>
	inputFromJson(value, 'Input', (json) => {
		try {
			return JSON.parse(json) as unknown;
		} catch {
			return undefined;
		}
	});

const items = [{ role: 'user', content: 'Hi' }];

test.each<[string, unknown, unknown]>([
	['a list', items, items],
	['a list as text', JSON.stringify(items), items],
	['a list as text behind white space', `\n ${JSON.stringify(items)}`, items],
	['a message alone', items[0], items],
	['an item of another type alone', { type: 'reasoning' }, [{ type: 'reasoning' }]],
	['a text', 'Hi', 'Hi'],
	['a text with white space around it', '  Hi\n', 'Hi'],
	['a quoted text', '"Hi \\u00fc"', 'Hi ü'],
	['a text that begins by a quote', '"Hi" she said', '"Hi" she said'],
	['a text of digits', '7', '7'],
])('Input as JSON is %s', (_name, value, expected) => {
	expect(read(value)).toEqual(expected);
});

test.each<[problem: string, unknown[]]>([
	['is empty', [undefined, null, '', ' \n', '""', []]],
	['is not an input for a model', [7, { a: 1 }]],
	['holds "messages"', [{ messages: items }]],
	['is a whole request body', [{ model: 'm', input: 'Hi' }]],
])('Input as JSON is refused where it %s: %j', (problem, values) => {
	for (const value of values) {
		const error = refusalOf(() => read(value));
		expect(error).toBeInstanceOf(ValidationError);
		expect(error.message).toBe(`Input ${problem}`);
		expect(error.details.advice).toMatch(/\.$/);
	}
});

test.each([
	['user', 'input_text'],
	['system', 'input_text'],
	['developer', 'input_text'],
	['assistant', 'output_text'],
] as const)('a text of the %s is %s', (role, type) => {
	expect(textPart(role, 'Hi')).toEqual({ type, text: 'Hi' });
});
