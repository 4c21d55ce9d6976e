import { ModelAccessApi } from '../../credentials/ModelAccessApi.credentials';
import { requestAs, runCredentialTest } from '../../scripts/engine/index';
import { createResponse, getModels, lookUp, openList, textNode, useHarness } from './arrange';
import { useChat } from './chat-model.arrange';

const harness = useHarness();
const chat = useChat();
beforeEach(() => void lookUp(['127.0.0.1'], 'gateway', 'public.example'));
afterEach(() => jest.restoreAllMocks());

const REFUSED = /^Base URL uses http, which would send the key unencrypted/;
const credentialType = new ModelAccessApi();

/** Each way in which n8n uses the credential; each throws, or returns what it got. */
type Use = (data: { baseUrl: string; allowPrivateHttp?: boolean }) => Promise<unknown>;
const whole = (data: object) => ({ ...harness.access, ...data });
const streamed = createResponse({ stream: true });
const WAYS: Record<string, Use> = {
	'a node': async (access) => await harness.text(getModels(), { access }),
	'a node that streams': async (access) => await harness.text(streamed, { access }),
	'the model picker': async (data) => await openList(textNode(harness.time), whole(data)),
	'the chat model': async (access) => {
		const { model } = await chat.supply({}, { access });
		return await harness.time.drive(model.invoke('Hello'));
	},
	'the credential’s test': async (data) => {
		const { status, message } = await runCredentialTest({ credentialType, data: whole(data) });
		if (status !== 'OK') throw new Error(message);
		return message;
	},
	'the HTTP Request node': async (data) => {
		const helper = 'httpRequestWithAuthentication';
		const options = { url: `${data.baseUrl}/models` };
		return await requestAs({ credentialType, data: whole(data), helper, options });
	},
};

test.each(Object.entries(WAYS))(
	'Allow HTTP in a Private Network lets %s reach a private name by http if it is on, and no public one',
	async (_, use) => {
		const { port } = new URL(harness.gateway.origin);
		const baseUrl = `http://gateway:${port}/v1`;
		const isPublic = { baseUrl: `http://public.example:${port}/v1`, allowPrivateHttp: true };
		for (const data of [{ baseUrl }, { baseUrl, allowPrivateHttp: false }, isPublic]) {
			const error = (await use(data).catch((why: unknown) => why)) as Error;
			const { message, description } = error as { message: string; description?: string };
			expect(message).toMatch(REFUSED);
			// Where it is off, the error names the switch.
			const isNamed = `${message} ${description}`.includes('Allow HTTP in a Private Network');
			if (data !== isPublic) expect(isNamed).toBe(true);
		}
		expect(harness.gateway.count()).toBe(0);
		expect(await use({ baseUrl, allowPrivateHttp: true })).toBeTruthy();
	},
);

test('Only the switch itself turns it on, no text that looks like it', async () => {
	const baseUrl = harness.gateway.baseUrl.replace('127.0.0.1', 'gateway');
	for (const allowPrivateHttp of ['true', 'false', 1, {}]) {
		const data = { ...harness.access, baseUrl, allowPrivateHttp };
		const { status } = await runCredentialTest({ credentialType, data });
		expect([allowPrivateHttp, status]).toEqual([allowPrivateHttp, 'Error']);
	}
});
