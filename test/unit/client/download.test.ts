import { downloadPicture, type DownloadSettings } from '../../../nodes/shared/client/download';
import { CancelledError, DownloadError } from '../../../nodes/shared/client/errors';
import { TransportFault, type FaultKind } from '../../../nodes/shared/client/transport';
import { arrange, failureOf, fault, shown, START, type Arrangement } from './arrange';
import { ScriptedStorage, type Stored } from './stored-pictures';

const URL_WITH_SECRET = 'https://store.example:8443/bucket/1.png?X-Signature=s3cr3t&expires=1';

const PNG = Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), Buffer.alloc(992, 7)]);

const SETTINGS: DownloadSettings = {
	maxBytes: 10_000,
	idleMs: 60_000,
	fileName: (extension) => `fox.${extension}`,
};

/** A picture as it should be, in three pieces. */
function picture(more: { headers?: Record<string, string> } = {}): Stored {
	const body = [PNG.subarray(0, 300), PNG.subarray(300, 700), PNG.subarray(700)];
	return {
		status: 200,
		headers: { 'content-type': 'image/png', 'content-length': '1000', ...more.headers },
		body,
	};
}

function redirect(location: string | undefined, status = 302): Stored {
	return { status, headers: { location } };
}

/** A client, and a storage host whose last reply stays. */
function storing(script: Stored[], arrangement: Arrangement = {}) {
	const retries: Array<{ reason: string; waitMs: number; attempt: number }> = [];
	const arranged = arrange([], {
		onRetry: (retry) => retries.push(retry),
		...arrangement,
	});
	const storage = new ScriptedStorage(arranged.time, [...script]);
	const start = async (settings: Partial<DownloadSettings> = {}, url = URL_WITH_SECRET) =>
		await downloadPicture(arranged.client, storage, url, { ...SETTINGS, ...settings });
	return {
		...arranged,
		storage,
		retries,
		start,
		download: async (settings?: Partial<DownloadSettings>, url?: string) =>
			await arranged.drive(start(settings, url)),
		failing: async (settings?: Partial<DownloadSettings>, url?: string) =>
			await arranged.failure(start(settings, url)),
	};
}

describe('a picture whose file ends too early', () => {
	const whole = Buffer.from(
		'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==',
		'base64',
	);
	const stored = (body: Buffer): Stored => ({
		status: 200,
		headers: { 'content-type': 'image/png' },
		body: [body.subarray(0, 20), body.subarray(20)],
	});
	const half = stored(whole.subarray(0, 50));

	test('is fetched again, where nobody said how long it is', async () => {
		const { download, storage, retries } = storing([half, half, stored(whole)]);

		await expect(download()).resolves.toMatchObject({ size: whole.length });
		expect(storage.saved).toHaveLength(1);
		expect(retries.map(({ reason }) => reason)).toEqual([
			'only a part of the png file arrived (50 bytes, without its end)',
			'only a part of the png file arrived (50 bytes, without its end)',
		]);
	});

	test('is an error in the end, and there is another way to it', async () => {
		const { failing, storage } = storing([half]);

		const error = await failing();
		expect(error.message).toContain('only a part of the png file arrived');
		expect(error.facts).toMatchObject({ retryable: true });
		expect(error.facts.advice).toMatch(/switch Download Images off.*HTTP Request.*paid for/);
		expect(storage.saved).toHaveLength(0);
	});

	test('is whole with bytes behind its end', async () => {
		const { download } = storing([stored(Buffer.concat([whole, Buffer.alloc(9)]))]);
		await expect(download()).resolves.toMatchObject({ size: whole.length + 9 });
	});
});

describe('a picture is fetched', () => {
	test('whole, into the storage, named and typed by its bytes', async () => {
		const { download, storage, sent } = storing([
			picture({ headers: { 'content-type': 'application/octet-stream' } }),
		]);

		const got = await download();

		expect(got).toEqual({
			file: { name: 'fox.png', mimeType: 'image/png', bytes: PNG },
			name: 'fox.png',
			mimeType: 'image/png',
			size: 1000,
		});
		expect(storage.saved).toHaveLength(1);
		expect(storage.opened).toEqual([{ url: URL_WITH_SECRET, at: START }]);
		expect(storage.connections).toBe(0);
		expect(sent).toHaveLength(0);
	});

	test('without a Content-Length', async () => {
		const { download } = storing([{ status: 200, body: [PNG] }]);
		await expect(download()).resolves.toMatchObject({ size: 1000 });
	});

	test('up to the very limit', async () => {
		const { download } = storing([picture()]);
		await expect(download({ maxBytes: 1000 })).resolves.toMatchObject({ size: 1000 });
	});

	test('of a kind of its own', async () => {
		const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"></svg>');
		const { download } = storing([{ status: 200, body: [svg] }]);
		await expect(download()).resolves.toMatchObject({ name: 'fox.svg', mimeType: 'image/svg+xml' });
	});
});

