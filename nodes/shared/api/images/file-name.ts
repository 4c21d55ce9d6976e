import type { ImageType } from './image-type';

/** Extensions that stand for an image type, the one to write first. */
const EXTENSIONS = [
	['jpg', 'jpeg', 'jpe', 'jfif'],
	['png'],
	['webp'],
	['gif'],
	['avif'],
	['heic', 'heif'],
	['tiff', 'tif'],
	['svg'],
	['bmp'],
	['jxl'],
];

/** A file name's longest, in bytes of UTF-8; file systems end at 255. */
const LONGEST_BYTES = 200;

/** What tells an image from others. */
export interface NamedImage {
	taskId: string;
	/** What was asked for, if it is known. */
	prompt?: string;
	index: number;
	count: number;
}

/**
 * Names an image's file.
 *
 * @param wanted as the user wrote it; `{index}` stands for the image's index; empty takes words of
 * the prompt and the end of the task's ID. With several images and no `{index}` the index is added,
 * so that names differ.
 * @param extension what the file's bytes say; it replaces another image extension in `wanted`
 * @returns a name without folders or characters that a file system refuses
 */
export function makeFileName(
	wanted: string,
	{ taskId, prompt, index, count }: NamedImage,
	extension: ImageType['extension'],
): string {
	const template = wanted.trim() === '' ? nameByTask(taskId, prompt) : wanted.trim();
	const full = template.replaceAll('{index}', String(index));
	const base = withoutImageExtension(safe(full));
	const tellsApart = template.includes('{index}') && shortened(full) === full;
	const numbered = count > 1 && !tellsApart ? `${base.text || 'image'}-${index}` : base.text;
	const kept = sameType(base.extension, extension) ? base.extension! : extension;
	return `${numbered || 'image'}.${kept}`;
}

/** {@link makeFileName} for an image whose extension is not known yet. */
export const fileNamer =
	(wanted: string, image: NamedImage) =>
	(extension: ImageType['extension']): string =>
		makeFileName(wanted, image, extension);

/** Characters of the prompt in a name, at most. */
const LONGEST_WORDS = 40;

/** Characters of the task's ID behind the prompt's words. */
const END_OF_ID = 4;

/** The first words of the prompt and the end of the task's ID; the ID alone if there are none. */
function nameByTask(taskId: string, prompt = ''): string {
	const words = firstWords(prompt);
	const end = taskId.replace(/[^a-z0-9]/gi, '').slice(-END_OF_ID);
	return words === '' || end === '' ? taskId : `${words}-${end}`;
}

/** As many words as fit, of letters and digits of any script; a first one that is too long is cut. */
function firstWords(text: string): string {
	const start = text.slice(0, LONGEST_WORDS * 10).normalize('NFC');
	const words =
		start
			.toLowerCase()
			.replace(/['’]/g, '')
			.match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
	let kept = Array.from(words[0] ?? '')
		.slice(0, LONGEST_WORDS)
		.join('');
	for (const word of words.slice(1)) {
		const longer = `${kept}-${word}`;
		if (Array.from(longer).length > LONGEST_WORDS) break;
		kept = longer;
	}
	return kept;
}

function safe(name: string): string {
	const clean = name
		// eslint-disable-next-line no-control-regex
		.replace(/[\u0000-\u001f\u007f<>:"/\\|?*]+/g, '_')
		.replace(/^[.\s]+/, '');
	return shortened(clean).trimEnd();
}

/** Cuts between characters, never within one. */
function shortened(name: string): string {
	const encoder = new TextEncoder();
	let bytes = 0;
	let kept = '';
	for (const character of name) {
		bytes += encoder.encode(character).length;
		if (bytes > LONGEST_BYTES) break;
		kept += character;
	}
	return kept;
}

function withoutImageExtension(name: string): { text: string; extension?: string } {
	const extension = /\.([a-z]{3,4})$/i.exec(name)?.[1];
	const known = EXTENSIONS.some((group) => group.includes(extension?.toLowerCase() ?? ''));
	return known ? { text: name.slice(0, -extension!.length - 1), extension } : { text: name };
}

function sameType(one: string | undefined, other: string): boolean {
	return EXTENSIONS.some(
		(group) => group.includes(one?.toLowerCase() ?? '') && group.includes(other),
	);
}
