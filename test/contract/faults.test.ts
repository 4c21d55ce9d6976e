import { once } from 'node:events';
import { gzipSync } from 'node:zlib';
import * as catalogue from '../../gateway/faults/catalogue';
import { gatewayHelp, readGatewayWishes } from '../../scripts/gateway-options';
import { completed, start, type Answer, type Endpoint } from './client';

const { statusFault } = catalogue;
const named = (name: string) => catalogue.findFault(name)!;

async function faulty(rules: catalogue.FaultRule[], seed = 1, elsewhere = '') {
	const harness = await start();
	const setting = { time: harness.time.gateway, elsewhere };
	const intercept = catalogue.scripted(rules, setting, seed);
	Object.assign(harness.gateway.settings, { intercept, storageIntercept: intercept });
	return harness;
}

/** `seen`: what the client sees in place of the own reply of the gateway. */
type Row = { name: string; endpoint: Endpoint; seen: (own: Answer) => object };

const headers = (name: string, value: string | string[]) => () => ({ headers: { [name]: value } });
const body = (pattern: RegExp) => () => ({ text: expect.stringMatching(pattern) as string });

/*
 * The nodes recover from these faults. Without this table a fault that no longer happens would look
 * like a success. test/faults notices the others by their errors.
 */
test.each`
	name                                          | endpoint       | seen
	${'gzip'}                                     | ${'models'}    | ${({ bytes }: Answer) => ({ headers: { 'content-encoding': 'gzip' }, bytes: gzipSync(bytes) })}
	${'an unknown encoding'}                      | ${'models'}    | ${headers('content-encoding', 'x-rot13')}
	${'the content type of a web page'}           | ${'models'}    | ${headers('content-type', 'text/html')}
	${'the content type of a file'}               | ${'models'}    | ${headers('content-type', 'application/octet-stream')}
	${'each header twice'}                        | ${'models'}    | ${headers('content-type', ['application/json; charset=utf-8', 'application/json; charset=utf-8 again'])}
	${'no headers'}                               | ${'models'}    | ${({ headers: own }: Answer) => ({ headers: expect.not.objectContaining(own) as object })}
	${'a byte order mark'}                        | ${'models'}    | ${({ text }: Answer) => ({ text: `\ufeff${text}` })}
	${'unknown fields'}                           | ${'models'}    | ${body(/^{"x_new":{/)}
	${'prototype keys'}                           | ${'models'}    | ${body(/^{"constructor":{"__proto__":/)}
	${'a field of 500 levels'}                    | ${'models'}    | ${body(/^{"x_deep":\[{500}\]{500}/)}
	${'a field that comes twice'}                 | ${'models'}    | ${body(/^{"object":"first","object":"list"/)}
	${'an error in a 200'}                        | ${'responses'} | ${body(/"message":"server is busy"/)}
	${'success: false in a 200'}                  | ${'responses'} | ${body(/"message":"server is busy"/)}
	${'a code and a message in a 200'}            | ${'responses'} | ${body(/"message":"server is busy"/)}
	${'JSON instead of a stream'}                 | ${'responses'} | ${body(/^{"id":"resp_.*"status":"completed"/)}
	${'a stream with garbage between its events'} | ${'responses'} | ${body(/\n: comment\ndata: {"broken\n/)}
	${'a stream that is sent twice'}              | ${'responses'} | ${body(/\[DONE\][^]*\[DONE\]/)}
	${'a stream with Windows line ends'}          | ${'responses'} | ${body(/\r\n\r\n/)}
`('A fault changes the reply: $name', async ({ name, endpoint, seen }: Row) => {
	const { client, gateway } = await faulty([{ fault: named(name), times: 1 }]);
	const answer = await client.ask(endpoint, { stream: true });
	const isFree = endpoint === 'models' || name.endsWith('in a 200');
	expect(gateway.charges).toHaveLength(isFree ? 0 : 1);
	const own = await client.ask(endpoint, { stream: true });
	expect(answer).toMatchObject(seen(own));
	expect(own).not.toMatchObject(seen(own));
	expect(gateway.requests.map((request) => request.fault !== undefined)).toEqual([true, false]);
});

describe('Faults happen', () => {
	test('before a request is carried out, or after', async () => {
		const { client, gateway } = await faulty([
			{ fault: named('closed before the request was handled'), attempt: 1 },
			{ fault: named('closed before the reply'), attempt: 2 },
		]);
		for (const tasks of [0, 1]) {
			await expect(client.ask('generations')).rejects.toThrow();
			expect(gateway.tasks).toHaveLength(tasks);
		}
	});

	test('by route, key, attempt and number', async () => {
		const { client } = await faulty([
			{ fault: statusFault(500), route: 'models', key: 'second' },
			{ fault: statusFault(502), route: 'responses', attempt: (attempt) => attempt > 3 },
			{ fault: statusFault(503), route: 'responses', times: 2 },
		]);
		const seen = [await client.ask('models'), await client.ask('models', {}, { key: 'second' })];
		for (let sent = 0; sent < 4; sent++) seen.push(await client.ask('responses'));
		expect(seen.map(({ status }) => status)).toEqual([200, 500, 503, 503, 200, 502]);
	});

	test('by chance, in the same way with the same seed', async () => {
		const run = async (seed: number) => {
			const { client } = await faulty([{ fault: statusFault(429), probability: 0.3 }], seed);
			const inputs = Array.from({ length: 30 }, (_none, n) => `${n}`);
			const answers = inputs.map(async (input) => await client.ask('responses', { input }));
			return (await Promise.all(answers)).map(({ status }) => status);
		};
		const first = await run(1);
		const hits = first.filter((status) => status === 429).length;
		expect([hits > 3, hits < 16]).toEqual([true, true]);
		expect(await run(1)).toEqual(first);
		expect(await run(2)).not.toEqual(first);
	});

	test('at the storage; and a redirect leads to a server that records what it is sent', async () => {
		const elsewhere = await catalogue.startSniffer();
		const rules = [{ fault: named('307 to another origin'), route: 'image' as const }];
		const { client, time } = await faulty(rules, 1, elsewhere.origin);
		const { status, headers } = await client.download((await completed({ client, time })).urls[0]);
		expect(status).toBe(307);
		await client.download(String(headers.location), { key: 'active' });
		const authorization = expect.stringMatching(/^Bearer mak/) as string;
		const taken = { path: '/taken?from=here', headers: { authorization } };
		expect(elsewhere.seen).toMatchObject([taken]);
		await elsewhere.close();
	});

	test('"a stream in pieces of one byte" comes in many pieces', async () => {
		const { client } = await faulty([{ fault: named('a stream in pieces of one byte') }]);
		const body = JSON.stringify({ model: 'aurora-text-1', input: 'a', stream: true });
		const { body: pieces } = await client.open('POST', '/v1/responses', { body });
		const lengths = new Set<number>();
		pieces.on('data', (piece: Buffer) => lengths.add(piece.length));
		await once(pieces, 'end');
		expect([...lengths]).toEqual([1]);
	});
});

test('npm run gateway -- --help names every fault, and --fault accepts each name', () => {
	const help = gatewayHelp();
	for (const { name } of Object.values(catalogue.FAULT_GROUPS).flat()) {
		expect(help).toContain(`  ${name.replace(/^\d{3}/, 'STATUS')}`);
		expect(readGatewayWishes(['--fault', name]).fault?.name).toBe(name);
	}
});
