import { InputError } from '../../../nodes/shared/api/errors/errors';
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

describe('Input as JSON', () => {
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
	])('is %s', (_name, value, expected) => {
		expect(read(value)).toEqual(expected);
	});

	test.each<[string, unknown, string]>([
		['undefined', undefined, 'is empty'],
		['null', null, 'is empty'],
		['an empty text', '', 'is empty'],
		['white space', ' \n', 'is empty'],
		['an empty quoted text', '""', 'is empty'],
		['an empty list', [], 'is empty'],
		['a number', 7, 'is no input for a model'],
		['an object that is no item', { a: 1 }, 'is no input for a model'],
		['a Chat Completions body', { messages: items }, 'holds "messages"'],
		['a whole body', { model: 'm', input: 'Hi' }, 'is a whole request body'],
	])('is refused where it is %s', (_name, value, problem) => {
		const error = refusalOf(() => read(value));
		expect(error).toBeInstanceOf(InputError);
		expect(error.message).toBe(`Input ${problem}`);
		expect(error.facts.advice).toMatch(/\.$/);
	});
});

test.each([
	['user', 'input_text'],
	['system', 'input_text'],
	['developer', 'input_text'],
	['assistant', 'output_text'],
] as const)('a text of the %s is %s', (role, type) => {
	expect(textPart(role, 'Hi')).toEqual({ type, text: 'Hi' });
});
