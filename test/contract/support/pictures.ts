import { PNG } from 'pngjs';

type Color = [red: number, green: number, blue: number, alpha?: number];

/** A PNG of one colour, or of one for each of its two halves, left and right. */
export function pngOf(width: number, height: number, left: Color, right: Color = left): Buffer {
	const png = new PNG({ width, height });
	for (let at = 0; at < width * height; at++) {
		const [red, green, blue, alpha = 255] = at % width < width / 2 ? left : right;
		png.data.set([red, green, blue, alpha], at * 4);
	}
	return PNG.sync.write(png);
}

/** The same without an alpha channel. */
export const opaquePng = (width: number, height: number) =>
	PNG.sync.write(PNG.sync.read(pngOf(width, height, [9, 9, 9])), { colorType: 2 });

/** The colour of one pixel. */
export function pixel(png: Buffer, x: number, y: number): number[] {
	const { width, data } = PNG.sync.read(png);
	return [...data.subarray((y * width + x) * 4, (y * width + x) * 4 + 3)];
}

export const dataUrl = (bytes: Buffer, type = 'image/png') =>
	`data:${type};base64,${bytes.toString('base64')}`;

export const RED: Color = [220, 20, 20];
export const BLUE: Color = [20, 20, 220];
