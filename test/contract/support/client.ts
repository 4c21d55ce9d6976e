import { Agent, request } from 'undici';
import { VirtualTime } from '../../../scripts/engine/virtual-time';
import {
	startGateway,
	type DefaultKeyName,
	type Gateway,
	type GatewayOptions,
} from '../../../gateway';

/** What came back, read to its end. */
export class Answer {
	constructor(
		readonly status: number,
		readonly headers: Record<string, string | string[] | undefined>,
		readonly bytes: Buffer,
	) {}

	get text() {
		return this.bytes.toString('utf8');
	}

	get json(): unknown {
		return JSON.parse(this.text) as unknown;
	}

	/** The value at a dotted path of the JSON body. */
	at(path: string): unknown {
		let value: unknown = this.json;
		for (const step of path.split('.')) value = (value as Record<string, unknown> | null)?.[step];
		return value;
	}

	/** The string at a dotted path of the JSON body. */
	string(path: string): string {
		const value = this.at(path);
		if (typeof value !== 'string') throw new Error(`${path} is no string in ${this.text}`);
		return value;
	}
}

export interface Sending {
	/** Name of the key; `active` if absent, none if null. */
	key?: DefaultKeyName | null;
	/** Raw headers; they come on top of those that `key` and the body bring. */
	headers?: Record<string, string | string[]>;
	body?: string | Buffer;
	signal?: AbortSignal;
}

/** A client that knows nothing but HTTP. */
export class Client {
	private readonly agent = new Agent();

	constructor(private readonly gateway: Gateway) {}

	/** @param path after the origin, or a whole URL */
	async send(method: string, path: string, sending: Sending = {}): Promise<Answer> {
		const reply = await this.open(method, path, sending);
		return new Answer(reply.statusCode, reply.headers, Buffer.from(await reply.body.arrayBuffer()));
	}

	/** As {@link send}, with the body still to be read. */
	async open(
		method: string,
		path: string,
		{ key = 'active', headers, body, signal }: Sending = {},
	) {
		const authorization = key === null ? {} : { authorization: `Bearer ${this.gateway.keys[key]}` };
		return await request(path.startsWith('http') ? path : this.gateway.origin + path, {
			method: method as 'GET',
			headers: {
				...authorization,
				...(body === undefined ? {} : { 'content-type': 'application/json' }),
				...headers,
			},
			body,
			signal,
			dispatcher: this.agent,
		});
	}

	async get(path: string, sending?: Sending) {
		return await this.send('GET', path, sending);
	}

	/** Sends `value` as JSON. */
	async post(path: string, value: unknown, sending?: Sending) {
		return await this.send('POST', path, { ...sending, body: JSON.stringify(value) });
	}

	/** A response, with the smallest body that works; `fields` go on top. */
	async respond(fields: Record<string, unknown> = {}, sending?: Sending) {
		return await this.post('/v1/responses', { ...RESPONSE, ...fields }, sending);
	}

	/** A generation, with the smallest body that works; `fields` go on top. */
	async generate(fields: Record<string, unknown> = {}, sending?: Sending) {
		return await this.post('/v1/images/generations/async', { ...PICTURE, ...fields }, sending);
	}

	async poll(taskId: string, sending?: Sending) {
		return await this.get(`/v1/images/tasks/${taskId}`, sending);
	}

	/** What a browser or downloader sends to the storage: no key. */
	async download(url: string) {
		return await this.get(url, { key: null });
	}

	/** Sends a form: texts and files. */
	async form(path: string, parts: Array<[string, string | FormPart]>, sending?: Sending) {
		const { body, type } = encodeForm(parts);
		return await this.send('POST', path, { ...sending, body, headers: { 'content-type': type } });
	}

	async close() {
		await this.agent.destroy();
	}
}

export const RESPONSE = { model: 'aurora-text-1', input: 'Hello there' };
export const PICTURE = { model: 'aurora-image-1', prompt: 'a lighthouse', size: '64x48' };

/** A file in a form. */
export interface FormPart {
	name: string;
	type: string;
	bytes: Buffer;
}

function encodeForm(parts: Array<[string, string | FormPart]>) {
	const boundary = 'contract-boundary-7MA4YWxkTrZu0gW';
	const chunks = parts.flatMap(([field, part]) => {
		const head = `--${boundary}\r\nContent-Disposition: form-data; name="${field}"`;
		return typeof part === 'string'
			? [Buffer.from(`${head}\r\n\r\n${part}\r\n`)]
			: [
					Buffer.from(`${head}; filename="${part.name}"\r\nContent-Type: ${part.type}\r\n\r\n`),
					part.bytes,
					Buffer.from('\r\n'),
				];
	});
	return {
		body: Buffer.concat([...chunks, Buffer.from(`--${boundary}--\r\n`)]),
		type: `multipart/form-data; boundary=${boundary}`,
	};
}

interface Scene {
	gateway: Gateway;
	client: Client;
	time: VirtualTime;
}

const running: Scene[] = [];

/** A gateway in time that stands still until it is moved, and a client for it. */
export async function setTheScene(options: GatewayOptions = {}): Promise<Scene> {
	const time = new VirtualTime();
	const gateway = await startGateway({ time: time.gateway, ...options });
	const scene = { gateway, time, client: new Client(gateway) };
	running.push(scene);
	return scene;
}

afterEach(async () => {
	for (const { gateway, client } of running.splice(0)) {
		await Promise.all([client.close(), gateway.close()]);
		expect(gateway.crashes).toEqual([]);
	}
});
