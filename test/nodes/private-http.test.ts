import dns from 'node:dns';
import { ModelAccessApi } from '../../credentials/ModelAccessApi.credentials';
import { requestAs, runCredentialTest, runListSearch } from '../../scripts/engine/index';
import { createResponse, getModels, textNode, useHarness } from './arrange';
import { startChat } from './chat-model.arrange';

const harness = useHarness();
let baseUrl: string;
beforeEach(() => {
	baseUrl = at(harness.gateway.origin);
	const original = dns.lookup;
	const isOurs = (name: string) => /^(gateway|public\.example)$/.test(name);
	jest
		.spyOn(dns, 'lookup')
		.mockImplementation(((name: string, ...rest: [never, never]) =>
			original(isOurs(name) ? 'localhost' : name, ...rest)) as typeof dns.lookup);
});
afterEach(() => jest.restoreAllMocks());

const at = (origin: string, host = 'gateway') => `http://${host}:${new URL(origin).port}/v1`;

const REFUSED = /^Base URL uses http, which would send the key unencrypted/;
const credentialType = new ModelAccessApi();

/** Each way in which n8n uses the credential; each throws, or returns what it got. */
type Use = (data: { baseUrl: string; allowPrivateHttp?: boolean }) => Promise<unknown>;
const whole = (data: object) => ({ ...harness.access, ...data });
const WAYS: Array<[string, Use]> = [
	['a node', async (access) => await harness.text(getModels(), { access })],
	[
		'a node that streams',
		async (access) => await harness.text(createResponse({ stream: true }), { access }),
	],
	[
		'the model picker',
		async (data) =>
			await runListSearch({
				node: textNode(harness.time),
				method: 'searchModels',
				credentials: { modelAccessApi: whole(data) },
				credentialTypes: [credentialType],
			}),
	],
	[
		'the chat model',
		async (data) => {
			const chat = await startChat();
			const address = at(chat.gateway.origin, new URL(data.baseUrl).hostname);
			try {
				const { model } = await chat.supply({}, { access: { ...data, baseUrl: address } });
				return await chat.drive(model.invoke('Hello'));
			} finally {
				await chat.close();
			}
		},
	],
	[
		'the credential’s test',
		async (data) => {
			const { status, message } = await runCredentialTest({ credentialType, data: whole(data) });
			if (status !== 'OK') throw new Error(message);
			return message;
		},
	],
	[
		'the HTTP Request node',
		async (data) =>
			await requestAs({
				credentialType,
				data: whole(data),
				helper: 'httpRequestWithAuthentication',
				options: { url: `${data.baseUrl}/models` },
			}),
	],
];

describe.each(WAYS)('Allow HTTP in a Private Network, in %s:', (_, use) => {
	test('on, a gateway at a private name is reached by http', async () => {
		expect(await use({ baseUrl, allowPrivateHttp: true })).toBeTruthy();
	});

	test('off or absent, nothing is sent, and the error names the switch', async () => {
		for (const data of [{ baseUrl }, { baseUrl, allowPrivateHttp: false }]) {
			const error = await use(data).then(
				() => undefined,
				(why: unknown) => why as Error & { description?: string },
			);
			expect(error?.message).toMatch(REFUSED);
			expect(`${error?.message} ${error?.description}`).toContain(
				'Allow HTTP in a Private Network',
			);
		}
		expect(harness.gateway.count()).toBe(0);
	});

	test('on, a public name is refused all the same, though it leads to this machine', async () => {
		const address = at(harness.gateway.origin, 'public.example');
		await expect(use({ baseUrl: address, allowPrivateHttp: true })).rejects.toThrow(REFUSED);
		expect(harness.gateway.count()).toBe(0);
	});
});

test('Only the switch itself turns it on, no text that looks like it', async () => {
	for (const allowPrivateHttp of ['true', 'false', 1, {}]) {
		const data = { ...harness.access, baseUrl, allowPrivateHttp };
		const { status } = await runCredentialTest({ credentialType, data: data as never });
		expect([allowPrivateHttp, status]).toEqual([allowPrivateHttp, 'Error']);
	}
});
