import { PNG } from 'pngjs';
import { FormData } from 'undici';

/** A PNG of one color, or with another color in its right half. */
export function pngOf(width: number, height: number, left = [220, 20, 20, 255], right = left) {
	const png = new PNG({ width, height });
	for (let at = 0; at < width * height; at++) {
		png.data.set(at % width < width / 2 ? left : right, at * 4);
	}
	return PNG.sync.write(png);
}

/** The color of one pixel. */
export function colorAt(png: Buffer, x: number, y: number): number[] {
	const { width, data } = PNG.sync.read(png);
	return [...data.subarray((y * width + x) * 4, (y * width + x) * 4 + 4)];
}

export const dataUrl = (bytes: Buffer) => `data:image/png;base64,${bytes.toString('base64')}`;

/** The form of an edit with these further texts and files. */
export function formOf(parts: Record<string, string | Buffer | Buffer[]>): FormData {
	const form = new FormData();
	const all = { model: 'aurora-image-1', prompt: 'a lighthouse', size: '64x48', ...parts };
	for (const [name, value] of Object.entries(all)) {
		for (const part of Array.isArray(value) ? value : [value]) {
			if (typeof part === 'string') form.append(name, part);
			else form.append(name, new Blob([part]), `${name}.png`);
		}
	}
	return form;
}
