import { freePort } from '../../gateway/faults/catalogue';
import { toTransportFault } from '../../nodes/shared/n8n/http/transport-fault';
import { createResponse, generateImage, getModels, lookUp } from './arrange';
import { NOWHERE, shown, useHarness } from './arrange';

const harness = useHarness();
afterEach(() => jest.restoreAllMocks());

/** An error as libuv and Node make it. */
const systemError = (code: string, syscall: string) =>
	Object.assign(new Error(`${syscall} ${code} 192.0.2.1:443`), { code, syscall, errno: -1 });

describe('A gateway that was never reached is asked again, and nothing is in doubt:', () => {
	test.each([
		['a response', async (access: object) => await harness.textError(createResponse(), { access })],
		['an image', async (access: object) => await harness.imageError(generateImage(), { access })],
	])('%s, of a host whose two addresses refuse the connection', async (_, run) => {
		const lookup = lookUp(['127.0.0.1', '127.0.0.2'], NOWHERE);
		const error = shown(await run({ baseUrl: `https://${NOWHERE}:${await freePort()}/v1` }));
		expect(error.message).toBe('The gateway cannot be reached (ECONNREFUSED)');
		expect(error.context.details).toMatchObject({ retryable: true });
		expect(error.description).not.toContain('charged');
		expect(harness.time.waits).toHaveLength(3);
		expect(lookup).toHaveBeenCalled();
	});

	test.each([
		['connect', 'ETIMEDOUT ECONNRESET EHOSTUNREACH EINVAL'],
		['getaddrinfo', 'ENOTFOUND EAI_FAIL'],
		['queryA', 'ETIMEOUT'],
	])('%s fails by %s', (syscall, codes) => {
		const faults = codes.split(' ').map((code) => toTransportFault(systemError(code, syscall)));
		const expected = codes.split(' ').map((code) => ({ kind: 'unreached', code }));
		expect(faults).toMatchObject(expected);
	});
});

describe('An error that Node makes of several', () => {
	const [timedOut, refused, noRoute] = ['ETIMEDOUT', 'ECONNREFUSED', 'ENETUNREACH'].map((code) =>
		systemError(code, 'connect'),
	);
	const reset = systemError('ECONNRESET', 'read');

	test.each([
		['of refused connections', [refused, refused], 'unreached', 'ECONNREFUSED'],
		['of a time-out and a refusal', [timedOut, refused], 'unreached', 'ETIMEDOUT'],
		['of no route and a time-out', [noRoute, timedOut], 'unreached', 'ENETUNREACH'],
		['stays in doubt if one came after the request', [reset, refused], 'lost', 'ECONNRESET'],
	])('%s', (_, errors, kind, code) => {
		const made = Object.assign(new AggregateError(errors), { code });
		for (const error of [made, new Error('fetch failed', { cause: made })]) {
			expect(toTransportFault(error)).toMatchObject({ kind, code });
		}
	});

	test('a time-out after the connection stands stays in doubt', () => {
		const code = 'ETIMEDOUT';
		for (const error of [systemError(code, 'read'), Object.assign(new Error('x'), { code })]) {
			expect(toTransportFault(error)).toMatchObject({ kind: 'timeout', code });
		}
	});
});

describe('n8n’s own protection is known by its error’s class, not by words', () => {
	test('a look-up of a host named after it that fails is told as that', async () => {
		const host = 'ssrf-lab.example.test';
		const message = `getaddrinfo ENOTFOUND ${host}`;
		lookUp(Object.assign(systemError('ENOTFOUND', 'getaddrinfo'), { message }), host);
		const access = { baseUrl: `https://${host}/v1` };
		const error = shown(await harness.textError(getModels(), { access }));
		expect(error.message).toBe('The gateway cannot be reached (ENOTFOUND)');
	});

	test('an error of such a class is told as it, whatever its words are', () => {
		class SsrfBlockedHostnameError extends Error {}
		const named = Object.assign(new Error('no'), { name: 'SsrfBlockedIpError' });
		for (const blocked of [new SsrfBlockedHostnameError('no'), named]) {
			const wrapped = Object.assign(new Error('no'), { cause: blocked, code: 'ERR_X' });
			expect(toTransportFault(wrapped)).toMatchObject({ kind: 'blocked' });
		}
		const spoken = Object.assign(new Error('SSRF SsrfBlockedIpError'), { code: 'ENOTFOUND' });
		expect(toTransportFault(spoken)).toMatchObject({ kind: 'unreached' });
	});
});
