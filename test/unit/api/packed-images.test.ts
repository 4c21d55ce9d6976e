import { downloadImage } from '../../../nodes/shared/api/images/download';
import type { Headers } from '../../../nodes/shared/api/http/transport';
import { arrange } from './arrange';
import { ScriptedStorage } from './stored-images';

/** A file whose type has no end that could be seen. */
const AVIF = Buffer.concat([
	Buffer.from('\0\0\0\x20ftypavif\0\0\0\0avifmif1', 'latin1'),
	Buffer.alloc(500, 7),
]);

const SETTINGS = {
	maxBytes: 1000,
	idleMs: 60_000,
	fileName: (extension: string) => `a.${extension}`,
};

async function download(headers: Headers) {
	const { client, time, drive } = arrange([], { maxRetries: 0 });
	const storage = new ScriptedStorage(time, [{ status: 200, headers, body: [AVIF] }]);
	const work = downloadImage(client, storage, 'https://pictures.example/a', SETTINGS);
	return await drive(work).then(
		({ size }) => size,
		(error: Error) => error.message,
	);
}

test.each(['gzip', 'br', 'deflate', 'zstd', 'gzip, br'])(
	'the length of a file that is packed by %s counts for what was sent, not for the file',
	async (encoding) => {
		for (const length of ['10', '999999']) {
			const headers = { 'content-encoding': encoding, 'content-length': length };
			expect(await download(headers)).toBe(AVIF.length);
		}
	},
);

test.each([undefined, '', 'identity', ' Identity '])(
	'the length of a file that is not packed (%j) counts',
	async (encoding) => {
		const headers = { 'content-encoding': encoding, 'content-length': '600' };
		expect(await download(headers)).toMatch(/only \d+ of 600 bytes arrived$/);
	},
);
