import { PNG } from 'pngjs';
import { editForm, imageAddresses } from '../../../nodes/shared/api/images/image-edit';
import { checkImageRequest } from '../../../nodes/shared/api/images/image-request';
import { hasAlpha, PNG_ALPHA_BYTES } from '../../../nodes/shared/api/images/png-alpha';
import { expectError, refusalOf } from './arrange';

const OK = { model: 'image-1', prompt: 'a red fox' };

test('an image request goes through unchanged', () => {
	const sizes = ['1024x1536', '1x1', '99999x99999', 'auto'].map((size) => ({ size }));
	const spaces = { model: ' image-1 ', prompt: ' a fox\n' };
	for (const more of [{}, ...sizes, { stream: false }, { n: 2, style: { name: 'x' } }, spaces]) {
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
		const details = { retryable: false, advice: new RegExp(advice) };
		expectError(error, 'ValidationError', new RegExp(`^${field} ${problem}`), details);
		expect([value, error]).toMatchObject([value, { field }]);
	}
});

test.each([
	['1024 x 1536', '1024x1536'],
	['1024×1536', '1024x1536'],
	[' 1024X1536\n', '1024x1536'],
	['Auto', 'auto'],
])('the size %j is sent as %s, and nothing else changes', (size, sent) => {
	const request = { ...OK, seed: 7 };
	expect(checkImageRequest({ ...request, size })).toEqual({ ...request, size: sent });
});

const upload = (name: string, type = 'image/png') => ({ name, bytes: new Blob([name], { type }) });

test('the form of an edit has fields as text, images in order, and the mask behind them', async () => {
	const partsOf = async (...given: Parameters<typeof editForm>) =>
		await Promise.all(
			[...editForm(...given).entries()].map(async ([name, part]) =>
				typeof part === 'string' ? [name, part] : [name, part.name, part.type, await part.text()],
			),
		);
	const more = { n: 2, hd: false, style: { a: [1] }, tags: ['x'], gone: undefined, none: null };
	const texts = { ...OK, n: '2', hd: 'false', style: '{"a":[1]}', tags: '["x"]' };
	const one = await partsOf({ ...OK, ...more }, [upload('a.png')]);
	expect(one).toEqual([...Object.entries(texts), ['image', 'a.png', 'image/png', 'a.png']]);
	const images = [upload('b.jpg', 'image/jpeg'), upload('a.png')];
	expect((await partsOf(OK, images, upload('m.png'))).slice(2)).toEqual([
		['image[]', 'b.jpg', 'image/jpeg', 'b.jpg'],
		['image[]', 'a.png', 'image/png', 'a.png'],
		['mask', 'm.png', 'image/png', 'm.png'],
	]);
});

describe('images by address', () => {
	const A = 'https://example.com/a.png';
	const B = 'http://example.com/b.png?x=1,2';
	const DATA = 'data:image/png;base64,iVBORw0KGgo=';

	test.each<[string, unknown[], string[]]>([
		['one', [A, ` ${A}\n`], [A]],
		['separated by commas, spaces or lines', [`${A},${B}`, `${A} ,  ${B}`, `${A}\r\n${B}`], [A, B]],
		['a comma in an address', [B], [B]],
		['a data URL', [DATA], [DATA]],
		['data URLs and others', [`${DATA},${A}\n${DATA}`, [DATA, A, DATA]], [DATA, A, DATA]],
		['a list with holes', [[A, '', null, undefined, B]], [A, B]],
	])('%s', (_, values, addresses) => {
		const images = addresses.map((image_url) => ({ image_url }));
		for (const value of values) expect(imageAddresses(value, 'Image URLs')).toEqual(images);
	});

	test.each<[string, unknown[], string]>([
		['nothing', ['', [], undefined], 'is empty'],
		['a path or a file', ['/a.png', 'file:///a.png'], 'at position 1'],
		['data that is no image', ['data:text/html,hi'], 'at position 1'],
		['an address that is none', [`${A},https://[`, [A, 5]], 'at position 2'],
	])('%s: refused', (_, values, problem) => {
		const message = expect.stringContaining(problem) as string;
		const refusal = { name: 'ValidationError', field: 'Image URLs', message };
		for (const value of values)
			expect(refusalOf(() => imageAddresses(value, 'Image URLs'))).toMatchObject(refusal);
	});
});

describe('a PNG can be transparent', () => {
	const png = (colorType: 0 | 2 | 4 | 6) =>
		PNG.sync.write(new PNG({ width: 2, height: 2 }), { colorType, inputHasAlpha: true });

	test('by its color type', () => {
		expect(([0, 2, 4, 6] as const).filter((colorType) => hasAlpha(png(colorType)))).toEqual([4, 6]);
	});

	/** A PNG with one more chunk behind its header. */
	function withChunk(type: string, size: number, plain = png(2)): Buffer {
		const chunk = Buffer.alloc(12 + size);
		chunk.writeUInt32BE(size);
		chunk.write(type, 4, 'latin1');
		return Buffer.concat([plain.subarray(0, 33), chunk, plain.subarray(33)]);
	}

	test('by a tRNS chunk, also behind other chunks, and within a larger buffer', () => {
		const file = withChunk('tRNS', 6);
		const letters = withChunk('tEXt', 40);
		letters.write('tRNS', 50, 'latin1');
		const within = Buffer.concat([Buffer.alloc(100, 1), file]).subarray(100);
		const files = [file, withChunk('tEXt', 500, file), within, withChunk('pHYs', 9), letters];
		expect(files.map(hasAlpha)).toEqual([true, true, true, false, false]);
	});

	test('not where the file ends too early, or lies about its length', () => {
		expect(hasAlpha(new Uint8Array())).toBe(false);
		expect(hasAlpha(png(2).subarray(0, 30))).toBe(false);
		const lying = withChunk('tEXt', 4);
		lying.writeUInt32BE(0xffffffff, 33);
		expect(hasAlpha(lying.subarray(0, PNG_ALPHA_BYTES))).toBe(false);
	});
});