describe('redirects of the storage host', () => {
	test.each([
		['absolute', 'https://other.example/2.png?a=b', 'https://other.example/2.png?a=b'],
		['relative to the host', '/2.png', 'https://store.example:8443/2.png'],
		['relative to the path', '2.png?x', 'https://store.example:8443/bucket/2.png?x'],
		['relative to the scheme', '//other.example/2.png', 'https://other.example/2.png'],
	])('%s: followed', async (_, location, target) => {
		for (const status of [301, 302, 303, 307, 308]) {
			const { download, storage } = storing([redirect(location, status), picture()]);
			await download();
			expect(storage.opened.map(({ url }) => url)).toEqual([URL_WITH_SECRET, target]);
			expect(storage.connections).toBe(0);
		}
	});

	test('five in a row are followed', async () => {
		const { download, storage } = storing([
			...['/1', '/2', '/3', '/4', '/5'].map((location) => redirect(location)),
			picture(),
		]);
		await download();
		expect(storage.opened).toHaveLength(6);
	});

	test('a loop ends after five, and is not tried again', async () => {
		const { failing, storage, retries } = storing([redirect(URL_WITH_SECRET)]);
		const error = await failing();
		expect(storage.opened).toHaveLength(6);
		expect(storage.connections).toBe(0);
		expect(error.message).toContain('more than 5 redirects');
		expect(error.facts.retryable).toBe(false);
		expect(retries).toEqual([]);
	});

	test.each([
		'file:///etc/passwd',
		'data:image/png;base64,AA',
		'ftp://other.example/',
		'https://[',
		'javascript:1',
	])('to %s are not followed', async (location) => {
		const { failing, storage } = storing([redirect(location), picture()]);
		const error = await failing();
		expect(error.message).toContain('its address is not a web address');
		expect(error.facts.retryable).toBe(false);
		expect(storage.opened).toHaveLength(1);
		expect(storage.saved).toEqual([]);
	});

	test('without an address are an error', async () => {
		const { failing } = storing([redirect(undefined)]);
		const error = await failing();
		expect(error.message).toContain('HTTP 302');
		expect(error.facts.retryable).toBe(false);
	});
});

describe('an address that is none', () => {
	test.each(['', 'no address', 'file:///etc/passwd', '/relative.png', 'data:image/png;base64,AA'])(
		'%j is not opened',
		async (url) => {
			const { failing, storage } = storing([picture()]);
			const error = await failing({}, url);
			expect(error).toBeInstanceOf(DownloadError);
			expect(error.message).toContain('from an unknown host: its address is not a web address');
			expect(storage.opened).toEqual([]);
		},
	);
});

const PAID = /The image is done and paid for: fetch it with Task → Get/;

