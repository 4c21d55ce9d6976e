import { VirtualTime } from '../../scripts/engine/virtual-time';
import { host, watchRejections } from '../support/rejections';
import { findSecret } from '../support/secrets';

/*
 * Only what no other test would notice: a clock that runs on during a request hides time-outs, and a
 * search that finds nothing hides a leaked key or an error that nothing handles.
 */

const turns = async (count: number) => {
	for (let n = 0; n < count; n++) await new Promise<void>((resolve) => setImmediate(resolve));
};

test('virtual time: stands still while a request is under way', async () => {
	const time = new VirtualTime();
	const timeout = time.sleep(1000).then(() => 'timed out');
	const answer = time.track(turns(50).then(() => 'answered'));
	expect(await time.drive(Promise.race([answer, timeout]))).toBe('answered');
	expect(await time.drive(timeout)).toBe('timed out');
});

test('virtual time: goes on while the gateway waits before it answers the request', async () => {
	const time = new VirtualTime();
	const began = time.now();
	await time.drive(time.track(time.gateway.sleep(20_000)));
	expect(time.now() - began).toBe(20_000);
});

describe('the search for a secret', () => {
	const KEY = 'sk-test/4f9+a81c';
	const request = { value: { key: KEY }, enumerable: false };
	const hidden = Object.defineProperty(new Error('outside'), 'request', request);
	const circular: Record<string, unknown> = { deep: { key: KEY } };
	circular.self = circular;

	test.each<[string, unknown]>([
		['a string', `Bearer ${KEY}`],
		['a property name', { [KEY]: 1 }],
		['a circular structure', circular],
		['the cause of an error', new Error('x', { cause: new Error(KEY) })],
		['a hidden field of an error', hidden],
		['a Map', new Map([['a', KEY]])],
		['bytes', { body: Buffer.from(`x${KEY}`) }],
		['headers', new Headers({ authorization: KEY })],
		['a URL', `https://a.test/?k=${encodeURIComponent(KEY)}`],
		['base64', btoa(KEY)],
		['base64 behind one byte', btoa(`:${KEY}`)],
		['base64 behind two bytes', btoa(`u:${KEY}!`)],
		['hex', Buffer.from(KEY).toString('hex')],
		['JSON only', { toJSON: () => ({ k: KEY }) }],
	])('finds it in %s', (_where, thing) => {
		expect(findSecret(KEY, thing)).not.toEqual([]);
	});

	test('finds nothing where there is nothing', () => {
		expect(findSecret(KEY, { a: new Error('x'), b: KEY.slice(0, 10) }, null, 7)).toEqual([]);
	});
});

test('a rejection that nothing handles is seen', async () => {
	// Jest would fail the test for it.
	const others = host.listeners('unhandledRejection');
	host.removeAllListeners('unhandledRejection');
	const watch = watchRejections();
	void Promise.reject(new Error('left alone'));
	await turns(1);
	watch.stop();
	for (const other of others) host.on('unhandledRejection', other);
	expect(watch.seen).toEqual([new Error('left alone')]);
});
