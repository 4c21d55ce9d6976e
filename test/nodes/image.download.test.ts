import { randomBytes } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { drawImage, type Fault } from '../../gateway';
import { readBinary, storeBinaryInMemory } from '../../scripts/engine/index';
import { generateImage, getTask, reply, shown, useDisk, useHarness } from './arrange';
import { checkingTasks, expectImages } from './image.arrange';

/* What each fault of a storage host comes to stands in `test/faults`. Here is what a node adds. */

const harness = useHarness(checkingTasks);
const storage = useDisk();

const IMAGE = drawImage({ prompt: 'A boat', index: 0, width: 32, height: 24 });
const MB = 2 ** 20;

type Answer = Fault | ((res: ServerResponse) => void | Promise<void>);

/** Lets this happen to the first requests of the storage, the last of it to all others too. */
function storageAnswers(...answers: Array<Answer | 'right'>) {
	let next = 0;
	harness.gateway.settings.storageIntercept = ({ stage, res }) => {
		const answer = answers[Math.min(next, answers.length - 1)]!;
		if (stage !== 'before') return undefined;
		next++;
		if (typeof answer === 'object') return answer;
		if (answer === 'right') return undefined;
		return { kind: 'take', write: async () => await answer(res) };
	};
}

const PNG = { 'Content-Type': 'image/png' };
const imageReply = reply(200, IMAGE, PNG);

/** The files in n8n's storage, without what n8n notes of them. */
const stored = async () => (await storage.files()).filter((name) => !name.endsWith('.metadata'));

describe('A download', () => {
	test('goes to the storage host without the key and compression, and the item points to the file', async () => {
		const { items } = await harness.image(generateImage());
		const asked = { accept: 'image/*', 'accept-encoding': 'identity' };
		expect(harness.gateway.storageRequests).toMatchObject([{ method: 'GET', headers: asked }]);
		const { headers } = harness.gateway.storageRequests[0]!;
		expect([headers.authorization, headers.cookie]).toEqual([undefined, undefined]);
		await expectImages(items, ['A boat']);
		expect(items[0]?.binary?.data?.id).toMatch(/^filesystem/);
		expect(await stored()).toHaveLength(1);
	});

	test('is tried again after a fault of the host and silence, by the options of the node', async () => {
		storageAnswers(reply(503, 'oops', { 'Retry-After': '11' }), { kind: 'hang' }, 'right');
		const options = { timeout: 25, maxRetries: 2 };
		const { items } = await harness.image(generateImage({ options }));
		expect(harness.gateway.storageRequests).toHaveLength(3);
		expect(harness.seconds()).toBe(6 + 11 + 25 + 2);
		await expectImages(items, ['A boat']);
		expect(await stored()).toHaveLength(1);
	});

	test('takes an address that is relative to the gateway, and sends no key there', async () => {
		harness.gateway.settings.intercept = ({ reply: answer, route, record }) => {
			if (record.path === '/pictures/boat.png' && !answer) return imageReply;
			if (answer && route === 'task') {
				answer.body = String(answer.body).replaceAll(/"http:[^"]*"/g, '"/pictures/boat.png"');
			}
			return undefined;
		};
		await expectImages((await harness.image(generateImage())).items, ['A boat']);
		const fetched = harness.gateway.requests.filter(({ path }) => path === '/pictures/boat.png');
		expect(fetched.map(({ headers }) => headers.authorization)).toEqual([undefined]);
	});
});

/** A file whose type has no end that could be seen, and that no packing makes shorter. */
const AVIF = Buffer.concat([
	Buffer.from('\0\0\0\x20ftypavif\0\0\0\0avifmif1'.padEnd(32, '\0'), 'latin1'),
	// Where the next box would begin, zeros name none. Random bytes do so now and then.
	Buffer.alloc(8),
	randomBytes(5000),
]);

test.each([
	['gzip', gzipSync(AVIF)],
	['br', brotliCompressSync(AVIF)],
])('A storage host that packs a file by %s names the length of what it sends', async (...row) => {
	const [encoding, packed] = row;
	expect(packed.length).toBeGreaterThan(AVIF.length);
	const length = { 'Content-Length': String(packed.length), 'Content-Encoding': encoding };
	storageAnswers(reply(200, packed, { 'Content-Type': 'image/avif', ...length }));
	const { items } = await harness.image(generateImage());
	expect(await readBinary(items[0]?.binary?.data)).toEqual(AVIF);
	expect(items[0]?.json.file).toMatchObject({ size: AVIF.length });
});

describe('A download that cannot be had', () => {
	const tooLarge: Answer = (res) => {
		res.writeHead(200, { ...PNG, 'Content-Length': 64 * MB + 1 });
		res.end(IMAGE);
	};

	test.each<[string, Answer, megabytes: number, object]>([
		['Max File Size', imageReply, 0, { maxFileSize: `={{ ${(IMAGE.length - 1) / MB} }}` }],
		['64 MB by default', tooLarge, 64, {}],
	])('since it is above %s names reason, task and way out', async (_, answer, limit, options) => {
		storageAnswers(answer);
		const error = shown(await harness.imageError(generateImage({ options })));
		const task_id = harness.gateway.tasks[0]!.id;
		const { host } = new URL(harness.gateway.storageUrl);
		const why = `it is larger than Max File Size (${limit} MB)`;
		expect(error.message).toBe(`The image could not be downloaded from ${host}: ${why}`);
		expect(error.description).toMatch(/paid for\. Do not .* it with Task → Get .* Task ID: /);
		const image_urls = [expect.stringContaining(`/images/${task_id}/0.png`) as string];
		const details = { task_id, image_urls, retryable: false };
		expect(error.context).toMatchObject({ itemIndex: 0, details });
		expect(harness.gateway.storageRequests).toHaveLength(1);
		expect(await storage.files()).toEqual([]);
	});

	// A file of just that size passes: test/unit/api/image-download.test.ts.
	test('leaves a file without end at Max File Size', async () => {
		let sent = 0;
		storageAnswers(async (res) => {
			res.writeHead(200, PNG);
			res.write(IMAGE);
			const endless = function* () {
				for (; sent < 100 * MB; sent += 64 * 1024) yield Buffer.alloc(64 * 1024);
			};
			await pipeline(endless, res).catch(() => undefined);
		});
		const { error } = await harness.imageError(generateImage({ options: { maxFileSize: 2 } }));
		expect(error.message).toMatch(/larger than Max File Size \(2 MB\)$/);
		// What is under way in the buffers of both sides comes on top.
		expect(sent).toBeLessThan(20 * MB);
		expect(await stored()).toEqual([]);
	});
});

test('an image that n8n cannot store is not lost: Task → Get brings it later', async () => {
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
	await expectImages((await harness.image(getTask(task_id))).items, ['A boat']);
	expect(harness.gateway.tasks).toHaveLength(1);
});