describe('an error status', () => {
	const EXPIRES = Date.UTC(2026, 0, 2) / 1000;

	test.each([403, 404, 410])('%i says that the link may have expired, and when', async (status) => {
		const { failing, storage } = storing([{ status }]);
		const error = await failing({ expiresAt: EXPIRES });
		expect(error).toBeInstanceOf(DownloadError);
		expect(error.message).toBe(
			`The image could not be downloaded from store.example:8443: HTTP ${status}, the link may have expired (it ends at 2026-01-02T00:00:00.000Z)`,
		);
		expect(error.facts).toMatchObject({ httpStatus: status, retryable: false });
		expect(error.facts.advice).toMatch(/before expires_at/);
		expect(error.facts.advice).toMatch(PAID);
		expect(storage.opened).toHaveLength(1);
	});

	test('that speaks of an expired link does so without a date, or with one that is none', async () => {
		for (const expiresAt of [undefined, 1e300, -1e14]) {
			const { failing } = storing([{ status: 403 }]);
			const error = await failing({ expiresAt });
			expect(error.message).toContain('HTTP 403, the link may have expired');
		}
	});

	test.each([
		[400, 1],
		[401, 1],
		[402, 1],
		[418, 1],
		[204, 1],
		[206, 1],
		[304, 1],
		[408, 4],
		[429, 4],
		[500, 4],
		[502, 4],
		[503, 4],
		[504, 4],
		[520, 4],
	])('%i: opened %i times, with three retries allowed', async (status, times) => {
		const { failing, storage, retries } = storing([{ status }]);
		const error = await failing();
		expect(storage.opened).toHaveLength(times);
		expect(storage.connections).toBe(0);
		expect(error.message).toContain(`store.example:8443: HTTP ${status}`);
		expect(error.facts).toMatchObject({ httpStatus: status, retryable: times > 1 });
		expect(error.facts.advice).toMatch(PAID);
		expect(retries.map(({ waitMs }) => waitMs)).toEqual(times > 1 ? [1000, 2000, 4000] : []);
	});

	test('is waited for as Retry-After says', async () => {
		const { download, storage, retries } = storing([
			{ status: 503, headers: { 'retry-after': '7' } },
			{ status: 429, headers: { 'retry-after': 'Thu, 01 Jan 2026 00:00:20 GMT' } },
			picture(),
		]);
		await download();
		expect(storage.opened.map(({ at }) => (at - START) / 1000)).toEqual([0, 7, 20]);
		expect(retries).toEqual([
			{ reason: 'HTTP 503', waitMs: 7000, attempt: 1 },
			{ reason: 'HTTP 429', waitMs: 13_000, attempt: 2 },
		]);
	});

	test('whose wait would pass the deadline ends at once, saying how long', async () => {
		const { failing, storage, time } = storing(
			[{ status: 503, headers: { 'retry-after': '60' } }],
			{ deadline: START + 59_000 },
		);
		const error = await failing();
		expect(storage.opened).toHaveLength(1);
		expect(time.now()).toBe(START);
		expect(error.facts).toMatchObject({ retryAfter: 60, retryable: true });
		expect(error.facts.advice).toContain('asked to wait 60 s');
		expect(error.facts.advice).toMatch(PAID);
	});

	test('whose wait ends at the deadline is waited for', async () => {
		const { download, storage } = storing(
			[{ status: 503, headers: { 'retry-after': '60' } }, picture()],
			{ deadline: START + 60_000 },
		);
		await download();
		expect(storage.opened).toHaveLength(2);
	});

	test('is not tried again where no retries are wanted', async () => {
		const { failing, storage } = storing([{ status: 503 }], { maxRetries: 0 });
		await failing();
		expect(storage.opened).toHaveLength(1);
	});
});

describe('a fault of the network', () => {
	test.each<[FaultKind, string, number, RegExp]>([
		['unreached', 'ECONNREFUSED', 4, /the host cannot be reached \(ECONNREFUSED\)/],
		['timeout', 'ETIMEDOUT', 4, /did not answer in time \(ETIMEDOUT\)/],
		['lost', 'ECONNRESET', 4, /the connection was lost \(ECONNRESET\)/],
		['certificate', 'CERT_HAS_EXPIRED', 1, /certificate is not accepted \(CERT_HAS_EXPIRED\)/],
		['blocked', 'SSRF', 1, /own protection refuses/],
	])('%s (%s): opened %i times', async (kind, code, times, says) => {
		const { failing, storage } = storing([fault(kind, code)]);
		const error = await failing();
		expect(error).toBeInstanceOf(DownloadError);
		expect(error.message).toMatch(says);
		expect(error.facts.retryable).toBe(times > 1);
		expect(error.facts.advice).toMatch(PAID);
		expect(storage.opened).toHaveLength(times);
	});

	test('without a code is named without empty brackets', async () => {
		const { failing } = storing([fault('lost')]);
		const { message } = await failing();
		expect(message).toMatch(/the connection was lost$/);
	});

	test('while the body comes is tried again, and leaves nothing behind', async () => {
		const broken: Stored = { status: 200, body: [PNG.subarray(0, 500), fault('lost')] };
		const { download, storage } = storing([broken, broken, picture()]);
		const got = await download();
		expect(got.file.bytes.equals(PNG)).toBe(true);
		expect(storage.saved).toHaveLength(1);
		expect(storage.opened).toHaveLength(3);
		expect(storage.connections).toBe(0);
	});

	test('behind a redirect begins again with the first address', async () => {
		const { download, storage } = storing([redirect('/2.png'), fault('lost'), picture()]);
		await download();
		expect(storage.opened.map(({ url }) => new URL(url).pathname)).toEqual([
			'/bucket/1.png',
			'/2.png',
			'/bucket/1.png',
		]);
	});

	test('that is none of the network’s passes as it is', async () => {
		const full = new Error('disk full');
		const { storage, start, drive } = storing([picture()]);
		storage.open = async () => await Promise.reject(full);
		await expect(drive(start())).rejects.toBe(full);
	});
});

