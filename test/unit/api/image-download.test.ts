import { PNG as png } from 'pngjs';
import { downloadImage, type DownloadSettings } from '../../../nodes/shared/api/images/download';
import { toDeadLink } from '../../../nodes/shared/api/images/download-failure';
import { IMAGE_TYPE_BYTES } from '../../../nodes/shared/api/images/image-type';
import type { FaultKind } from '../../../nodes/shared/api/http/transport';
import { aborted, arrange, expectError, failureOf, fault, shown, START } from './arrange';
import { ScriptedStorage, type Step, type Stored } from './stored-images';

const SIGNED_URL = 'https://store.example:8443/bucket/1.png?X-Signature=s3cr3t&expires=1';

/** A file that begins like a PNG and ends like none, which counts as whole. */
const IMAGE = Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), Buffer.alloc(992, 7)]);

const PNG = png.sync.write(new png({ width: 1, height: 1 }));

/** What the storage host sends of an image, in these pieces. */
const ok = (body: Step[], headers = {}): Stored => ({ status: 200, headers, body });
const of = (type: string) => ({ 'content-type': type });
const sized = (length: number) => ({ 'content-length': String(length) });

const PIECES = [IMAGE.subarray(0, 300), IMAGE.subarray(300, 700), IMAGE.subarray(700)];
const WHOLE = ok(PIECES, { ...of('image/png'), ...sized(1000) });
const redirect = (location?: string, status = 302): Stored => ({ status, headers: { location } });
const unavailable = (after: string): Stored => ({ status: 503, headers: { 'retry-after': after } });

type Settings = Partial<DownloadSettings> & { url?: string };

/** A download from a storage host that answers as scripted, and whose last reply stays. */
function start(
	script: Stored[],
	settings: Settings = {},
	more: Parameters<typeof arrange>[1] = {},
) {
	const retries: unknown[] = [];
	const arranged = arrange([], { onRetry: (retry) => retries.push(retry), ...more });
	const storage = new ScriptedStorage(arranged.time, [...script]);
	const { url = SIGNED_URL, ...bounds } = settings;
	const begin = async () =>
		await downloadImage(arranged.client, storage, url, {
			maxBytes: 10_000,
			idleMs: 60_000,
			fileName: (extension) => `fox.${extension}`,
			...bounds,
		});
	return { ...arranged, storage, retries, begin };
}

async function download(...given: Parameters<typeof start>) {
	const { begin, ...started } = start(...given);
	const got = await started.drive(begin());
	expect(started.storage.connections).toBe(0);
	expect(started.sent).toEqual([]);
	return { ...started, got };
}

const ASK = /^Ask the gateway’s operator/;
const LATER = /^The storage host or the network failed\./;
const PAID = /The image is paid for. Do not submit it again: fetch it with Task → Get/;

/** Expects a download to fail in these words (`$` is their end), after so many tries. */
async function expectFailure(
	says: string,
	{ times = 1, ...details }: Parameters<typeof expectError>[3] & { times?: number },
	...given: Parameters<typeof start>
) {
	const { begin, ...started } = start(...given);
	const error = await started.failure(begin());
	expect(`${error.message}$`).toContain(says);
	const known = { retryable: times > 1, ...details };
	expectError(error, 'DownloadError', /^The image could not be downloaded from/, known);
	expect(started.retries).toHaveLength(times - 1);
	expect(error.details.advice).toMatch(PAID);
	expect(started.storage.saved).toEqual([]);
	expect(started.storage.connections).toBe(0);
	// A signed address is a secret: an error names its host alone.
	expect(shown(error) + JSON.stringify(started.retries)).not.toMatch(/s3cr3t|X-Signature|bucket/);
	return { ...started, error };
}

test('An image is fetched whole, into the storage, named and typed by its bytes', async () => {
	const octets = ok([IMAGE], { ...of('application/octet-stream'), ...sized(1000) });
	const { got, storage, time } = await download([octets]);
	const name = { name: 'fox.png', mimeType: 'image/png' };
	expect(got).toEqual({ file: { ...name, bytes: IMAGE }, ...name, size: 1000 });
	expect(storage.saved).toEqual([got.file]);
	expect(storage.opened).toEqual([{ url: SIGNED_URL, at: START }]);
	// It is no longer watched.
	const waits = time.waits.length;
	await time.advance(3_600_000);
	expect(time.waits).toHaveLength(waits);
});

