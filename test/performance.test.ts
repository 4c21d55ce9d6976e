import { ExecuteContext } from 'n8n-core';
import type { IDataObject } from 'n8n-workflow';
import { createResponse, generateImage, numbered, startStory, type Story } from './nodes/arrange';
import { CredentialsInMemory } from '../scripts/engine/credentials';
import { allocatedBy } from '../bench/allocations';
import { Wire } from '../bench/wire';
import { storeBinaryOnDisk, type BinaryStorage } from '../scripts/engine/index';

/*
 * What `npm run bench` measures depends on the machine. This does not: it counts what the work
 * takes, and a change that makes it take more, or more for each item as the items grow, fails.
 */

let storage: BinaryStorage;
let story: Story;

beforeAll(async () => {
	storage = await storeBinaryOnDisk();
});

afterAll(async () => {
	await storage.remove();
});

afterEach(async () => {
	jest.restoreAllMocks();
	await story.close();
});

/** How often a method is called from now on; the call itself goes on as before. */
function calls(owner: object, method: string): { count: number } {
	const seen = { count: 0 };
	const methods = owner as Record<string, (...given: unknown[]) => unknown>;
	const original = methods[method];
	if (!original) throw new Error(`There is no method ${method}`);
	jest.spyOn(methods, method).mockImplementation(function (this: unknown, ...given) {
		seen.count++;
		return original.apply(this, given);
	});
	return seen;
}

/** What n8n is asked for on the way: each time it evaluates expressions, or decrypts. */
const askedOfN8n = () => ({
	parameters: calls(ExecuteContext.prototype, '_getNodeParameter'),
	credentials: calls(CredentialsInMemory.prototype, 'getDecrypted'),
});

const PROMPT = '=Number {{ $json.n }}';

describe.each([10, 40])('%i images of 6 s', (items) => {
	test('take a submit, two polls and a download each, and all of them the time of one', async () => {
		story = await startStory();
		const { gateway, time } = story;
		const asked = askedOfN8n();
		const began = time.now();
		const { items: pictures } = await story.image(
			generateImage({ prompt: PROMPT, options: { concurrency: items } }),
			{ items: numbered(items) },
		);
		expect(pictures).toHaveLength(items);
		expect(time.now() - began).toBe(6000);
		expect(gateway.count({ route: 'generations' })).toBe(items);
		expect(gateway.count({ route: 'task' })).toBe(2 * items);
		expect(gateway.count()).toBe(3 * items);
		expect(gateway.storageRequests).toHaveLength(items);
		// Two between polls, and one that watches over the download.
		expect(time.waits.length).toBeLessThanOrEqual(3 * items);
		// By us once for all items, and by n8n once for each request.
		expect(asked.credentials.count).toBeLessThanOrEqual(3 * items + 1);
		expect(asked.parameters.count).toBeLessThanOrEqual(6 * items + 3);
	});
});

describe.each([10, 50])('%i responses', (items) => {
	test('take a request each, of the bytes that have to be said', async () => {
		story = await startStory();
		const asked = askedOfN8n();
		const { items: answers } = await story.text(createResponse({ prompt: PROMPT }), {
			items: numbered(items),
		});
		expect(answers).toHaveLength(items);
		expect(story.gateway.count()).toBe(items);
		for (const { rawLength, body } of story.gateway.requests) {
			expect(Object.keys(body as IDataObject).sort()).toEqual(['input', 'model']);
			expect(rawLength).toBe(JSON.stringify(body).length);
		}
		expect(asked.credentials.count).toBeLessThanOrEqual(items + 1);
		expect(asked.parameters.count).toBeLessThanOrEqual(6 * items + 3);
		expect(story.time.waits).toEqual([]);
	});
});

describe.each([10, 40])('What goes over the wire for %i items', (items) => {
	let wire: Wire;

	beforeEach(async () => {
		wire = new Wire();
		story = await startStory();
	});

	afterEach(() => {
		wire.close();
	});

	test('of responses is a short request and an answer each', async () => {
		await story.text(createResponse({ prompt: PROMPT }), { items: numbered(items) });
		expect(wire.sent).toBeLessThan(items * 320);
		expect(wire.read).toBeLessThan(items * 1200);
	});

	test('of pictures is their bytes once, and some short requests and answers', async () => {
		const pictures = await story.image(generateImage({ prompt: PROMPT }), {
			items: numbered(items),
		});
		const sizes = pictures.items.map(({ json }) => (json.file as { size: number }).size);
		const bytes = sizes.reduce((sum, size) => sum + size, 0);
		expect(bytes).toBeGreaterThan(items * 500);
		expect(wire.sent).toBeLessThan(items * 1100);
		expect(wire.read).toBeGreaterThan(bytes);
		expect(wire.read).toBeLessThan(bytes + items * 1950);
	});
});

describe('What our nodes allocate', () => {
	const KB = 1024;

	/** Kilobytes for each of so many items. */
	const perItem = async (items: number, work: (items: number) => Promise<unknown>) => {
		story = await startStory();
		const bytes = await allocatedBy(async () => await work(items));
		await story.close();
		return bytes / items / KB;
	};
	const answers = async (items: number) =>
		await story.text(createResponse({ prompt: PROMPT }), { items: numbered(items) });
	const pictures = async (items: number) =>
		await story.image(generateImage({ prompt: PROMPT, options: { concurrency: items } }), {
			items: numbered(items),
		});
	const words = async (count: number) =>
		await story.text(createResponse({ prompt: `[[words:${count}]]`, stream: true }), {
			streaming: true,
		});

	it.each([
		['a response', answers, 10, 50, 75],
		['a picture', pictures, 10, 30, 230],
		['a delta', words, 1000, 10_000, 1.3],
	])(
		'for %s is bounded, and does not grow with their number',
		async (_what, work, few, many, mostKilobytes) => {
			await perItem(few, work);
			const ofFew = await perItem(few, work);
			const ofMany = await perItem(many, work);
			expect(ofFew).toBeGreaterThan(mostKilobytes / 4);
			expect(ofFew).toBeLessThan(mostKilobytes);
			expect(ofMany).toBeLessThan(1.2 * ofFew);
		},
	);
});

describe('A stream of 20,000 deltas', () => {
	test('goes on in far fewer pieces where it comes all at once, and nothing waits for each', async () => {
		story = await startStory();
		const words = 20_000;
		const run = await story.text(createResponse({ prompt: `[[words:${words}]]`, stream: true }), {
			streaming: true,
		});
		const pieces = run.chunks.filter(({ type }) => type === 'item');
		const text = pieces.map(({ content }) => content).join('');
		expect(text).toBe(run.items[0]?.json.text);
		expect(text.split(' ')).toHaveLength(words);
		expect(pieces.length).toBeLessThan(words / 10);
		// One watchdog for the whole of it.
		expect(story.time.waits.length).toBeLessThanOrEqual(2);
		expect(story.gateway.count()).toBe(1);
	});
});

describe.each([
	[1, 1],
	[3, 1],
	[4, 2],
	[6, 2],
	[10, 4],
	[60, 20],
])('An image of %i s', (taskSeconds, polls) => {
	test(`takes ${polls} polls: one more than needed would be one too many`, async () => {
		story = await startStory({ taskSeconds });
		await story.image(generateImage());
		expect(story.gateway.count({ route: 'task' })).toBe(polls);
	});
});
