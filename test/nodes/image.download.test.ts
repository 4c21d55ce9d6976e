import { once } from 'node:events';
import { rm, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import type { IDataObject } from 'n8n-workflow';
import { drawImage, startGateway, type Fault } from '../../gateway';
import { storeBinaryInMemory } from '../../scripts/engine/index';
import {
	generateImage,
	getTask,
	itemsOf,
	reply,
	shown,
	submitted,
	useDisk,
	useHarness,
} from './arrange';
import { checkingTasks, expectPictures } from './image.arrange';

/* What each fault of a storage host comes to stands in `test/faults`. Here is what a node adds. */

const harness = useHarness(checkingTasks);
const storage = useDisk();

const PICTURE = drawImage({ prompt: 'A boat', index: 0, width: 32, height: 24 });
const MB = 2 ** 20;

type Answer = Fault | ((res: ServerResponse) => void | Promise<void>);

/** Lets this happen to the first requests of the storage, the last of it to all others too. */
function storageAnswers(...answers: Array<Answer | 'right'>) {
	let next = 0;
	harness.gateway.settings.storageIntercept = ({ stage, res }) => {
		const answer = answers[Math.min(next, answers.length - 1)]!;
		if (stage !== 'before') return undefined;
		next++;
		if (answer === 'right') return undefined;
		return typeof answer === 'object'
			? answer
			: { kind: 'take', write: async () => await answer(res) };
	};
}

const PNG = { 'Content-Type': 'image/png' };
const pictureReply = reply(200, PICTURE, PNG);

/** The files in n8n's storage, without what n8n notes of them. */
const stored = async () => (await storage.files()).filter((name) => !name.endsWith('.metadata'));

describe('A download', () => {
	test('goes to the storage host without the key and compression, and the item points to the file', async () => {
		const { items } = await harness.image(generateImage());
		expect(harness.gateway.storageRequests).toMatchObject([
			{ method: 'GET', headers: { accept: 'image/*', 'accept-encoding': 'identity' } },
		]);
		const { headers } = harness.gateway.storageRequests[0]!;
		expect([headers.authorization, headers.cookie]).toEqual([undefined, undefined]);
		await expectPictures(items, ['A boat']);
		expect(items[0]?.binary?.data?.id).toMatch(/^filesystem/);
		expect(await stored()).toHaveLength(1);
	});

	test('is tried again after a fault of the host, a lost connection, an empty file and silence', async () => {
		storageAnswers(
			reply(503, 'oops', { 'Retry-After': '11' }),
			(res) => {
				res.writeHead(200, { ...PNG, 'Content-Length': PICTURE.length });
				res.write(PICTURE.subarray(0, 300));
				setImmediate(() => res.destroy());
			},
			reply(200, '', PNG),
			{ kind: 'hang' },
			'right',
		);
		const options = { timeout: 25, maxRetries: 4 };
		const { items } = await harness.image(generateImage({ options }));
		expect(harness.gateway.storageRequests).toHaveLength(5);
		expect(harness.seconds()).toBe(6 + 11 + 2 + 4 + 25 + 8);
		await expectPictures(items, ['A boat']);
		expect(await stored()).toHaveLength(1);
	});

	test('follows a redirect to another host, without key and cookie, and goes by the bytes there', async () => {
		const other = await startGateway({ time: harness.time.gateway });
		try {
			other.settings.intercept = () =>
				reply(200, PICTURE, { 'Content-Type': 'application/octet-stream' });
			const Location = `${other.origin}/moved.png?x=1`;
			storageAnswers(reply(302, '', { Location, 'Set-Cookie': 'session=1; Path=/' }));
			const { items } = await harness.image(generateImage({ options: { fileName: 'boat.webp' } }));
			const data = { mimeType: 'image/png', fileName: 'boat.png' };
			expect(items[0]?.binary).toMatchObject({ data });
			expect(other.requests).toMatchObject([{ path: '/moved.png?x=1' }]);
			const { authorization, cookie } = other.requests[0]!.headers;
			expect([authorization, cookie]).toEqual([undefined, undefined]);
			await expectPictures(items, ['A boat']);
		} finally {
			await other.close();
		}
	});

	test('takes an address that is relative to the gateway, and sends no key there', async () => {
		harness.gateway.settings.intercept = ({ reply: answer, route, record }) => {
			if (record.path === '/pictures/boat.png' && !answer) return pictureReply;
			if (answer && route === 'task') {
				answer.body = String(answer.body).replaceAll(/"http:[^"]*"/g, '"/pictures/boat.png"');
			}
			return undefined;
		};
		await expectPictures((await harness.image(generateImage())).items, ['A boat']);
		const fetched = harness.gateway.requests.filter(({ path }) => path === '/pictures/boat.png');
		expect(fetched.map(({ headers }) => headers.authorization)).toEqual([undefined]);
	});
});

describe('A download that cannot be had', () => {
	const megabytes = (bytes: number) => `={{ ${bytes / MB} }}`;
	const tooLarge: Answer = (res) => {
		res.writeHead(200, { ...PNG, 'Content-Length': 64 * MB + 1 });
		res.end(PICTURE);
	};

	test.each<[string, Answer, RegExp, number, IDataObject?]>([
		['403', reply(403), /: HTTP 403, the link no longer works$/, 1],
		['a lost connection', { kind: 'destroy' }, /: the connection was lost/, 4],
		[
			'a file above Max File Size',
			pictureReply,
			/: it is larger than Max File Size \(0 MB\)$/,
			1,
			{ maxFileSize: megabytes(PICTURE.length - 1) },
		],
		['a file above 64 MB by default', tooLarge, /: it is larger than Max File Size \(64 MB\)$/, 1],
	])('because of %s names reason, task and way out', async (...row) => {
		const [, answer, message, requests, options = {}] = row;
		storageAnswers(answer);
		const error = shown(await harness.imageError(generateImage({ options })));
		const task_id = harness.gateway.tasks[0]!.id;
		const { host } = new URL(harness.gateway.storageUrl);
		expect(error.message).toMatch(`The image could not be downloaded from ${host}: `);
		expect(error.message).toMatch(message);
		expect(error.message).not.toMatch(/signature=/);
		expect(error.description).toContain(`Task ID: ${task_id}.`);
		expect(error.description).toMatch(
			/paid for\. Do not submit it again: fetch it with Task → Get|paid for, but the task names no other link/,
		);
		const image_urls = [expect.stringContaining(`/images/${task_id}/0.png`) as string];
		expect(error.context).toMatchObject({
			itemIndex: 0,
			details: { task_id, image_urls, retryable: false },
		});
		expect(harness.gateway.storageRequests).toHaveLength(requests);
		expect(await storage.files()).toEqual([]);
	});

	test('lets a file of just Max File Size pass, and leaves one without end at the limit', async () => {
		storageAnswers(pictureReply);
		const maxFileSize = megabytes(PICTURE.length);
		const { items } = await harness.image(generateImage({ options: { maxFileSize } }));
		expect(items[0]?.json.file).toMatchObject({ size: PICTURE.length });

		let sent = 0;
		storageAnswers(async (res) => {
			res.writeHead(200, PNG);
			res.write(PICTURE);
			const piece = Buffer.alloc(64 * 1024);
			while (!res.destroyed && sent < 100 * MB) {
				sent += piece.length;
				if (res.write(piece)) continue;
				const left = new AbortController();
				const until = async (name: string) => void (await once(res, name, left));
				await Promise.race([until('drain'), until('close')]).finally(() => left.abort());
			}
		});
		const { error } = await harness.imageError(generateImage({ options: { maxFileSize: 2 } }));
		expect(error.message).toMatch(/larger than Max File Size \(2 MB\)$/);
		// What is under way in the buffers of both sides comes on top.
		expect(sent).toBeLessThan(20 * MB);
		expect(await stored()).toHaveLength(1);
	});

	test('is one error item under Continue, and the files of other items stay', async () => {
		const { id } = await submitted(harness, { options: { n: 2 } });
		const other = await submitted(harness);
		await harness.time.advance(6000);
		harness.gateway.settings.storageIntercept = ({ record }) =>
			record.path.includes(id) ? reply(403) : undefined;
		const { items } = await harness.image(getTask('={{ $json.id }}'), {
			items: itemsOf({ id }, { id: other.id }),
			onError: 'continueRegularOutput',
		});
		const image_urls = [0, 1].map((n) => expect.stringContaining(`/${n}.png`) as string);
		expect(items.map(({ json }) => json)).toMatchObject([
			{
				error: expect.stringMatching(/^The image could not be downloaded/) as string,
				error_details: { http_status: 403, task_id: id, image_urls },
			},
			{ task_id: other.id, status: 'completed' },
		]);
		expect(await stored()).toHaveLength(1);
	});
});

test('a picture that n8n cannot store is not lost: Task → Get brings it later', async () => {
	// A file where n8n wants a folder, as a full or broken disk would refuse it.
	await rm(storage.folder, { recursive: true });
	await writeFile(storage.folder, '');
	const error = shown(await harness.imageError(generateImage()));
	const task_id = harness.gateway.tasks[0]!.id;
	expect(error.message).toMatch(/^The image could not be stored: \S/);
	const image_urls = [expect.stringContaining(`/images/${task_id}/0.png`) as string];
	expect(error.context.details).toMatchObject({ task_id, image_urls });
	expect(error.description).toMatch(/Task → Get/);

	await storeBinaryInMemory();
	await expectPictures((await harness.image(getTask(task_id))).items, ['A boat']);
	expect(harness.gateway.tasks).toHaveLength(1);
});
