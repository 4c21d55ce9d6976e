import { VirtualTime } from '../../scripts/engine/virtual-time';
import { findSecret } from '../support/secrets';

/*
 * Only what no other test would notice: a clock that runs on during a request hides time-outs, and a
 * search that finds nothing hides a leaked key.
 */

const turns = async (count: number) => {
	for (let n = 0; n < count; n++) await new Promise<void>((resolve) => setImmediate(resolve));
};

test('virtual time stands still while a request is under way, and goes on while its gateway waits', async () => {
	const time = new VirtualTime();
	const timeout = time.sleep(1000).then(() => 'timed out');
	const answer = time.track(turns(50).then(() => 'answered'));
	expect(await time.drive(Promise.race([answer, timeout]))).toBe('answered');
	expect(await time.drive(timeout)).toBe('timed out');
	const began = time.now();
	await time.drive(time.track(time.gateway.sleep(20_000)));
	expect(time.now() - began).toBe(20_000);
});

const KEY = 'sk-test/4f9+a81c';
const request = { value: { key: KEY }, enumerable: false };
const circular: Record<string, unknown> = { deep: { key: KEY } };
circular.self = circular;

test.each<[string, unknown]>([
	['a string', `Bearer ${KEY}`],
	['a property name', { [KEY]: 1 }],
	['a circular structure', circular],
	['the cause of an error', new Error('x', { cause: new Error(KEY) })],
	['a hidden field of an error', Object.defineProperty(new Error('x'), 'request', request)],
	['a Map', new Map([['a', KEY]])],
	['bytes', { body: Buffer.from(`x${KEY}`) }],
	['headers', new Headers({ authorization: KEY })],
	['a URL', `https://a.test/?k=${encodeURIComponent(KEY)}`],
	['base64 behind no, one and two bytes', ['', ':', 'u:'].map((start) => btoa(`${start}${KEY}!`))],
	['hex', Buffer.from(KEY).toString('hex')],
	['JSON only', { toJSON: () => ({ k: KEY }) }],
])(
	'the search for a secret finds it in %s, and nothing where there is nothing',
	(_where, thing) => {
		for (const one of [thing].flat()) expect(findSecret(KEY, one)).not.toEqual([]);
		expect(findSecret('sk-test/other', thing, new Error('x'), null, 7)).toEqual([]);
	},
);
