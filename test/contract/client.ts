import { Agent, FormData, request } from 'undici';
import { startGateway, type DefaultKeyName, type GatewayOptions } from '../../gateway';
import { VirtualTime } from '../../scripts/engine/virtual-time';

const IMAGE = { model: 'aurora-image-1', prompt: 'a lighthouse' };
const images = [{ image_url: 'https://images.example.com/a.png' }];

/** The endpoints of the contract, each with the smallest body that it accepts. */
export const ENDPOINTS = {
	models: ['GET', '/v1/models'],
	responses: ['POST', '/v1/responses', { model: 'aurora-text-1', input: 'Hello there' }],
	generations: ['POST', '/v1/images/generations/async', { ...IMAGE, size: '64x48' }],
	edits: ['POST', '/v1/images/edits/async', { ...IMAGE, images }],
	task: ['GET', '/v1/images/tasks/imgtask_unknown'],
} satisfies Record<string, [method: string, path: string, body?: object]>;

export type Endpoint = keyof typeof ENDPOINTS;

/** Fields that differ from the smallest body (`undefined` removes one), a whole body, or a form. */
export type Change = Record<string, unknown> | string | FormData;

export interface Sending {
	/** Name of the key; `active` if absent, none if null. */
	key?: DefaultKeyName | null;
	/** Headers on top of those that the key and the body bring. */
	headers?: Record<string, string | string[]>;
	body?: string | Buffer | FormData | AsyncIterable<string>;
	signal?: AbortSignal;
}

export type Answer = Awaited<ReturnType<Client['send']>>;

/** Status, code and parameter of an error in one line. */
export function errorOf({ status, json }: Answer): string {
	const { error } = json as { error: { code: string; param?: string } };
	return [status, error.code, error.param].join(' ').trim();
}

/** An HTTP client that shares no code with the nodes. */
export class Client {
	private readonly agent = new Agent();

	constructor(private readonly gateway: Harness['gateway']) {}

	async open(method: string, path: string, { key = 'active', body, ...sending }: Sending = {}) {
		const authorization = key === null ? {} : { authorization: `Bearer ${this.gateway.keys[key]}` };
		const json = body === undefined || body instanceof FormData ? {} : JSON_TYPE;
		return await request(path.startsWith('http') ? path : this.gateway.origin + path, {
			method: method as 'GET',
			headers: { ...authorization, ...json, ...sending.headers },
			body: body as string,
			signal: sending.signal,
			dispatcher: this.agent,
		});
	}

	/** @param path after the origin, or a whole URL */
	async send(method: string, path: string, sending?: Sending) {
		const { statusCode: status, headers, body } = await this.open(method, path, sending);
		const bytes = Buffer.from(await body.arrayBuffer());
		const text = bytes.toString();
		return {
			...{ status, headers, bytes, text },
			get json() {
				return JSON.parse(text) as unknown;
			},
		};
	}

	async ask(endpoint: Endpoint, change: Change = {}, sending?: Sending) {
		const [method, path, smallest] = ENDPOINTS[endpoint];
		if (!smallest) return await this.send(method, path, sending);
		const whole = typeof change === 'string' || change instanceof FormData;
		const body = whole ? change : JSON.stringify({ ...smallest, ...change });
		return await this.send(method, path, { body, ...sending });
	}

	async submit(change?: Change, sending?: Sending): Promise<string> {
		return ((await this.ask('generations', change, sending)).json as { task_id: string }).task_id;
	}

	async poll(taskId: string, sending?: Sending) {
		return await this.send('GET', `/v1/images/tasks/${taskId}`, sending);
	}

	/** Fetches a file from the storage, without a key. */
	async download(url: string, sending: Sending = {}) {
		return await this.send('GET', url, { key: null, ...sending });
	}

	async close() {
		await this.agent.destroy();
	}
}

const JSON_TYPE = { 'content-type': 'application/json' };

export interface Harness {
	gateway: Awaited<ReturnType<typeof startGateway>>;
	client: Client;
	time: VirtualTime;
}

const running: Harness[] = [];

/** Starts a gateway on a clock that only the test moves, and a client for it. */
export async function start(options: GatewayOptions = {}): Promise<Harness> {
	const time = new VirtualTime();
	const gateway = await startGateway({ time: time.gateway, ...options });
	const harness = { gateway, time, client: new Client(gateway) };
	running.push(harness);
	return harness;
}

/** Submits a task, polls it after its 6 seconds, and gives the addresses of its images. */
export async function completed(
	{ client, time }: Pick<Harness, 'client' | 'time'>,
	change?: Change,
) {
	const id = await client.submit(change);
	await time.advance(6_000);
	const poll = await client.poll(id);
	const { result } = poll.json as { result?: { data: Array<{ url: string }> } };
	return { id, poll, urls: (result?.data ?? []).map(({ url }) => url) as [string, ...string[]] };
}

/** Resolves when the gateway handles this many requests. */
export async function inFlight({ gateway }: Harness, count: number) {
	while (gateway.inFlight !== count) await new Promise(setImmediate);
}

afterEach(async () => {
	for (const { gateway, client } of running.splice(0)) {
		await Promise.all([client.close(), gateway.close()]);
		expect(gateway.crashes).toEqual([]);
	}
});
