import { ValidationError } from '../../../nodes/shared/api/errors/errors';
import { checkImageRequest } from '../../../nodes/shared/api/images/image-request';
import { refusalOf } from './arrange';

const OK = { model: 'image-1', prompt: 'a red fox' };

test('an image request goes through unchanged', () => {
	const sizes = ['1024x1536', '1x1', '99999x99999', 'auto'].map((size) => ({ size }));
	const unknown = { n: 2, seed: 7, style: { name: 'x' } };
	const spaces = { model: ' image-1 ', prompt: ' a fox\n' };
	for (const more of [{}, ...sizes, { stream: false }, unknown, spaces]) {
		const body = { ...OK, ...more };
		expect(checkImageRequest(body)).toBe(body);
		expect(body).toEqual({ ...OK, ...more });
	}
});

const none = [undefined, null, '', ' \n'];
const tooLong = ['1024x1024x3', '123456x1', '1x123456', '1024x1024px'];
const others = ['1024 1024', '1024x×1024', '1024*1024', '1.5x2', 'automatic', 1024, ['1x1', '1x1']];
const sizes = ['', null, '1024', '1024x', 'x1024', '0x1024', '-1x5', ...tooLong, ...others];
const NO_SIZE = 'is neither auto nor width x height';

test.each<[string, string, unknown[], field: string, problem: string, advice: string]>([
	['no model', 'model', none, 'Model', 'is empty', 'exact ID'],
	['a model that is no text', 'model', [5], 'Model', 'is not a text', 'exact ID'],
	['no prompt', 'prompt', none, 'Prompt', 'is empty', 'Describe'],
	['a prompt that is no text', 'prompt', [['x']], 'Prompt', 'is not a text', 'Describe'],
	['a stream', 'stream', [true, 'true', 1], 'Extra Body', 'asks to stream', 'Remove "stream"'],
	['a size of another form', 'size', sizes, 'Size', NO_SIZE, '1280x720'],
])('an image request is refused before anything is sent: %s', (...row) => {
	const [, name, values, field, problem, advice] = row;
	for (const value of values) {
		const error = refusalOf(() => checkImageRequest({ ...OK, [name]: value }));
		expect(error).toBeInstanceOf(ValidationError);
		expect([value, error]).toMatchObject([value, { field, details: { retryable: false } }]);
		expect(error.message).toContain(`${field} ${problem}`);
		expect(error.details.advice).toContain(advice);
	}
});

test.each([
	['1024 x 1536', '1024x1536'],
	['1024×1536', '1024x1536'],
	['1024 × 1536', '1024x1536'],
	['1024X1536', '1024x1536'],
	[' 1024x1536\n', '1024x1536'],
	['Auto', 'auto'],
])('the size %j is sent as %s, and nothing else changes', (size, sent) => {
	const request = { ...OK, seed: 7 };
	expect(checkImageRequest({ ...request, size })).toEqual({ ...request, size: sent });
});
