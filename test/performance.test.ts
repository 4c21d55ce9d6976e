import { ExecuteContext } from 'n8n-core';
import type { IDataObject } from 'n8n-workflow';
import * as own from './nodes/arrange';
import { CredentialsInMemory } from '../scripts/engine/credentials';
import { allocatedBy } from '../bench/allocations';
import { Wire } from '../bench/wire';

/*
 * What `npm run bench` measures depends on the machine. This does not: it counts what the work
 * takes, and a change that makes it take more, or more for each item as the items grow, fails.
 */

const harness = own.useHarness();
own.useDisk();
afterEach(() => jest.restoreAllMocks());

/** How often a method is called from now on; the call itself goes on as before. */
function calls(owner: object, method: string): { count: number } {
	const seen = { count: 0 };
	const methods = owner as Record<string, (...given: unknown[]) => unknown>;
	const original = methods[method]!;
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

/** Counts the bytes of all sockets while the work goes on. */
async function onWire<T>(work: () => Promise<T>) {
	const wire = new Wire();
	try {
		const done = await work();
		return { done, sent: wire.sent, read: wire.read };
	} finally {
		wire.close();
	}
}

const answers = async (items: number) =>
	await harness.text(own.createResponse({ prompt: PROMPT }), { items: own.numbered(items) });
const images = async (items: number) => {
	const parameters = own.generateImage({ prompt: PROMPT, options: { concurrency: items } });
	return await harness.image(parameters, { items: own.numbered(items) });
};

const streamed = async (count: number) => {
	const parameters = own.createResponse({ prompt: `[[words:${count}]]`, stream: true });
	return await harness.text(parameters, { streaming: true });
};

test.each([10, 40])(
	'%i images of 6 s take a submit, two polls and a download each, in the time of one',
	async (items) => {
		const { gateway, time } = harness;
		const asked = askedOfN8n();
		const began = time.now();
		const { done, sent, read } = await onWire(async () => await images(items));
		expect(time.now() - began).toBe(6000);
		const sentTo = [{ route: 'generations' }, { route: 'task' }, {}] as const;
		const counts = [...sentTo.map((route) => gateway.count(route)), gateway.storageRequests.length];
		expect(counts).toEqual([items, 2 * items, 3 * items, items]);
		// Two between polls, and one that watches over the download.
		expect(time.waits.length).toBeLessThanOrEqual(3 * items);
		// By us once for all items, and by n8n once for each request.
		expect(asked.credentials.count).toBeLessThanOrEqual(3 * items + 1);
		expect(asked.parameters.count).toBeLessThanOrEqual(7 * items + 3);
		// The images once, and some short requests and answers.
		const sizes = done.items.map(({ json }) => (json.file as { size: number }).size);
		const bytes = sizes.reduce((sum, size) => sum + size, 0);
		expect(bytes).toBeGreaterThan(items * 500);
		expect(sent).toBeLessThan(items * 1180);
		expect(read).toBeGreaterThan(bytes);
		expect(read).toBeLessThan(bytes + items * 1950);
	},
);

test.each([10, 50])('%i responses take a request each, of few bytes', async (items) => {
	const asked = askedOfN8n();
	const { done, sent, read } = await onWire(async () => await answers(items));
	expect(done.items).toHaveLength(items);
	expect(harness.gateway.count()).toBe(items);
	for (const { rawLength, body } of harness.gateway.requests) {
		expect(Object.keys(body as IDataObject).sort()).toEqual(['input', 'model']);
		expect(rawLength).toBe(JSON.stringify(body).length);
	}
	expect(asked.credentials.count).toBeLessThanOrEqual(items + 1);
	expect(asked.parameters.count).toBeLessThanOrEqual(9 * items + 3);
	expect(harness.time.waits).toEqual([]);
	// Each with an ID of its own.
	expect(sent).toBeLessThan(items * 360);
	expect(read).toBeLessThan(items * 1200);
});

const KB = 1024;

/** Kilobytes for each of so many items. */
const perItem = async (items: number, work: (items: number) => Promise<unknown>) => {
	const bytes = await allocatedBy(async () => await work(items));
	await harness.close();
	Object.assign(harness, await own.startHarness());
	return bytes / items / KB;
};
test.each([
	['a response', answers, 10, 50, 145],
	['an image', images, 10, 30, 330],
	['a delta', streamed, 1000, 10_000, 3.5],
])('The memory for %s is bounded, and does not grow with their number', async (...row) => {
	const [, work, few, many, mostKilobytes] = row;
	await perItem(few, work);
	const ofFew = await perItem(few, work);
	const ofMany = await perItem(many, work);
	expect(ofFew).toBeGreaterThan(mostKilobytes / 4);
	expect(ofFew).toBeLessThan(mostKilobytes);
	expect(ofMany).toBeLessThan(1.2 * ofFew);
});

test('a stream of 20,000 deltas goes on in far fewer pieces if it comes all at once', async () => {
	const count = 20_000;
	const run = await streamed(count);
	const pieces = run.chunks.filter(({ type }) => type === 'item');
	const text = pieces.map(({ content }) => content).join('');
	expect(text).toBe(run.items[0]?.json.text);
	expect(text.split(' ')).toHaveLength(count);
	expect(pieces.length).toBeLessThan(count / 10);
	// One watchdog for the whole of it.
	expect(harness.time.waits.length).toBeLessThanOrEqual(2);
	expect(harness.gateway.count()).toBe(1);
});
