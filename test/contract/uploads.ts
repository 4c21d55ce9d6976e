import { PNG } from 'pngjs';
import { FormData } from 'undici';

export function pngOf(width: number, height: number) {
	return PNG.sync.write(new PNG({ width, height, fill: true }));
}

export const dataUrl = (bytes: Buffer) => `data:image/png;base64,${bytes.toString('base64')}`;

/** The form of an edit with these further texts and files. */
export function formOf(parts: Record<string, string | Buffer>): FormData {
	const form = new FormData();
	const all = { model: 'aurora-image-1', prompt: 'a lighthouse', size: '64x48', ...parts };
	for (const [name, value] of Object.entries(all)) {
		if (typeof value === 'string') form.append(name, value);
		else form.append(name, new Blob([value]), `${name}.png`);
	}
	return form;
}
