import { InputError } from '../../../nodes/shared/api/errors/errors';
import { checkImageRequest } from '../../../nodes/shared/api/images/image-request';
import { refusalOf } from './arrange';

const OK = { model: 'image-1', prompt: 'a red fox' };

describe('an image request goes through', () => {
	test.each([
		['with model and prompt', OK],
		['with a size', { ...OK, size: '1024x1536' }],
		['with the smallest size', { ...OK, size: '1x1' }],
		['with the largest size', { ...OK, size: '99999x99999' }],
		['with the size auto', { ...OK, size: 'auto' }],
		['with stream switched off', { ...OK, stream: false }],
		['with fields that are not known here', { ...OK, n: 2, seed: 7, style: { name: 'x' } }],
		['with spaces around its texts', { model: ' image-1 ', prompt: ' a fox\n' }],
	])('%s, unchanged', (_, body) => {
		const before = structuredClone(body);
		expect(checkImageRequest(body)).toBe(body);
		expect(body).toEqual(before);
	});
});

describe('an image request is refused before anything is sent', () => {
	test.each([
		['no model', { prompt: 'x' }, 'Model', 'is empty', 'exact ID'],
		['an empty model', { ...OK, model: '' }, 'Model', 'is empty', 'exact ID'],
		['a blank model', { ...OK, model: ' \n' }, 'Model', 'is empty', 'exact ID'],
		['a model that is null', { ...OK, model: null }, 'Model', 'is empty', 'exact ID'],
		['a model that is a number', { ...OK, model: 5 }, 'Model', 'is not a text', 'exact ID'],
		['no prompt', { model: 'm' }, 'Prompt', 'is empty', 'Describe'],
		['an empty prompt', { ...OK, prompt: '' }, 'Prompt', 'is empty', 'Describe'],
		['a blank prompt', { ...OK, prompt: '\t ' }, 'Prompt', 'is empty', 'Describe'],
		['a prompt that is a list', { ...OK, prompt: ['x'] }, 'Prompt', 'is not a text', 'Describe'],
		['stream: true', { ...OK, stream: true }, 'Extra Body', 'asks to stream', 'Remove "stream"'],
		['stream: "true"', { ...OK, stream: 'true' }, 'Extra Body', 'asks to stream', 'Remove'],
		['stream: 1', { ...OK, stream: 1 }, 'Extra Body', 'asks to stream', 'Remove "stream"'],
		...[
			'',
			'1024',
			'1024x',
			'x1024',
			'1024x1024x3',
			'1024 x 1024',
			'1024×1024',
			'1024X1024',
			'0x1024',
			'-1x5',
			'1.5x2',
			'123456x1',
			'1x123456',
			'1024x1024px',
			'AUTO',
			'1024x1024\n',
			1024,
			null,
			['1024x1024', '1x1'],
		].map(
			(size) =>
				[
					`the size ${JSON.stringify(size)}`,
					{ ...OK, size },
					'Size',
					'is neither auto nor <width>x<height>',
					'1024x1024',
				] as const,
		),
	] as const)('%s', (_, body, field, problem, advice) => {
		const error = refusalOf(() => checkImageRequest(body));
		expect(error).toBeInstanceOf(InputError);
		expect(error).toMatchObject({ field });
		expect(error.message).toContain(`${field} ${problem}`);
		expect(error.facts.advice).toContain(advice);
		expect(error.facts.retryable).toBe(false);
	});
});
