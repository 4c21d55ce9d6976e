import type { ServerResponse } from 'node:http';
import { drawPicture, pictureBelongsTo, startGateway, type Fault } from '../../gateway';
import {
	readBinary,
	storeBinaryInMemory,
	storeBinaryOnDisk,
	type BinaryStorage,
} from '../../scripts/engine/index';
import {
	generateImage,
	getTask,
	numbered,
	shown,
	startStory,
	submitted,
	type Story,
} from './arrange';

let story: Story;
let storage: BinaryStorage;
beforeEach(async () => {
	storage = await storeBinaryOnDisk();
	story = await startStory();
});
afterEach(async () => {
	await story.close();
	await storage.remove();
	await storeBinaryInMemory();
});

const PICTURE = drawPicture({ prompt: 'A boat', index: 0, width: 32, height: 24 });

/** Lets this happen to the first `times` requests of the storage. */
function storageFault(fault: Fault | ((res: ServerResponse) => Fault), times = Infinity) {
	let left = times;
	story.gateway.settings.storageIntercept = ({ stage, res }) => {
		if (stage !== 'before' || left-- <= 0) return undefined;
		return typeof fault === 'function' ? fault(res) : fault;
	};
}

const reply = (
	status: number,
	body: string | Buffer,
	headers: Record<string, string> = {},
): Fault => ({
	kind: 'reply',
	status,
	headers: { 'Content-Type': 'image/png', ...headers },
	body,
});

/** Runs Image → Generate into an error, and checks what holds for each failed download. */
async function failedDownload(given: Parameters<typeof generateImage>[0] = {}) {
	const run = await story.imageError(generateImage(given));
	const error = shown(run);
	const [task] = story.gateway.tasks;
	const host = new URL(story.gateway.storageUrl).host;
	expect(error.message).toMatch(`The image could not be downloaded from ${host}: `);
	expect(error.message).not.toMatch(/signature=|[\n\r]/);
	expect(error.description).toContain(`Task ID: ${task?.id}.`);
	expect(error.description).toMatch(/done and paid for: fetch it with Task → Get/);
	expect(error.context).toMatchObject({
		itemIndex: 0,
		details: {
			task_id: task?.id,
			image_urls: [expect.stringContaining(`/images/${task?.id}/0.png`) as string],
		},
	});
	expect(await storage.files()).toEqual([]);
	return error;
}

