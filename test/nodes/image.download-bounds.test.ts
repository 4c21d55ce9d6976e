import { once } from 'node:events';
import { rm, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { drawPicture, pictureBelongsTo, type Fault } from '../../gateway';
import {
	readBinary,
	storeBinaryInMemory,
	storeBinaryOnDisk,
	type BinaryStorage,
} from '../../scripts/engine/index';
import { generateImage, getTask, shown, startStory, type Story } from './arrange';
import { TaskBooks } from './image.arrange';

const books = new TaskBooks();
let story: Story;
let storage: BinaryStorage;
beforeEach(async () => {
	storage = await storeBinaryOnDisk();
	story = books.follow(await startStory());
});
afterEach(async () => {
	await story.close();
	await storage.remove();
	await storeBinaryInMemory();
});

const PICTURE = drawPicture({ prompt: 'A boat', index: 0, width: 32, height: 24 });
const MB = 2 ** 20;

/** Lets the storage answer by this in place of each picture. */
const answer = (write: (res: ServerResponse) => void | Promise<void>) => {
	story.gateway.settings.storageIntercept = ({ stage, res }) =>
		stage === 'before' ? { kind: 'take', write: async () => await write(res) } : undefined;
};

const seconds = () => (story.time.now() - Date.UTC(2026, 0, 1)) / 1000;

test('a file without end is left at the limit: the storage host cannot send much more', async () => {
	let sent = 0;
	answer(async (res) => {
		res.writeHead(200, { 'Content-Type': 'image/png' });
		res.write(PICTURE);
		const piece = Buffer.alloc(64 * 1024);
		while (!res.destroyed && sent < 100 * MB) {
			sent += piece.length;
			if (!res.write(piece)) {
				const left = new AbortController();
				await Promise.race([
					once(res, 'drain', { signal: left.signal }),
					once(res, 'close', { signal: left.signal }),
				]).finally(() => left.abort());
			}
		}
	});
	const run = await story.imageError(generateImage({ options: { maxFileSize: 2 } }));

	expect(run.error.message).toMatch(/larger than Max File Size \(2 MB\)$/);
	// What is under way in the buffers of both sides comes on top.
	expect(sent).toBeLessThan(20 * MB);
	expect(await storage.files()).toEqual([]);
});

describe('A connection on which nothing comes', () => {
	test('is given up after Timeout, also where it never answers', async () => {
		story.gateway.settings.storageIntercept = () => ({ kind: 'hang' });
		const run = await story.imageError(generateImage({ options: { timeout: 25, maxRetries: 0 } }));

		expect(seconds()).toBe(6 + 25);
		expect(run.error.message).toMatch(/: nothing arrived for 25 s$/);
		expect(shown(run).description).toContain(`Task ID: ${story.gateway.tasks[0]?.id}.`);
	});

	test('is tried again, and the picture is had in the end', async () => {
		story.gateway.settings.storageIntercept = ({ attempt }) =>
			attempt === 1 ? { kind: 'hang' } : undefined;
		const run = await story.image(generateImage({ options: { timeout: 25 } }));

		expect(seconds()).toBe(6 + 25 + 1);
		expect(pictureBelongsTo('A boat', await readBinary(run.items[0]?.binary?.data))).toBe(true);
	});

	test('may take long in all, as long as something comes', async () => {
		answer(async (res) => {
			res.writeHead(200, { 'Content-Type': 'image/png', 'Content-Length': PICTURE.length });
			const piece = Math.ceil(PICTURE.length / 10);
			for (let at = 0; at < PICTURE.length; at += piece) {
				res.write(PICTURE.subarray(at, at + piece));
				await story.time.gateway.sleep(20_000);
			}
			res.end();
		});
		const run = await story.image(generateImage({ options: { timeout: 25 } }));

		expect(story.gateway.storageRequests).toHaveLength(1);
		expect(await readBinary(run.items[0]?.binary?.data)).toEqual(PICTURE);
	});
});

describe('A redirect of the storage host', () => {
	const moved = (to: string): Fault => ({
		kind: 'reply',
		status: 302,
		headers: { Location: to, 'Set-Cookie': 'session=1; Path=/' },
	});

	test('that leads to the gateway itself brings neither key nor cookie there', async () => {
		story.gateway.settings.storageIntercept = () => moved(`${story.gateway.origin}/v1/models`);
		await story.imageError(generateImage());

		const [stray] = story.gateway.requests.filter(({ route }) => route === 'models');
		expect(stray?.status).toBe(401);
		expect(stray?.headers.authorization).toBeUndefined();
		expect(stray?.headers.cookie).toBeUndefined();
	});

	test('is followed five times in a row', async () => {
		let left = 5;
		story.gateway.settings.storageIntercept = ({ stage, record }) =>
			stage === 'before' && left-- > 0 ? moved(record.path) : undefined;
		const run = await story.image(generateImage());

		expect(story.gateway.storageRequests).toHaveLength(6);
		expect(story.gateway.storageRequests.some(({ headers }) => headers.cookie)).toBe(false);
		expect(pictureBelongsTo('A boat', await readBinary(run.items[0]?.binary?.data))).toBe(true);
	});
});

test('a picture that n8n cannot store is not lost: Task → Get brings it later', async () => {
	// A file where n8n wants a folder, as a full or broken disk would refuse it.
	await rm(storage.folder, { recursive: true });
	await writeFile(storage.folder, '');
	const error = shown(await story.imageError(generateImage()));

	const id = story.gateway.tasks[0]!.id;
	expect(error.message).toMatch(/^The image could not be stored: /);
	expect(error.context.details).toMatchObject({
		task_id: id,
		image_urls: [expect.stringContaining(`/images/${id}/0.png`) as string],
	});
	expect(error.description).toMatch(/Task → Get/);

	await storeBinaryInMemory();
	const run = await story.image(getTask(id));
	expect(pictureBelongsTo('A boat', await readBinary(run.items[0]?.binary?.data))).toBe(true);
	expect(story.gateway.tasks).toHaveLength(1);
});

test('over all stories of this file no task was submitted twice, and none was lost', () => {
	expect(books.problems).toEqual([]);
	expect(books.accepted).toBeGreaterThan(5);
});