const SVG = ok([Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"></svg>')]);

test.each<[string, Stored, Settings, object]>([
	['without a Content-Length', ok([IMAGE]), {}, { size: 1000 }],
	['that is as large as may be', WHOLE, { maxBytes: 1000 }, { size: 1000 }],
	['of a type of its own', SVG, {}, { name: 'fox.svg', mimeType: 'image/svg+xml' }],
	['by plain http', WHOLE, { url: 'http://store.example/1.png' }, { size: 1000 }],
])('An image is fetched %s', async (_, stored, settings, expected) => {
	expect((await download([stored], settings)).got).toMatchObject(expected);
});

describe('A redirect of the storage host', () => {
	test.each([
		['absolute', 301, 'https://other.example/2.png?a=b', 'https://other.example/2.png?a=b'],
		['relative to the host', 302, '/2.png', 'https://store.example:8443/2.png'],
		['relative to the path', 303, '2.png?x', 'https://store.example:8443/bucket/2.png?x'],
		['relative to the scheme', 307, '//other.example/2.png', 'https://other.example/2.png'],
		['permanent', 308, '/2.png', 'https://store.example:8443/2.png'],
	])('is followed: %s (%i)', async (_, status, location, target) => {
		const { storage } = await download([redirect(location, status), WHOLE]);
		expect(storage.opened.map(({ url }) => url)).toEqual([SIGNED_URL, target]);
	});

	test('is followed five times, not six', async () => {
		const five = ['/1', '/2', '/3', '/4', '/5'].map((location) => redirect(location));
		await download([...five, WHOLE]);
		const endless = [redirect(SIGNED_URL)];
		const { storage } = await expectFailure('more than 5 redirects', { advice: ASK }, endless);
		expect(storage.opened).toHaveLength(6);
	});

	const NOWHERE = ['file:///etc/passwd', 'ftp://other.example/', 'https://[', 'javascript:1'];
	test.each([...NOWHERE, undefined])('to %s is not followed', async (location) => {
		const says = location ? 'its address is not a web address$' : 'HTTP 302';
		const { storage } = await expectFailure(says, {}, [redirect(location), WHOLE]);
		expect(storage.opened).toHaveLength(1);
	});
});

test('An image is not fetched from what is no web address', async () => {
	const others = ['', 'no address', 'file:///etc/passwd', '/relative.png', 'data:image/png,AA'];
	for (const url of [...others, 'xhttps://store.example/1.png', 'httpsx://store.example/1.png']) {
		const says = 'from an unknown host: its address is not a web address$';
		const { storage } = await expectFailure(says, { advice: ASK }, [WHOLE], { url });
		expect(storage.opened).toEqual([]);
	}
});

describe('An error status', () => {
	test.each([403, 404, 410])('%i says that the link is dead', async (status) => {
		const says = `The image could not be downloaded from store.example:8443: HTTP ${status}, the link no longer works`;
		const details = { httpStatus: status, linkIsGone: true };
		const early = { ...details, advice: /before the expires_at/ };
		const { error } = await expectFailure(`${says}$`, early, [{ status }]);
		// The task has ended as well, or nothing is known of its end.
		for (const expiresAt of [undefined, START / 1000, 1])
			expect(toDeadLink(error, expiresAt, START)).toBe(error);
		const advice =
			/^The link expired before its task, which the gateway keeps until 2026-01-02T00:00:00\.000Z\..*paid for.*Ask the gateway’s operator\.$/;
		const dead = toDeadLink(error, START / 1000 + 86_400, START);
		expectError(dead, 'DownloadError', says, { ...details, advice });
	});

	test.each([
		[[204, 206, 304, 400, 401, 402, 418], [], ASK],
		[[408, 429, 500, 502, 503, 504, 520], [1000, 2000, 4000], /^The storage host/],
	])('%j: fetched again after %j ms, if retries are allowed', async (statuses, waits, advice) => {
		for (const status of statuses) {
			const details = { times: waits.length + 1, httpStatus: status, advice };
			const { retries } = await expectFailure(`8443: HTTP ${status}`, details, [{ status }]);
			expect(retries).toMatchObject(waits.map((waitMs) => ({ waitMs })));
		}
	});

	test('is followed by a wait as long as Retry-After says', async () => {
		const date = { 'retry-after': 'Thu, 01 Jan 2026 00:00:20 GMT' };
		const script = [unavailable('7'), { status: 429, headers: date }, WHOLE];
		const { storage, retries } = await download(script);
		expect(storage.opened.map(({ at }) => (at - START) / 1000)).toEqual([0, 7, 20]);
		expect(retries).toEqual([
			{ reason: 'HTTP 503', waitMs: 7000, attempt: 1 },
			{ reason: 'HTTP 429', waitMs: 13_000, attempt: 2 },
		]);
	});
});

describe('A fault of the network', () => {
	test.each<[FaultKind, string | undefined, number, string, RegExp]>([
		['unreached', 'ECONNREFUSED', 4, 'the host cannot be reached (ECONNREFUSED)', /^Check that/],
		['timeout', 'ETIMEDOUT', 4, 'it did not answer in time (ETIMEDOUT)', LATER],
		['lost', 'ECONNRESET', 4, 'the connection was lost (ECONNRESET)', LATER],
		['lost', undefined, 4, 'the connection was lost', LATER],
		['certificate', 'E', 1, 'its TLS certificate is not accepted (E)', /Ask the gateway/],
		['clientCertificate', 'E', 1, 'it asks for a client certificate (E)', /^Ask the gateway/],
		['handshake', 'E', 1, 'it refuses the TLS handshake (E)', /client certificate\. Ask/],
		['tls', 'EPROTO', 1, 'it does not speak TLS, which https needs (EPROTO)', /^Ask the gateway/],
		['blocked', 'X', 1, 'n8n’s SSRF protection blocked its address (X)', /private network/],
	])('%s (%s): fetched %i times', async (kind, code, times, says, advice) => {
		await expectFailure(`: ${says}$`, { times, advice }, [fault(kind, code)]);
	});

	test('while the body arrives is followed by another try, and leaves nothing behind', async () => {
		const broken = ok([IMAGE.subarray(0, 500), fault('lost')]);
		const { got, storage } = await download([redirect('/2.png'), broken, broken, WHOLE]);
		expect(storage.saved).toEqual([got.file]);
		expect(got.file.bytes.equals(IMAGE)).toBe(true);
		// It begins again with the first address, not behind the redirect.
		const paths = storage.opened.map(({ url }) => new URL(url).pathname);
		expect(paths).toEqual(['/bucket/1.png', '/2.png', '/bucket/1.png', '/bucket/1.png']);
	});

	test('that is none of the network’s passes as it is', async () => {
		for (const more of [{}, { signal: undefined }]) {
			const { storage, begin, drive } = start([WHOLE], {}, more);
			storage.open = async () => await Promise.reject(new Error('disk full'));
			await expect(drive(begin())).rejects.toThrow(/^disk full$/);
		}
	});
});

describe('What arrives is checked', () => {
	const files = ['<!DOCTYPE html><html>', '{"error":"expired"}', 'hello'];
	const [html, json, word] = files.map((text) => Buffer.from(text)) as [Buffer, Buffer, Buffer];
	const enough = Buffer.alloc(IMAGE_TYPE_BYTES, 65);

	test.each<[string, Stored, times: number, says: string]>([
		['too few bytes', ok([IMAGE], sized(2000)), 4, 'only 1000 of 2000 bytes arrived'],
		['half a signature', ok([IMAGE.subarray(0, 4)], sized(9)), 4, 'only 4 of 9 bytes arrived'],
		['an empty file', ok([], sized(0)), 4, 'the file is empty'],
		['HTML', ok([html], of('text/html')), 1, 'a web page (HTML) came instead of an image'],
		['JSON', ok([json], of('application/json')), 1, 'JSON came instead of an image'],
		['a text of its length', ok([word], sized(5)), 1, 'something else came instead of an image'],
		['a text that breaks off', ok([enough, fault('lost')], sized(900)), 1, 'something'],
	])('%s is no image', async (_, stored, times, says) => {
		const { error } = await expectFailure(`: ${says}`, { times }, [stored]);
		expect(/^Open the image_url .* in a browser/.test(error.details.advice)).toBe(times === 1);
	});

	const megabyte = Buffer.alloc(1024 * 1024, 1);
	const large = ok([IMAGE, ...Array<Buffer>(20).fill(megabyte)]);

	test.each<[string, Stored, maxBytes: number, megabytes: string, read: number]>([
		['announces to be too large is not read at all', WHOLE, 999, '0', 0],
		['is too large is stopped at the limit', large, 2.5 * 2 ** 20, '2.5', 1000 + 3 * 2 ** 20],
		['lies about its size is stopped too', ok([IMAGE, IMAGE], sized(10)), 1500, '0', 2000],
	])('a file that %s', async (_, stored, maxBytes, megabytes, read) => {
		const says = `larger than Max File Size (${megabytes} MB)`;
		const details = { advice: /Raise the Max File Size option/ };
		const { storage } = await expectFailure(says, details, [stored], { maxBytes });
		expect(storage.read).toBe(read);
	});

	const half = ok([PNG.subarray(0, 20), PNG.subarray(20, 50)]);
	const HALF = 'only a part of the png file arrived (50 bytes, without its end)';

	test('a file without its end is fetched again, whatever length was announced', async () => {
		const { got, storage, retries } = await download([half, half, ok([PNG, Buffer.alloc(9)])]);
		expect(got.size).toBe(PNG.length + 9);
		expect(storage.saved).toHaveLength(1);
		expect(retries).toMatchObject([{ reason: HALF }, { reason: HALF }]);

		for (const stored of [half, ok([PNG.subarray(0, 50)], sized(50))]) {
			const advice = /turn Download Images off.*HTTP Request.*paid for/;
			await expectFailure(HALF, { times: 4, advice }, [stored]);
		}
		// A file with its end counts as whole, although the host announced more.
		const whole = await download([ok([PNG], sized(PNG.length + 9))]);
		expect([whole.got.size, whole.retries]).toEqual([PNG.length, []]);
	});

	test('a length counts unless the file was packed', async () => {
		const avif = Buffer.concat([Buffer.from('\0\0\0\x20ftypavif', 'latin1'), Buffer.alloc(988, 7)]);
		const stored = (length: number, encoding?: string) =>
			ok([avif], { ...sized(length), 'content-encoding': encoding });
		for (const encoding of ['gzip', 'br', 'deflate', 'zstd', 'gzip, br']) {
			for (const length of [10, 9999])
				expect((await download([stored(length, encoding)])).got.size).toBe(1000);
		}
		for (const encoding of [undefined, '', 'identity', ' Identity '])
			await expectFailure('only 1000 of 1100 bytes', { times: 4 }, [stored(1100, encoding)]);
	});
});

const [first, second] = [IMAGE.subarray(0, 500), IMAGE.subarray(500, 600)];
const stalling = ok([first, { pause: 10_000 }, second, { pause: 60_001 }]);

test.each<[string, Stored[], Settings, seconds: number, tookMs: number]>([
	['in the middle of the file', [stalling], {}, 60, 70_000],
	['that never answers', ['silence'], {}, 60, 60_000],
	['behind a redirect', [redirect('/2.png'), 'silence'], { idleMs: 2500 }, 2.5, 2500],
])('A silent connection is given up after the idle time, not before: %s', async (...row) => {
	const [, script, settings, seconds, tookMs] = row;
	const says = `nothing arrived for ${seconds} s`;
	const details = { retryable: true, advice: LATER };
	const { time } = await expectFailure(says, details, script, settings, { maxRetries: 0 });
	expect(time.now() - START).toBe(tookMs);
});

test('A connection on which nothing happens is fine as long as something arrives in time', async () => {
	const pieces = Array.from({ length: 8 }, (_, n) => IMAGE.subarray(n * 125, n * 125 + 125));
	const body = pieces.flatMap((piece) => [{ pause: 59_999 }, piece]);
	const { got, retries } = await download([ok(body)]);
	expect([got.size, retries]).toEqual([1000, []]);
});

test.each<[string, Stored, atMs: number]>([
	['before the download', WHOLE, 0],
	['before the host answers', 'silence', 20_000],
	['while the body arrives', ok([IMAGE, { pause: 50_000 }, IMAGE]), 20_000],
	['while it waits to try again', unavailable('50'), 20_000],
	['that the storage host’s side reports', aborted(), 1],
])('A cancel %s ends it there, and nothing is opened after', async (_, stored, atMs) => {
	const { cancel, begin, storage, time } = start([stored]);
	if (atMs === 0) cancel();
	const ending = failureOf(begin());
	await time.advance(atMs);
	cancel();
	expectError(await ending, 'CanceledError', /./);
	expect(time.now() - START).toBe(atMs);
	await time.advance(3_600_000);
	expect(storage).toMatchObject({ connections: 0, saved: [] });
	expect(storage.opened).toHaveLength(atMs === 0 ? 0 : 1);
});