describe('what comes is checked', () => {
	const html = Buffer.from('<!DOCTYPE html><html><body>Sign in</body></html>');

	test.each<[string, Stored, number, string]>([
		[
			'fewer bytes than Content-Length',
			{ status: 200, headers: { 'content-length': '2000' }, body: [PNG] },
			4,
			'only 1000 of 2000 bytes arrived',
		],
		[
			'fewer bytes than a signature needs',
			{ status: 200, headers: { 'content-length': '1000' }, body: [PNG.subarray(0, 4)] },
			4,
			'only 4 of 1000 bytes arrived',
		],
		['an empty file', { status: 200, headers: { 'content-length': '0' } }, 4, 'the file is empty'],
		[
			'no bytes of many',
			{ status: 200, headers: { 'content-length': '9' } },
			4,
			'the file is empty',
		],
		[
			'HTML',
			{ status: 200, headers: { 'content-type': 'text/html; charset=utf-8' }, body: [html] },
			1,
			'a web page (HTML) came in place of an image',
		],
		[
			'JSON',
			{
				status: 200,
				headers: { 'content-type': 'application/json' },
				body: [Buffer.from('{"error":"expired"}')],
			},
			1,
			'JSON came in place of an image',
		],
		[
			'text that calls itself an image',
			{ status: 200, headers: { 'content-type': 'image/png' }, body: [Buffer.from('hello')] },
			1,
			'something else came in place of an image',
		],
	])('%s', async (_, stored, times, says) => {
		const { failing, storage } = storing([stored]);
		const error = await failing();
		expect(error).toBeInstanceOf(DownloadError);
		expect(error.message).toContain(says);
		expect(error.facts.retryable).toBe(times > 1);
		expect(error.facts.advice).toMatch(PAID);
		expect(storage.opened).toHaveLength(times);
		expect(storage.saved).toEqual([]);
		expect(storage.connections).toBe(0);
	});

	test('a file that announces to be too large is not read at all', async () => {
		const { failing, storage } = storing([picture()]);
		const error = await failing({ maxBytes: 999 });
		expect(error.message).toContain('larger than Max File Size (0 MB)');
		expect(error.facts.advice).toContain('Raise the Max File Size option');
		expect(error.facts.retryable).toBe(false);
		expect(storage.read).toBe(0);
		expect(storage.opened).toHaveLength(1);
		expect(storage.connections).toBe(0);
	});

	test('a file that turns out to be too large is stopped at the limit, not after', async () => {
		const megabyte = Buffer.alloc(1024 * 1024, 1);
		const body = [PNG, ...Array<Buffer>(20).fill(megabyte)];
		const { failing, storage } = storing([{ status: 200, body }]);
		const error = await failing({ maxBytes: 2.5 * 1024 * 1024 });
		expect(error.message).toContain('larger than Max File Size (2.5 MB)');
		expect(storage.read).toBe(1000 + 3 * megabyte.length);
		expect(storage.saved).toEqual([]);
		expect(storage.opened).toHaveLength(1);
	});

	test('a file that lies about its size is stopped too', async () => {
		const { failing } = storing([
			{ status: 200, headers: { 'content-length': '10' }, body: [PNG, PNG] },
		]);
		const { message } = await failing({ maxBytes: 1500 });
		expect(message).toContain('larger than Max File Size');
	});
});

