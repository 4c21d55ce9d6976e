import { findDifferences } from '../../../nodes/shared/api/images/differences';

/** What is told of so many images (0: one, without a result), of the size that the gateway names, of these types. */
function told(asked: object, images: number, types: Array<string | undefined> = [], size?: string) {
	const data = Array.from({ length: images }, (_, n) => ({ url: `u${n}` }));
	const request = { model: 'm', prompt: 'p', ...asked };
	const made = images > 0 ? { result: { data, size } } : { image_url: 'u' };
	return findDifferences(request, { status: 'completed', ...made }, types);
}

const [JPEG, PNG, WEBP, AVIF] = ['image/jpeg', 'image/png', 'image/webp', 'image/avif'];
const WIDE = '1536x1024';
const SQUARE = { size: '1024x1024' };

test.each<[says: string, ...Parameters<typeof told>]>([
	['3 images, and 1 came', { n: 3 }, 1, [PNG]],
	['3 images, and 2 came', { n: 3 }, 2, [undefined, undefined]],
	['WebP, and it sent PNG', { output_format: 'webp' }, 1, [PNG]],
	['JPEG, and it sent WebP', { output_format: 'JPG' }, 2, [JPEG, WEBP]],
	['PNG, and it sent avif', { output_format: 'png' }, 1, [AVIF]],
	['1024x1024, and it made 1536x1024', SQUARE, 1, [PNG], WIDE],
	['as many as came: no difference', { n: 3 }, 3, [PNG, PNG, PNG]],
	['no number: no difference', {}, 1, [PNG]],
	['the format that came: no difference', { output_format: 'jpeg' }, 1, [JPEG]],
	['what is not downloaded: no difference', { output_format: 'webp' }, 1, [undefined]],
	['an unknown format: no difference', { output_format: 'heif' }, 1, [PNG]],
	['the size that came: no difference', { size: WIDE }, 1, [PNG], WIDE],
	['a size of its choice: no difference', { size: 'auto' }, 1, [PNG], WIDE],
	['a size, and names it in words: no difference', SQUARE, 1, [PNG], '2x2 or so'],
	['a size in words: no difference', { size: 'about 1x1' }, 1, [PNG], WIDE],
	['one, whose task has no result: no difference', SQUARE, 0, [PNG]],
])('the gateway was asked for %s', (says, ...given) => {
	const texts = says.endsWith('no difference') ? [] : [`The gateway was asked for ${says}.`];
	expect(told(...given).map(([, text]) => text)).toEqual(texts);
});

test('differences of several kinds are told each', () => {
	const found = told({ n: 2, output_format: 'webp', size: '1x1' }, 1, [PNG], '2x2');
	expect(found.map(([what]) => what)).toEqual(['images', 'format', 'size']);
});
