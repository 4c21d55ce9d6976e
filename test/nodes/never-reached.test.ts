import dns from 'node:dns';
import { freePort } from '../../gateway/faults/catalogue';
import { toTransportFault } from '../../nodes/shared/n8n/http/transport-fault';
import { TransportFault } from '../../nodes/shared/api/http/transport';
import { createResponse, generateImage, getModels, NOWHERE, shown, useHarness } from './arrange';

const harness = useHarness();
afterEach(() => jest.restoreAllMocks());

/** An error as libuv and Node make it. */
const systemError = (code: string, syscall: string, more: object = {}) =>
	Object.assign(new Error(`${syscall} ${code} 192.0.2.1:443`), {
		code,
		syscall,
		errno: -1,
		...more,
	});

/** Lets a host have several addresses, as a look-up of it says. */
function resolveTo(host: string, ...addresses: Array<[address: string, family: number]>) {
	const original = dns.lookup;
	return jest.spyOn(dns, 'lookup').mockImplementation(((
		name: string,
		options: dns.LookupOptions,
		done: (error: null, found: unknown, family?: number) => void,
	) => {
		if (name !== host) return original(name, options, done as never);
		const all = addresses.map(([address, family]) => ({ address, family }));
		if (options.all) setImmediate(done, null, all);
		else setImmediate(done, null, all[0]?.address, all[0]?.family);
	}) as typeof dns.lookup);
}

const SENT_4_TIMES = 3;

describe('A gateway that was never reached is asked again, and nothing is in doubt:', () => {
	const NODES = [
		['a response', async (access: object) => await harness.textError(createResponse(), { access })],
		['an image', async (access: object) => await harness.imageError(generateImage(), { access })],
	] as const;

	test.each(NODES)('%s, of a host whose two addresses refuse the connection', async (_, run) => {
		const lookup = resolveTo(NOWHERE, ['127.0.0.1', 4], ['127.0.0.2', 4]);
		const error = shown(await run({ baseUrl: `https://${NOWHERE}:${await freePort()}/v1` }));
		expect(error.message).toBe('The gateway cannot be reached (ECONNREFUSED)');
		expect(error.context.details).toMatchObject({ retryable: true });
		expect(error.description).not.toContain('charged');
		expect(harness.time.waits).toHaveLength(SENT_4_TIMES);
		expect(lookup).toHaveBeenCalled();
	});

	test.each([
		['ETIMEDOUT', 'connect'],
		['ECONNRESET', 'connect'],
		['EHOSTUNREACH', 'connect'],
		['EINVAL', 'connect'],
		['ENOTFOUND', 'getaddrinfo'],
		['EAI_FAIL', 'getaddrinfo'],
		['ETIMEOUT', 'queryA'],
	])('%s of %s', (code, syscall) => {
		expect(toTransportFault(systemError(code, syscall))).toMatchObject({ kind: 'unreached', code });
	});
});

describe('An error that Node makes of several', () => {
	const [timedOut, refused, noRoute] = [
		systemError('ETIMEDOUT', 'connect'),
		systemError('ECONNREFUSED', 'connect'),
		systemError('ENETUNREACH', 'connect'),
	];
	const aggregate = (...errors: Array<Error & { code: string }>) =>
		Object.assign(new AggregateError(errors), { code: errors[0]?.code });
	const kindOf = (error: unknown) => {
		const fault = toTransportFault(error);
		return fault instanceof TransportFault ? [fault.kind, fault.code] : fault;
	};

	test.each([
		['refused connections', [refused, refused], ['unreached', 'ECONNREFUSED']],
		['a time-out and a refusal', [timedOut, refused], ['unreached', 'ETIMEDOUT']],
		['no route and a time-out', [noRoute, timedOut], ['unreached', 'ENETUNREACH']],
	] as const)('of %s', (_, errors, expected) => {
		const made = aggregate(...errors);
		const wrapped = new Error('fetch failed', { cause: made });
		expect([kindOf(made), kindOf(wrapped)]).toEqual([expected, expected]);
	});

	test('stays in doubt if one of them came after the request may have been sent', () => {
		const reset = systemError('ECONNRESET', 'read');
		expect(kindOf(aggregate(reset, refused))).toEqual(['lost', 'ECONNRESET']);
	});

	test('a time-out after the connection stands stays in doubt', () => {
		expect(kindOf(systemError('ETIMEDOUT', 'read'))).toEqual(['timeout', 'ETIMEDOUT']);
		expect(kindOf(Object.assign(new Error('x'), { code: 'ETIMEDOUT' }))).toEqual([
			'timeout',
			'ETIMEDOUT',
		]);
	});
});

describe('n8n’s own protection is known by its error’s class, not by words', () => {
	test('a look-up of a host named after it that fails is told as that', async () => {
		const host = 'ssrf-lab.example.test';
		jest.spyOn(dns, 'lookup').mockImplementation(((
			name: string,
			_options: unknown,
			done: (error: Error) => void,
		) => {
			const message = `getaddrinfo ENOTFOUND ${name}`;
			setImmediate(done, Object.assign(systemError('ENOTFOUND', 'getaddrinfo'), { message }));
		}) as never);
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
