import { startSniffer, type Sniffer } from '../../gateway/faults/catalogue';
import {
	createResponse,
	generateImage,
	getModels,
	getTask,
	shown,
	startHarness,
	submitted,
	waitForTask,
	type Harness,
} from '../nodes/arrange';
import { storeBinaryInMemory } from '../../scripts/engine/index';
import { Container, SsrfProtectionConfig } from '../../scripts/engine/core-modules';
import { findSecret } from '../support/secrets';

// The gateway may be reached by its name, 127.0.0.1 may not. n8n reads this once.
const ssrf = Container.get(SsrfProtectionConfig);
ssrf.allowedHostnames = ['localhost'];

let harness: Harness;
let elsewhere: Sniffer;
beforeEach(async () => {
	await storeBinaryInMemory();
	harness = await startHarness({ defaultSize: '16x16' });
	elsewhere = await startSniffer();
});
afterEach(async () => {
	await harness.close();
	await elsewhere.close();
});

/** Changes the gateway's replies of a route on their way. */
function replace(changed: string, change: (body: string, headers: object) => string) {
	harness.gateway.settings.intercept = ({ route, reply }) => {
		if (route === changed && reply) reply.body = change(String(reply.body), reply.headers);
		return undefined;
	};
}

describe('The key goes to the gateway’s origin alone', () => {
	test('also where the 202 names another host in poll_url, Location and ID', async () => {
		const poll = () => `${elsewhere.origin}/v1/images/tasks/stolen`;
		replace('generations', (body, headers) => {
			Object.assign(headers, { Location: poll() });
			return body.replace(/"poll_url":"[^"]*"/, `"poll_url":"${poll()}"`);
		});
		const run = await harness.image(generateImage());
		expect(run.items[0]?.json.status).toBe('completed');

		replace('generations', (body) => body.replaceAll(/"imgtask_\w+"/g, `"${poll()}"`));
		await harness.imageError(generateImage());
		const typed = await harness.imageError(getTask(poll()));
		expect(typed.error.message).toMatch(/address of another gateway/);
		expect(elsewhere.seen).toEqual([]);
	});

	test('also where images lie with somebody else, who is sent none', async () => {
		const task = await submitted(harness);
		await harness.time.advance(6000);
		replace('task', (body) => body.replaceAll(harness.gateway.storageUrl, elsewhere.origin));
		await harness.imageError(getTask(task.id));
		await harness.imageError(waitForTask(task.id));

		expect(elsewhere.seen.length).toBeGreaterThanOrEqual(2);
		expect(findSecret(harness.access.apiKey, elsewhere.seen)).toEqual([]);
		expect(elsewhere.seen.filter(({ headers }) => headers.authorization)).toEqual([]);
	});

	test('also where a proxy in front answers with a page that leads elsewhere', async () => {
		harness.gateway.settings.intercept = () => ({
			kind: 'reply',
			status: 407,
			headers: {
				'Content-Type': 'text/html',
				Refresh: `0; url=${elsewhere.origin}/login`,
				Link: `<${elsewhere.origin}/x>; rel=preload`,
				'Set-Cookie': 'session=1',
			},
			body: `<html><meta http-equiv="refresh" content="0; url=${elsewhere.origin}"></html>`,
		});
		for (const { error } of [
			await harness.textError(getModels()),
			await harness.textError(createResponse({ stream: true })),
			await harness.imageError(generateImage()),
		]) {
			expect(error.message).toMatch(/\(HTTP 407\): a web page \(HTML\) instead of JSON$/);
		}
		expect(elsewhere.seen).toEqual([]);
		expect(harness.gateway.requests.some(({ headers }) => 'cookie' in headers)).toBe(false);
	});
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
		const run = await harness.imageError(getTask(task.id), { access: { baseUrl } });

		expect(run.error.message).toMatch(
			/^The image could not be downloaded from 127\.0\.0\.1:\d+: n8n’s SSRF protection blocked its address$/,
		);
		expect(shown(run).description).toMatch(/private network.*administrator to allow the host/);
		expect(shown(run).description).toContain(`Task ID: ${task.id}.`);
		expect(harness.gateway.storageRequests).toHaveLength(0);
	});

	test('a gateway at a private address is refused by n8n, and the error says so', async () => {
		ssrf.enabled = true;
		const run = await harness.textError(getModels());

		expect(run.error.message).toMatch(/^n8n’s SSRF protection blocked the gateway/);
		expect(shown(run).description).toMatch(/private network.*administrator to allow the host/);
		expect(harness.gateway.count()).toBe(0);
	});
});
