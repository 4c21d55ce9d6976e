import { findDifferences } from '../../../nodes/shared/api/images/differences';

const taskOf = (images: number, size?: string) => ({
	status: 'completed',
	result: { data: Array.from({ length: images }, (_, n) => ({ url: `u${n}` })), size },
});
const PNG = 'image/png';

test.each<
	[string, request: object, images: number, types: Array<string | undefined>, size?: string]
>([
	['3 images, and 1 came', { n: 3 }, 1, [PNG]],
	['3 images, and 2 came', { n: 3 }, 2, [undefined, undefined]],
	['WebP, and it sent PNG', { output_format: 'webp' }, 1, [PNG]],
	['JPEG, and it sent WebP', { output_format: 'JPG' }, 2, ['image/jpeg', 'image/webp']],
	['PNG, and it sent avif', { output_format: 'png' }, 1, ['image/avif']],
	['1024x1024, and it made 1536x1024', { size: '1024x1024' }, 1, [PNG], '1536x1024'],
])('the gateway was asked for %s', (...row) => {
	const [says, request, images, types, size] = row;
	const found = findDifferences(
		{ model: 'm', prompt: 'p', ...request },
		taskOf(images, size),
		types,
	);
	expect(found.map(([, text]) => text)).toEqual([`The gateway was asked for ${says}.`]);
});

test.each<
	[string, request: object, images: number, types: Array<string | undefined>, size?: string]
>([
	['as many as asked', { n: 3 }, 3, [PNG, PNG, PNG]],
	['more than asked', { n: 2 }, 3, [PNG]],
	['one where no number was asked for', {}, 1, [PNG]],
	['of the format', { output_format: 'jpeg' }, 1, ['image/jpeg']],
	['not downloaded', { output_format: 'webp' }, 1, [undefined]],
	['of an unknown format', { output_format: 'heif' }, 1, [PNG]],
	['of the size', { size: '1024x1024' }, 1, [PNG], '1024x1024'],
	['of a size that is left to the gateway', { size: 'auto' }, 1, [PNG], '1536x1024'],
	['of an unknown size', { size: '1024x1024' }, 1, [PNG]],
	['of a size in words', { size: '1024x1024' }, 1, [PNG], 'large'],
])('images %s are no difference', (...row) => {
	const [, request, images, types, size] = row;
	expect(
		findDifferences({ model: 'm', prompt: 'p', ...request }, taskOf(images, size), types),
	).toEqual([]);
});

test('differences of several kinds are told each', () => {
	const request = { model: 'm', prompt: 'p', n: 2, output_format: 'webp', size: '1x1' };
	const found = findDifferences(request, taskOf(1, '2x2'), [PNG]);
	expect(found.map(([what]) => what)).toEqual(['images', 'format', 'size']);
});