describe('A download', () => {
	test('goes to the storage host, without the key and without compression', async () => {
		await story.image(generateImage());

		expect(story.gateway.storageRequests).toHaveLength(1);
		const [{ method, headers } = { method: '', headers: {} }] = story.gateway.storageRequests;
		expect(method).toBe('GET');
		expect(headers.authorization).toBeUndefined();
		expect(headers.cookie).toBeUndefined();
		expect(headers['accept-encoding']).toBe('identity');
		expect(JSON.stringify(headers)).not.toContain(story.access.apiKey);
	});

	test.each<[string, Fault]>([
		['a fault of the storage host', reply(500, 'oops')],
		['a request to slow down', reply(429, '', { 'Retry-After': '1' })],
		['a lost connection', { kind: 'destroy' }],
		['an empty file', reply(200, '')],
	])('is tried again after %s', async (_name, fault) => {
		storageFault(fault, 2);
		const run = await story.image(generateImage());

		expect(story.gateway.storageRequests).toHaveLength(3);
		expect(pictureBelongsTo('A boat', await readBinary(run.items[0]?.binary?.data))).toBe(true);
		expect(story.gateway.count({ route: 'generations' })).toBe(1);
		expect((await storage.files()).filter((file) => !file.endsWith('.metadata'))).toHaveLength(1);
	});

	test('is tried again after a connection that was lost in the middle', async () => {
		storageFault(
			(res) => ({
				kind: 'take',
				write: () => {
					res.writeHead(200, { 'Content-Length': PICTURE.length, 'Content-Type': 'image/png' });
					res.write(PICTURE.subarray(0, 300), () => res.destroy());
				},
			}),
			1,
		);
		const run = await story.image(generateImage());

		expect(story.gateway.storageRequests).toHaveLength(2);
		expect(pictureBelongsTo('A boat', await readBinary(run.items[0]?.binary?.data))).toBe(true);
		expect((await storage.files()).filter((file) => !file.endsWith('.metadata'))).toHaveLength(1);
	});

	test('waits as long as the storage host asks', async () => {
		storageFault(reply(503, '', { 'Retry-After': '11' }), 1);
		const before = story.time.now();
		await story.image(generateImage());
		expect(story.time.now() - before).toBe(6000 + 11_000);
	});

	test('follows redirects to another host, without the key', async () => {
		const other = await startGateway({ time: story.time.gateway });
		try {
			other.settings.intercept = () => reply(200, PICTURE);
			storageFault(reply(302, '', { Location: `${other.origin}/moved.png?x=1` }));
			const run = await story.image(generateImage());

			expect(other.requests.map(({ path }) => path)).toEqual(['/moved.png?x=1']);
			expect(other.requests[0]?.headers.authorization).toBeUndefined();
			expect(pictureBelongsTo('A boat', await readBinary(run.items[0]?.binary?.data))).toBe(true);
		} finally {
			await other.close();
		}
	});

	test('takes the file’s type from its bytes, not from its header or name', async () => {
		storageFault(reply(200, PICTURE, { 'Content-Type': 'application/octet-stream' }));
		const run = await story.image(generateImage({ options: { fileName: 'boat.webp' } }));
		expect(run.items[0]?.binary?.data).toMatchObject({
			mimeType: 'image/png',
			fileName: 'boat.png',
		});
	});

	test.each<[string, Buffer, string, string]>([
		[
			'JPEG',
			Buffer.from('ffd8ffe000104a46494600010100000100010000ffd9', 'hex'),
			'image/jpeg',
			'jpg',
		],
		['WebP', Buffer.from('RIFF\x10\0\0\0WEBPVP8 \0\0\0\0', 'latin1'), 'image/webp', 'webp'],
		['GIF', Buffer.from('GIF89a\x01\0\x01\0\0\0\0;', 'latin1'), 'image/gif', 'gif'],
	])('knows a %s file', async (_name, bytes, mimeType, extension) => {
		storageFault(reply(200, bytes));
		const run = await story.image(generateImage());
		expect(run.items[0]?.json.file).toEqual({
			name: `${story.gateway.tasks[0]?.id}.${extension}`,
			mime_type: mimeType,
			size: bytes.length,
		});
	});

	test('takes an address that is relative to the gateway', async () => {
		story.gateway.settings.intercept = ({ reply: answer, route, record, stage }) => {
			if (record.path === '/pictures/boat.png') {
				return stage === 'before' ? reply(200, PICTURE) : undefined;
			}
			if (answer && route === 'task') {
				answer.body = String(answer.body).replaceAll(/"http:[^"]*"/g, '"/pictures/boat.png"');
			}
			return undefined;
		};
		const run = await story.image(generateImage());

		expect(pictureBelongsTo('A boat', await readBinary(run.items[0]?.binary?.data))).toBe(true);
		const fetched = story.gateway.requests.find(({ path }) => path === '/pictures/boat.png');
		expect(fetched?.headers.authorization).toBeUndefined();
	});
});

