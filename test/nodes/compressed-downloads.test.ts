import { randomBytes } from 'node:crypto';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { readBinary, storeBinaryInMemory } from '../../scripts/engine/index';
import { generateImage, startHarness, type Harness } from './arrange';

let harness: Harness;
beforeEach(async () => {
	await storeBinaryInMemory();
	harness = await startHarness({ defaultSize: '16x16' });
});
afterEach(async () => await harness.close());

/** A file whose type has no end that could be seen, and that no packing makes shorter. */
const AVIF = Buffer.concat([
	Buffer.from('\0\0\0\x20ftypavif\0\0\0\0avifmif1', 'latin1'),
	randomBytes(5000),
]);

const serve = (body: Buffer, headers: Record<string, string> = {}) => {
	harness.gateway.settings.storageIntercept = () => ({
		kind: 'reply',
		status: 200,
		body,
		headers: { 'Content-Type': 'image/avif', 'Content-Length': String(body.length), ...headers },
	});
};

test.each([
	['gzip', gzipSync(AVIF)],
	['x-gzip', gzipSync(AVIF)],
	['deflate', deflateSync(AVIF)],
	['br', brotliCompressSync(AVIF)],
])(
	'A storage host that packs the file by %s, though asked not to, names the length of the packed file',
	async (encoding, packed) => {
		expect(packed.length).toBeGreaterThan(AVIF.length);
		serve(packed, { 'Content-Encoding': encoding });
		const { items } = await harness.image(generateImage());
		expect(await readBinary(items[0]?.binary?.data)).toEqual(AVIF);
		expect(items[0]?.json.file).toMatchObject({ size: AVIF.length });
		const { storageRequests } = harness.gateway;
		expect(storageRequests.map(({ headers }) => headers['accept-encoding'])).toEqual(['identity']);
	},
);
