import { createHash } from 'node:crypto';
import { encodePng, type Pixels } from './png';

/** A source image of an edit, scaled down to at most {@link SOURCE_SIDE} pixels a side. */
export type ImageSource = Pixels;

/** What an image is drawn from. The same values always give the same file. */
export interface ImageSpec {
	prompt: string;
	/** Index among the `n` images of a task. */
	index: number;
	width: number;
	height: number;
	sources?: ImageSource[];
	/**
	 * Where the mask is transparent, an edit shows the new scene. Elsewhere it keeps the source.
	 */
	mask?: ImageSource;
}

const SOURCE_SIDE = 256;
/** Part of each side that the new scene takes around the source in an edit without a mask. */
const FRAME = 0.12;

type Color = readonly [number, number, number];

/**
 * Draws a landscape from the hash of the prompt: a sky, a sun, and ranges of hills. An edit shows
 * the source inside a frame of that landscape. With a mask, it shows the landscape where the mask
 * is transparent.
 * @returns a PNG whose description is the prompt
 */
export function drawImage(spec: ImageSpec): Buffer {
	const { width, height } = spec;
	const data = Buffer.allocUnsafe(width * height * 3);
	drawScene(data, spec);
	if (spec.sources?.length) layIn(data, spec, spec.sources);
	return encodePng({ width, height, data }, spec.prompt);
}

/** A source from decoded pixels. */
export function sourceFromPixels({ width, height, data }: Pixels): ImageSource {
	const scale = Math.max(1, Math.max(width, height) / SOURCE_SIDE);
	const small = {
		width: Math.max(1, Math.floor(width / scale)),
		height: Math.max(1, Math.floor(height / scale)),
	};
	const pixels = new Uint8Array(small.width * small.height * 4);
	for (let y = 0; y < small.height; y++) {
		for (let x = 0; x < small.width; x++) {
			const from = (Math.floor(y * scale) * width + Math.floor(x * scale)) * 4;
			pixels.set(data.subarray(from, from + 4), (y * small.width + x) * 4);
		}
	}
	return { ...small, data: pixels };
}

/** A source of one color for files that are not decoded. The color is the hash of the file. */
export function sourceFromSeed(seed: string | Buffer): ImageSource {
	const [red = 0, green = 0, blue = 0] = createHash('sha256').update(seed).digest();
	return { width: 1, height: 1, data: Uint8Array.of(red, green, blue, 255) };
}

function drawScene(data: Buffer, { prompt, index, width, height }: ImageSpec) {
	const random = chance(`${index}:${prompt}`);
	const hue = random() * 360;
	const top = hsl(hue, 0.55, 0.22 + random() * 0.2);
	const bottom = hsl(hue + 30 + random() * 60, 0.75, 0.72 + random() * 0.1);
	const sun = hsl(30 + random() * 30, 0.95, 0.82);
	const sunX = (0.2 + random() * 0.6) * width;
	const sunY = (0.2 + random() * 0.3) * height;
	const radius = (0.06 + random() * 0.06) * Math.min(width, height);
	const reach = radius * 5;

	for (let y = 0; y < height; y++) {
		const sky = mix(top, bottom, y / height);
		const dy = y - sunY;
		for (let x = 0, at = y * width * 3; x < width; x++, at += 3) {
			const dx = x - sunX;
			const distance = Math.abs(dy) > reach ? reach : Math.hypot(dx, dy);
			const glow =
				distance < radius ? 1 : Math.max(0, 1 - (distance - radius) / (reach - radius)) ** 2 * 0.5;
			data[at] = sky[0] + (sun[0] - sky[0]) * glow;
			data[at + 1] = sky[1] + (sun[1] - sky[1]) * glow;
			data[at + 2] = sky[2] + (sun[2] - sky[2]) * glow;
		}
	}

	const ranges = 3 + Math.floor(random() * 3);
	for (let range = 0; range < ranges; range++) {
		const depth = (range + 1) / ranges;
		const color = mix(bottom, hsl(hue + 10, 0.5, 0.12), 0.25 + depth * 0.7);
		const base = (0.5 + 0.38 * depth) * height;
		const waves = Array.from({ length: 3 }, (_unused, wave) => ({
			height: ((0.02 + random() * 0.05) * height) / (wave + 1),
			length: (Math.PI * 2 * (1 + wave * 2 + random() * 2)) / width,
			shift: random() * Math.PI * 2,
		}));
		const ridge = Array.from({ length: width }, (_unused, x) =>
			waves.reduce((y, wave) => y + Math.sin(x * wave.length + wave.shift) * wave.height, base),
		);
		const from = Math.max(0, Math.floor(Math.min(...ridge)));
		for (let y = from; y < height; y++) {
			for (let x = 0, at = y * width * 3; x < width; x++, at += 3) {
				if (y < (ridge[x] ?? base)) continue;
				data[at] = color[0];
				data[at + 1] = color[1];
				data[at + 2] = color[2];
			}
		}
	}
}

/** Draws the sources of an edit side by side into the scene. */
function layIn(data: Buffer, spec: ImageSpec, sources: ImageSource[]) {
	const { width, height, mask } = spec;
	const frameX = mask ? 0 : Math.floor(width * FRAME);
	const frameY = mask ? 0 : Math.floor(height * FRAME);
	const innerWidth = width - 2 * frameX;
	const innerHeight = height - 2 * frameY;
	for (let y = 0; y < innerHeight; y++) {
		for (let x = 0; x < innerWidth; x++) {
			const along = (x / innerWidth) * sources.length;
			const source = sources[Math.floor(along)];
			if (!source) continue;
			if (mask && alphaAt(mask, x / innerWidth, y / innerHeight) < 128) continue;
			const from = offsetAt(source, along % 1, y / innerHeight);
			const alpha = (source.data[from + 3] ?? 255) / 255;
			const at = ((y + frameY) * width + x + frameX) * 3;
			for (let channel = 0; channel < 3; channel++) {
				const under = data[at + channel] ?? 0;
				data[at + channel] = under + ((source.data[from + channel] ?? 0) - under) * alpha;
			}
		}
	}
}

const offsetAt = ({ width, height }: ImageSource, x: number, y: number) =>
	(Math.floor(y * height) * width + Math.floor(x * width)) * 4;

const alphaAt = (mask: ImageSource, x: number, y: number) =>
	mask.data[offsetAt(mask, x, y) + 3] ?? 255;

/** Pseudo-random numbers from 0 to 1. The seed decides them. */
function chance(seed: string): () => number {
	const hash = createHash('sha256').update(seed).digest();
	let state = hash.readUInt32LE(0) || 1;
	return () => {
		state ^= state << 13;
		state ^= state >>> 17;
		state ^= state << 5;
		return (state >>> 0) / 2 ** 32;
	};
}

const mix = (from: Color, to: Color, part: number): Color => [
	from[0] + (to[0] - from[0]) * part,
	from[1] + (to[1] - from[1]) * part,
	from[2] + (to[2] - from[2]) * part,
];

/** @param hue degrees */
function hsl(hue: number, saturation: number, lightness: number): Color {
	const chroma = saturation * Math.min(lightness, 1 - lightness);
	const channel = (offset: number) => {
		const k = (offset + hue / 30) % 12;
		return 255 * (lightness - chroma * Math.max(-1, Math.min(k - 3, 9 - k, 1)));
	};
	return [channel(0), channel(8), channel(4)];
}