describe('A download that cannot be had', () => {
	test.each<[string, Fault, RegExp, number]>([
		[
			'403',
			reply(403, '<Error/>'),
			/: HTTP 403, the link may have expired \(it ends at 2026-.*Z\)$/,
			1,
		],
		['404', reply(404, ''), /: HTTP 404, the link may have expired/, 1],
		['410', reply(410, ''), /: HTTP 410, the link may have expired/, 1],
		['400', reply(400, ''), /: HTTP 400$/, 1],
		['500', reply(500, ''), /: HTTP 500$/, 4],
		['503', reply(503, ''), /: HTTP 503$/, 4],
		['a lost connection', { kind: 'destroy' }, /: the connection was lost/, 4],
		[
			'a web page',
			reply(200, '<!doctype html><p>Sign in</p>', { 'Content-Type': 'text/html' }),
			/: a web page \(HTML\) came in place of an image$/,
			1,
		],
		[
			'JSON',
			reply(200, '{"error":"x"}', { 'Content-Type': 'application/json' }),
			/: JSON came in place of an image$/,
			1,
		],
		['a text', reply(200, 'just words'), /: something else came in place of an image$/, 1],
		['an empty file', reply(200, ''), /: the file is empty$/, 4],
		[
			'redirects without end',
			reply(302, '', { Location: '/again' }),
			/: more than 5 redirects$/,
			6,
		],
		[
			'a redirect to a file',
			reply(302, '', { Location: 'file:///etc/passwd' }),
			/: its address is not a web address$/,
			1,
		],
	])('because of %s names reason, task and way out', async (_name, fault, message, requests) => {
		storageFault(fault);
		const error = await failedDownload();

		expect(error.message).toMatch(message);
		expect(story.gateway.storageRequests).toHaveLength(requests);
		expect(story.gateway.count({ route: 'generations' })).toBe(1);
	});

	test('because its address has expired says so', async () => {
		story.gateway.settings.taskLifetime = 8;
		storageFault({ kind: 'delay', ms: 3000 });
		const error = await failedDownload();

		expect(error.message).toMatch(
			/: HTTP 403, the link may have expired \(it ends at 2026-01-01T00:00:08.000Z\)$/,
		);
		expect(error.description).toMatch(/before expires_at/);
		expect(error.httpCode).toBe('403');
	});

	test('because the storage host is gone says so', async () => {
		story.gateway.settings.intercept = ({ reply: answer, route }) => {
			if (answer && route === 'task') {
				answer.body = String(answer.body).replaceAll(
					story.gateway.storageUrl,
					'http://127.0.0.1:9',
				);
			}
			return undefined;
		};
		const run = await story.imageError(generateImage());
		expect(run.error.message).toMatch(
			/^The image could not be downloaded from 127\.0\.0\.1:9: the host cannot be reached \(ECONNREFUSED\)$/,
		);
		expect(shown(run).description).toContain(`Task ID: ${story.gateway.tasks[0]?.id}.`);
		expect(await storage.files()).toEqual([]);
	});

	test('because its address is none says so', async () => {
		story.gateway.settings.intercept = ({ reply: answer, route }) => {
			if (answer && route === 'task') {
				answer.body = String(answer.body).replaceAll(/"http:[^"]*"/g, '"ftp://files/x.png"');
			}
			return undefined;
		};
		const { error } = await story.imageError(generateImage());
		expect(error.message).toMatch(/its address is not a web address$/);
	});

	test('because nothing arrives for as long as the Timeout option allows', async () => {
		storageFault(
			(res) => ({
				kind: 'take',
				write: async () => {
					res.writeHead(200, { 'Content-Length': 5000, 'Content-Type': 'image/png' });
					res.write(PICTURE.subarray(0, 1000));
					await story.time.gateway.sleep(3600_000);
				},
			}),
			1,
		);
		const error = await failedDownload({ options: { timeout: 30, maxRetries: 0 } });

		expect(error.message).toMatch(/: nothing arrived for 30 s$/);
		expect(error.context.details?.retryable).toBe(false);
	});

	test('because its end never comes says so', async () => {
		storageFault((res) => ({
			kind: 'take',
			write: () => {
				res.writeHead(200, { 'Content-Type': 'image/png', 'Content-Length': PICTURE.length });
				res.write(PICTURE.subarray(0, 500), () => res.destroy());
			},
		}));
		const error = await failedDownload({ options: { maxRetries: 1 } });
		expect(error.message).toMatch(/: (the connection was lost|only 500 of \d+ bytes arrived)/);
		expect(story.gateway.storageRequests).toHaveLength(2);
	});

	test('leaves no file of the other pictures’ failure behind an error item', async () => {
		storageFault(reply(403, ''));
		const run = await story.image(generateImage({ options: { n: 2 } }), {
			onError: 'continueRegularOutput',
		});
		expect(run.items).toHaveLength(1);
		expect(run.items[0]?.json).toMatchObject({
			error: expect.stringMatching(/^The image could not be downloaded/) as string,
			error_details: {
				http_status: 403,
				task_id: story.gateway.tasks[0]?.id,
				image_urls: [
					expect.stringContaining('/0.png') as string,
					expect.stringContaining('/1.png') as string,
				],
			},
		});
		expect(await storage.files()).toEqual([]);
	});
});

