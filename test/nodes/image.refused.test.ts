import type { IDataObject } from 'n8n-workflow';
import type { GatewayOptions } from '../../gateway';
import { generateImage, numbered, shown, startHarness, type Harness } from './arrange';

/*
 * Gateways that take each submit with 202 and check their limits afterwards: a full house is a task
 * that fails with 429, or with 503. A batch has to come through, and nothing is made twice.
 */

const PROMPT = '=Number {{ $json.n }}';

let harness: Harness;
afterEach(async () => await harness.close());

/** What became of a batch, by the gateway's own books. */
async function batch(count: number, gateway: GatewayOptions, options: IDataObject = {}) {
	harness = await startHarness({ backgroundLimits: true, taskSeconds: 40, ...gateway });
	const began = harness.time.now();
	const ended = await harness.image(
		generateImage({ prompt: PROMPT, downloadImages: false, options }),
		{ items: numbered(count), continueOnFail: true },
	);
	const { tasks, charges } = harness.gateway;
	const refused = tasks.filter(({ failure }) => failure).length;
	return {
		...ended,
		seconds: (harness.time.now() - began) / 1000,
		refused,
		charged: charges.length,
		arrived: ended.items.filter(({ json }) => json.error === undefined).length,
	};
}

describe('One place at the gateway, a line of up to 30 s before it', () => {
	test('8 images of 40 s arrive within 350 s by default options, none made twice', async () => {
		const { arrived, charged, refused, seconds, hints } = await batch(8, { places: 1 });
		expect([arrived, charged]).toEqual([8, 8]);
		expect(seconds).toBeLessThanOrEqual(350);
		expect(refused).toBeLessThanOrEqual(16);
		console.log({ seconds, refused, hints });
	});
});
