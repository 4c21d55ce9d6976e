import type { IDataObject } from 'n8n-workflow';
import { once } from 'node:events';
import { rm, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { drawPicture, startGateway, type Fault } from '../../gateway';
import {
	readBinary,
	storeBinaryInMemory,
	storeBinaryOnDisk,
	type BinaryStorage,
} from '../../scripts/engine/index';
import {
	generateImage,
	getTask,
	itemsOf,
	shown,
	startHarness,
	submitted,
	type Harness,
} from './arrange';
import { checkingTasks, expectPictures } from './image.arrange';

let harness: Harness;
let storage: BinaryStorage;
beforeEach(async () => {
	storage = await storeBinaryOnDisk();
	harness = checkingTasks(await startHarness());
});
afterEach(async () => {
	await harness.close();
	await storage.remove();
	await storeBinaryInMemory();
});

const PICTURE = drawPicture({ prompt: 'A boat', index: 0, width: 32, height: 24 });
const MB = 2 ** 20;

type Answer = Fault | ((res: ServerResponse) => void | Promise<void>);

/** Lets this happen to the first requests of the storage, the last of it to all others too. */
function storageAnswers(...answers: Array<Answer | 'right'>) {
	let next = 0;
	harness.gateway.settings.storageIntercept = ({ stage, res }) => {
		if (stage !== 'before') return undefined;
		const answer = answers[Math.min(next++, answers.length - 1)]!;
		if (answer === 'right') return undefined;
		if (typeof answer === 'object') return answer;
		return { kind: 'take', write: async () => await answer(res) };
	};
}

const reply = (status: number, body: string | Buffer = '', headers: object = {}): Fault => ({
	kind: 'reply',
	status,
	headers: { 'Content-Type': 'image/png', ...headers },
	body,
});

/** The begin of a picture whose end is announced. */
const begin = (res: ServerResponse) => {
	res.writeHead(200, { 'Content-Type': 'image/png', 'Content-Length': PICTURE.length });
	res.write(PICTURE.subarray(0, 300));
};

/** Lets the addresses of a completed task be this one. */
const moveTo = (address: string) => {
	harness.gateway.settings.intercept = ({ reply: answer, route, record }) => {
		if (record.path === '/pictures/boat.png' && !answer) return reply(200, PICTURE);
		if (answer && route === 'task') {
			answer.body = String(answer.body).replaceAll(/"http:[^"]*"/g, JSON.stringify(address));
		}
		return undefined;
	};
};

const seconds = () => (harness.time.now() - Date.UTC(2026, 0, 1)) / 1000;

/** The files in n8n's storage, without what n8n notes of them. */
const stored = async () => (await storage.files()).filter((file) => !file.endsWith('.metadata'));

describe('A download', () => {
	test('goes to the storage host without the key and compression, and the item points to the file', async () => {
		const run = await harness.image(generateImage());

		expect(harness.gateway.storageRequests).toHaveLength(1);
		const { method, headers } = harness.gateway.storageRequests[0]!;
		expect(method).toBe('GET');
		expect(headers).toMatchObject({ accept: 'image/*', 'accept-encoding': 'identity' });
		expect(headers.authorization).toBeUndefined();
		expect(headers.cookie).toBeUndefined();
		await expectPictures(run.items, ['A boat']);
		expect(run.items[0]?.binary?.data?.id).toMatch(/^filesystem/);
		expect(await stored()).toHaveLength(1);
	});

	test('is tried again after a fault of the host, a lost connection and an empty file', async () => {
		storageAnswers(
			reply(503, 'oops', { 'Retry-After': '11' }),
			(res) => {
				begin(res);
				setImmediate(() => res.destroy());
			},
			reply(200),
			'right',
		);
		const run = await harness.image(generateImage());

		expect(harness.gateway.storageRequests).toHaveLength(4);
		expect(seconds()).toBe(6 + 11 + 2 + 4);
		await expectPictures(run.items, ['A boat']);
		expect(await stored()).toHaveLength(1);
	});

	test('follows a redirect to another host, without key and cookie, and goes by the bytes there', async () => {
		const other = await startGateway({ time: harness.time.gateway });
		try {
			const type = { 'Content-Type': 'application/octet-stream' };
			other.settings.intercept = () => reply(200, PICTURE, type);
			const to = `${other.origin}/moved.png?x=1`;
			storageAnswers(reply(302, '', { Location: to, 'Set-Cookie': 'session=1; Path=/' }));
			const run = await harness.image(generateImage({ options: { fileName: 'boat.webp' } }));

			const file = { mimeType: 'image/png', fileName: 'boat.png' };
			expect(run.items[0]?.binary?.data).toMatchObject(file);
			expect(other.requests.map(({ path }) => path)).toEqual(['/moved.png?x=1']);
			expect(other.requests[0]?.headers.authorization).toBeUndefined();
			expect(other.requests[0]?.headers.cookie).toBeUndefined();
			await expectPictures(run.items, ['A boat']);
		} finally {
			await other.close();
		}
	});

	test('takes an address that is relative to the gateway, and sends no key there', async () => {
		moveTo('/pictures/boat.png');
		const run = await harness.image(generateImage());

		await expectPictures(run.items, ['A boat']);
		const fetched = harness.gateway.requests.find(({ path }) => path === '/pictures/boat.png');
		expect(fetched?.headers.authorization).toBeUndefined();
	});

	test('on which nothing comes for the Timeout is tried again', async () => {
		storageAnswers({ kind: 'hang' }, 'right');
		const run = await harness.image(generateImage({ options: { timeout: 25 } }));

		expect(seconds()).toBe(6 + 25 + 1);
		await expectPictures(run.items, ['A boat']);
	});

	test('may take longer than the Timeout in all, as long as something comes', async () => {
		storageAnswers(async (res) => {
			begin(res);
			for (let at = 300; at < PICTURE.length; at += 100) {
				await harness.time.gateway.sleep(20_000);
				res.write(PICTURE.subarray(at, at + 100));
			}
			res.end();
		});
		const run = await harness.image(generateImage({ options: { timeout: 25 } }));

		expect(harness.gateway.storageRequests).toHaveLength(1);
		expect(await readBinary(run.items[0]?.binary?.data)).toEqual(PICTURE);
	});
});

describe('A download that cannot be had', () => {
	const megabytes = (bytes: number) => `={{ ${bytes / MB} }}`;

	test.each<[string, Answer, RegExp, number, IDataObject?]>([
		[
			'403',
			reply(403, '<Error/>'),
			/: HTTP 403, the link may have expired \(it ends at 2026-01-02T00:00:00.000Z\)$/,
			1,
		],
		['500', reply(500), /: HTTP 500$/, 4],
		['a lost connection', { kind: 'destroy' }, /: the connection was lost/, 4],
		[
			'silence in the middle',
			async (res) => {
				begin(res);
				await harness.time.gateway.sleep(3600_000);
			},
			/: nothing arrived for 30 s$/,
			1,
			{ timeout: 30, maxRetries: 0 },
		],
		['redirects', reply(302, '', { Location: '/again' }), /: more than 5 redirects$/, 6],
		[
			'a file above Max File Size',
			reply(200, PICTURE),
			/: it is larger than Max File Size \(0 MB\)$/,
			1,
			{ maxFileSize: megabytes(PICTURE.length - 1) },
		],
		[
			'a file above 64 MB, where no Max File Size is set',
			(res) => {
				res.writeHead(200, { 'Content-Type': 'image/png', 'Content-Length': 64 * MB + 1 });
				res.end(PICTURE);
			},
			/: it is larger than Max File Size \(64 MB\)$/,
			1,
		],
	])(
		'because of %s names reason, task and way out',
		async (_name, answer, message, requests, options = {}) => {
			storageAnswers(answer);
			const error = shown(await harness.imageError(generateImage({ options })));

			const id = harness.gateway.tasks[0]!.id;
			const { host } = new URL(harness.gateway.storageUrl);
			expect(error.message).toMatch(`The image could not be downloaded from ${host}: `);
			expect(error.message).toMatch(message);
			expect(error.message).not.toMatch(/signature=/);
			expect(error.description).toContain(`Task ID: ${id}.`);
			expect(error.description).toMatch(/done and paid for: fetch it with Task → Get/);
			expect(error.context).toMatchObject({
				itemIndex: 0,
				details: {
					task_id: id,
					image_urls: [expect.stringContaining(`/images/${id}/0.png`) as string],
					retryable: false,
				},
			});
			expect(harness.gateway.storageRequests).toHaveLength(requests);
			expect(await storage.files()).toEqual([]);
		},
	);

	test('because the host is gone says so', async () => {
		moveTo('http://127.0.0.1:9/1.png');
		const error = shown(await harness.imageError(generateImage()));
		expect(error.message).toMatch(/127\.0\.0\.1:9: the host cannot be reached \(ECONNREFUSED\)$/);
		expect(error.description).toContain(`Task ID: ${harness.gateway.tasks[0]?.id}.`);
	});

	test('lets a file of just Max File Size pass, and leaves one without end at the limit', async () => {
		storageAnswers(reply(200, PICTURE));
		const maxFileSize = megabytes(PICTURE.length);
		const { items } = await harness.image(generateImage({ options: { maxFileSize } }));
		expect(items[0]?.json.file).toMatchObject({ size: PICTURE.length });

		let sent = 0;
		storageAnswers(async (res) => {
			res.writeHead(200, { 'Content-Type': 'image/png' });
			res.write(PICTURE);
			const piece = Buffer.alloc(64 * 1024);
			while (!res.destroyed && sent < 100 * MB) {
				sent += piece.length;
				if (res.write(piece)) continue;
				const left = new AbortController();
				await Promise.race([
					once(res, 'drain', { signal: left.signal }),
					once(res, 'close', { signal: left.signal }),
				]).finally(() => left.abort());
			}
		});
		const run = await harness.imageError(generateImage({ options: { maxFileSize: 2 } }));

		expect(run.error.message).toMatch(/larger than Max File Size \(2 MB\)$/);
		// What is under way in the buffers of both sides comes on top.
		expect(sent).toBeLessThan(20 * MB);
		expect(await stored()).toHaveLength(1);
	});

	test('is one error item under Continue, and the files of other items stay', async () => {
		const tasks = [await submitted(harness, { options: { n: 2 } }), await submitted(harness)];
		await harness.time.advance(6000);
		const { id } = tasks[0]!;
		harness.gateway.settings.storageIntercept = ({ record }) =>
			record.path.includes(id) ? reply(403) : undefined;
		const run = await harness.image(getTask('={{ $json.id }}'), {
			items: itemsOf(...tasks.map((task) => ({ id: task.id }))),
			onError: 'continueRegularOutput',
		});

		expect(run.items.map(({ json }) => json)).toMatchObject([
			{
				error: expect.stringMatching(/^The image could not be downloaded/) as string,
				error_details: {
					http_status: 403,
					task_id: id,
					image_urls: [0, 1].map((n) => expect.stringContaining(`/${n}.png`) as string),
				},
			},
			{ task_id: tasks[1]?.id, status: 'completed' },
		]);
		expect(await stored()).toHaveLength(1);
	});
});

test('a picture that n8n cannot store is not lost: Task → Get brings it later', async () => {
	// A file where n8n wants a folder, as a full or broken disk would refuse it.
	await rm(storage.folder, { recursive: true });
	await writeFile(storage.folder, '');
	const error = shown(await harness.imageError(generateImage()));

	const id = harness.gateway.tasks[0]!.id;
	expect(error.message).toMatch(/^The image could not be stored: \S/);
	expect(error.context.details).toMatchObject({
		task_id: id,
		image_urls: [expect.stringContaining(`/images/${id}/0.png`) as string],
	});
	expect(error.description).toMatch(/Task → Get/);

	await storeBinaryInMemory();
	await expectPictures((await harness.image(getTask(id))).items, ['A boat']);
	expect(harness.gateway.tasks).toHaveLength(1);
});