describe('Max File Size', () => {
	const megabytes = (bytes: number) => `={{ ${bytes / 1024 / 1024} }}`;

	test('lets a file of just this size pass', async () => {
		storageFault(reply(200, PICTURE));
		const run = await story.image(
			generateImage({ options: { maxFileSize: megabytes(PICTURE.length) } }),
		);
		expect(run.items[0]?.json.file).toMatchObject({ size: PICTURE.length });
	});

	test('refuses a larger file by its announced size, once', async () => {
		storageFault(reply(200, PICTURE));
		const error = await failedDownload({
			options: { maxFileSize: megabytes(PICTURE.length - 1) },
		});
		expect(error.message).toMatch(/: it is larger than Max File Size \([\d.]+ MB\)$/);
		expect(error.description).toMatch(/Raise the Max File Size option/);
		expect(story.gateway.storageRequests).toHaveLength(1);
	});

	test('stops a larger file that announced no size', async () => {
		storageFault((res) => ({
			kind: 'take',
			write: () => {
				res.writeHead(200, { 'Content-Type': 'image/png' });
				res.write(PICTURE);
				res.end(Buffer.alloc(100_000));
			},
		}));
		const error = await failedDownload({ options: { maxFileSize: megabytes(50_000) } });
		expect(error.message).toMatch(/: it is larger than Max File Size \(0\.05 MB\)$/);
	});

	test('is 64 MB where nothing is set', async () => {
		storageFault((res) => ({
			kind: 'take',
			write: () => {
				res.writeHead(200, { 'Content-Type': 'image/png', 'Content-Length': 64 * 2 ** 20 + 1 });
				res.end(PICTURE);
			},
		}));
		const error = await failedDownload();
		expect(error.message).toMatch(/larger than Max File Size \(64 MB\)$/);
	});
});

test('a task whose picture could not be had is fetched later with Task → Get', async () => {
	storageFault(reply(500, ''), 4);
	await failedDownload();
	const run = await story.image(getTask(story.gateway.tasks[0]!.id));

	expect(pictureBelongsTo('A boat', await readBinary(run.items[0]?.binary?.data))).toBe(true);
	expect(story.gateway.tasks).toHaveLength(1);
});

test('in memory mode the same holds, and the file is in the item', async () => {
	await storeBinaryInMemory();
	storageFault(reply(500, ''), 1);
	const run = await story.image(generateImage());

	const entry = run.items[0]?.binary?.data;
	expect(entry?.id).toBeUndefined();
	expect(pictureBelongsTo('A boat', Buffer.from(entry?.data ?? '', 'base64'))).toBe(true);
});

test('a failed download of one item leaves the files of the others in place', async () => {
	const tasks = [await submitted(story), await submitted(story)];
	await story.time.advance(6000);
	story.gateway.settings.storageIntercept = ({ record }) =>
		record.path.includes(tasks[0]!.id) ? reply(403, '') : undefined;
	const run = await story.image(getTask('={{ $json.n }}'), {
		items: numbered(2).map((_item, index) => ({ json: { n: tasks[index]!.id } })),
		onError: 'continueRegularOutput',
	});

	expect(run.items.map(({ json }) => typeof json.error)).toEqual(['string', 'undefined']);
	expect((await storage.files()).filter((file) => !file.endsWith('.metadata'))).toHaveLength(1);
});
