/** How many bytes from a PNG's start {@link hasAlpha} may need. */
export const PNG_ALPHA_BYTES = 64 * 1024;

/** Color types of the PNG specification that carry an alpha channel. */
const GREY_ALPHA = 4;
const TRUECOLOR_ALPHA = 6;

/**
 * Whether a PNG can be transparent: by its color type, or by a `tRNS` chunk before its data.
 * @param start the file's first bytes, {@link PNG_ALPHA_BYTES} of them if there are as many
 */
export function hasAlpha(start: Uint8Array): boolean {
	const colorType = start[25];
	if (colorType === GREY_ALPHA || colorType === TRUECOLOR_ALPHA) return true;
	const view = new DataView(start.buffer, start.byteOffset, start.byteLength);
	for (let at = 8; at + 8 <= start.length; ) {
		const type = String.fromCharCode(...start.subarray(at + 4, at + 8));
		if (type === 'tRNS') return true;
		if (type === 'IDAT') return false;
		at += 12 + view.getUint32(at);
	}
	return false;
}