describe('a connection on which nothing happens', () => {
	test('is given up after the idle time, not before', async () => {
		const { failing, storage, time } = storing(
			[
				{
					status: 200,
					body: [
						PNG.subarray(0, 500),
						{ pause: 10_000 },
						PNG.subarray(500, 600),
						{ pause: 60_001 },
					],
				},
			],
			{ maxRetries: 0 },
		);
		const error = await failing();
		expect(error.message).toContain('nothing arrived for 60 s');
		expect(error.facts.retryable).toBe(true);
		expect(time.now() - START).toBe(70_000);
		expect(storage.connections).toBe(0);
	});

	test('is fine as long as something comes in time', async () => {
		const body = [300, 400, 500, 600, 700, 800, 900, 1000].flatMap((end, index) => [
			PNG.subarray(index === 0 ? 0 : end - 100, end),
			{ pause: 59_999 },
		]);
		const { download, storage } = storing([{ status: 200, body }]);
		await expect(download()).resolves.toMatchObject({ size: 1000 });
		expect(storage.opened).toHaveLength(1);
	});

	test('is fine although its first bytes took their time', async () => {
		const body = [{ pause: 50_000 }, PNG.subarray(0, 500), { pause: 50_000 }, PNG.subarray(500)];
		const { download, storage } = storing([{ status: 200, body }]);
		await expect(download()).resolves.toMatchObject({ size: 1000 });
		expect(storage.opened).toHaveLength(1);
	});

	test('may be one that never answers', async () => {
		const { failing, time } = storing(['silence'], { maxRetries: 0 });
		const { message } = await failing();
		expect(message).toContain('nothing arrived for 60 s');
		expect(time.now() - START).toBe(60_000);
	});

	test('may be one behind a redirect', async () => {
		const { failing, time } = storing([redirect('/2.png'), 'silence'], { maxRetries: 0 });
		const { message } = await failing({ idleMs: 2500 });
		expect(message).toContain('nothing arrived for 2.5 s');
		expect(time.now() - START).toBe(2500);
	});

	test('is tried again', async () => {
		const { download, storage } = storing(['silence', picture()]);
		await download();
		expect(storage.opened.map(({ at }) => at - START)).toEqual([0, 61_000]);
	});

	test('is no longer watched once the picture is here', async () => {
		const { download, time } = storing([picture()]);
		await download();
		const waits = time.waits.length;
		await time.advance(3_600_000);
		expect(time.waits).toHaveLength(waits);
	});
});

describe('a cancel', () => {
	test('before the download: nothing is opened', async () => {
		const { cancel, failing, storage } = storing([picture()]);
		cancel();
		await expect(failing()).resolves.toBeInstanceOf(CancelledError);
		expect(storage.opened).toEqual([]);
	});

	test.each<[string, Stored]>([
		['before the host answers', 'silence'],
		['while the first bytes are awaited', { status: 200, body: [{ pause: 50_000 }, PNG] }],
		['while the body comes', { status: 200, body: [PNG, { pause: 50_000 }, PNG] }],
		['while it waits to try again', { status: 503, headers: { 'retry-after': '50' } }],
	])('%s: ends there, closes the connection, and nothing is opened after', async (_, stored) => {
		const { cancel, start, storage, time } = storing([stored]);
		const ending = failureOf(start());
		await time.advance(20_000);
		cancel();
		await expect(ending).resolves.toBeInstanceOf(CancelledError);
		expect(time.now() - START).toBe(20_000);
		await time.advance(3_600_000);
		expect(storage.opened).toHaveLength(1);
		expect(storage.connections).toBe(0);
		expect(storage.saved).toEqual([]);
	});

	test('that the storage host’s side reports is believed', async () => {
		const { failing, storage } = storing([fault('cancelled', 'ERR_CANCELED')]);
		await expect(failing()).resolves.toBeInstanceOf(CancelledError);
		expect(storage.opened).toHaveLength(1);
	});
});

describe('an address is a secret: errors name its host and nothing else of it', () => {
	test.each<[string, Stored[]]>([
		['a status', [{ status: 403 }]],
		['a fault', [new TransportFault('lost', 'ECONNRESET', URL_WITH_SECRET)]],
		['a short body', [{ status: 200, headers: { 'content-length': '2000' }, body: [PNG] }]],
		[
			'a web page',
			[{ status: 200, headers: { 'content-type': 'text/html' }, body: [Buffer.from('x')] }],
		],
		['redirects without end', [redirect(URL_WITH_SECRET)]],
		['a redirect to nowhere', [redirect('file:///s3cr3t')]],
		['silence', ['silence']],
	])('%s', async (_, script) => {
		const { failing, retries } = storing(script);
		const error = await failing({ expiresAt: START / 1000 });
		const text = shown(error) + JSON.stringify(retries);
		expect(error.message).toContain('from store.example:8443: ');
		expect(text).not.toContain('s3cr3t');
		expect(text).not.toContain('X-Signature');
		expect(text).not.toContain('bucket');
	});
});
