import { startSniffer } from '../../gateway/faults/catalogue';
import { generateImage, getModels, getTask, shown, submitted, useHarness } from '../nodes/arrange';
import { Container, SsrfProtectionConfig } from '../../scripts/engine/core-modules';

// The gateway may be reached by its name, 127.0.0.1 may not. n8n reads this once.
const ssrf = Container.get(SsrfProtectionConfig);
ssrf.allowedHostnames = ['localhost'];

const harness = useHarness();

test('The key goes to the gateway’s origin alone, whatever poll_url, Location and ID name', async () => {
	const elsewhere = await startSniffer();
	const poll = `${elsewhere.origin}/v1/images/tasks/stolen`;
	harness.changeReplies('generations', (body, headers) => {
		Object.assign(headers, { Location: poll });
		return body.replace(/"poll_url":"[^"]*"/, `"poll_url":"${poll}"`);
	});
	const run = await harness.image(generateImage());
	expect(run.items[0]?.json.status).toBe('completed');

	harness.changeReplies('generations', (body) => body.replaceAll(/"imgtask_\w+"/g, `"${poll}"`));
	await harness.imageError(generateImage());
	const typed = await harness.imageError(getTask(poll));
	expect(typed.error.message).toMatch(/address of another gateway/);
	expect(elsewhere.seen).toEqual([]);
	await elsewhere.close();
});

test('The signed address of an image stands in the output, but not in what is logged or shown', async () => {
	let refusals = 2;
	harness.gateway.settings.storageIntercept = ({ record }) =>
		refusals-- > 0 ? { kind: 'reply', status: 503, body: `denied: ${record.path}` } : undefined;
	const run = await harness.image(generateImage());

	expect(run.items[0]?.json.image_url).toContain('signature=');
	expect(run.logs.length).toBeGreaterThan(0);
	expect(JSON.stringify([run.logs, run.uiMessages, run.hints])).not.toContain('signature=');

	refusals = Infinity;
	const { message, description, stack } = shown(await harness.imageError(generateImage()));
	expect([message, description, stack].join('\n')).not.toContain('signature=');
});

describe('With n8n’s SSRF protection on', () => {
	afterEach(() => Object.assign(ssrf, { enabled: false }));

	test('an image at a private address is refused by n8n, and the error says so', async () => {
		const task = await submitted(harness);
		await harness.time.advance(6000);
		ssrf.enabled = true;
		const baseUrl = harness.gateway.baseUrl.replace('127.0.0.1', 'localhost');
		const error = shown(await harness.imageError(getTask(task.id), { access: { baseUrl } }));
		expect(error.message).toMatch(
			/^The image could not be downloaded from 127\.0\.0\.1:\d+: n8n’s SSRF protection blocked its address$/,
		);
		expect(error.description).toMatch(/private network.*administrator to allow the host/);
		expect(error.description).toContain(`Task ID: ${task.id}.`);
		expect(harness.gateway.storageRequests).toHaveLength(0);
	});

	test('a gateway at a private address is refused by n8n, and the error says so', async () => {
		ssrf.enabled = true;
		const error = shown(await harness.textError(getModels()));
		expect(error.message).toMatch(/^n8n’s SSRF protection blocked the gateway/);
		expect(error.description).toMatch(/private network.*administrator to allow the host/);
		expect(harness.gateway.count()).toBe(0);
	});
});
