import tls from 'node:tls';
import type { IDataObject, INodeExecutionData, INodeType } from 'n8n-workflow';
import { ModelAccessApi } from '../../credentials/ModelAccessApi.credentials';
import type { ImageTask } from '../../gateway';
import {
	freePort,
	newAuthority,
	newCertificate,
	startSniffer,
	startTlsFront,
	type Sniffer,
	type TlsFront,
} from '../../gateway/faults/catalogue';
import {
	createResponse,
	editImage,
	generateImage,
	getModels,
	getTask,
	imageNode,
	shown,
	startHarness,
	submitted,
	textNode,
	waitForTask,
	type Harness,
} from '../nodes/arrange';
import {
	newRecord,
	runNode,
	type RunNodeOptions,
	type RunRecord,
} from '../../scripts/engine/index';
import { watchRejections } from '../support/rejections';
import { expectNoSecret } from '../support/secrets';
import { CALL_SITES, type CallSite } from './call-sites';
import type { Row } from './expected';

/** Addresses that stand for the gateway's or the storage's own. */
export type BadAddress =
	| 'refused'
	| 'self-signed'
	| 'expired'
	| 'another host'
	| 'asks a client'
	| 'asks a client by TLS 1.2'
	| 'trusted';

/** What a node does on an error: stop, continue, continue at the error output. */
export type Mode = 'throw' | 'continueRegularOutput' | 'continueErrorOutput';

export const MODES: Mode[] = ['throw', 'continueRegularOutput', 'continueErrorOutput'];

/** Requests that time out at once, in real time. */
export type Timeouts = 'all' | 'wholeBodies';

interface Failed {
	message: string;
	description?: string;
	details?: IDataObject;
	/** Of an error that the node throws. */
	itemIndex?: number;
}

interface Ended {
	failure?: Failed;
	outputs?: INodeExecutionData[][];
	left: unknown;
	record: RunRecord;
}

/** What a user sees of a run. */
export interface Seen {
	/** How often the request was sent. */
	sent: number;
	/** Seconds between. */
	waits: number[];
	message?: string;
	description?: string;
	details?: IDataObject;
	/** What is wrong with how a failed item is handed to n8n. */
	wrongItem: string[];
}

/** Milliseconds of real time after which a request of {@link Timeouts} is given up. */
const TIMEOUT_MS = 100;

/** Milliseconds that an idle time-out of a download sleeps at a time: no wait between requests. */
const IDLE_MS = 60_000;

const HOST = 'localhost';

/** Runs one request of a node after the other against a gateway at which it fails. */
export class FaultHarness {
	private readonly rejections = watchRejections();
	private readonly fronts: TlsFront[] = [];
	private readonly impostors: TlsFront[] = [];
	private readonly ports = { api: {}, storage: {} } as Record<
		'api' | 'storage',
		Record<BadAddress, number>
	>;
	private restoreTrust = () => {};

	private constructor(
		private readonly harness: Harness,
		private readonly elsewhere: Sniffer,
		private readonly done: ImageTask,
		private readonly running: ImageTask,
	) {}

	static async open(): Promise<FaultHarness> {
		const harness = await startHarness({ defaultSize: '16x16', taskLifetime: 10 ** 9 });
		const done = await submitted(harness);
		await harness.time.advance(6000);
		harness.gateway.settings.taskSeconds = 10 ** 8;
		const running = await submitted(harness, { prompt: 'A slow boat' });
		harness.gateway.settings.taskSeconds = 6;
		const faults = new FaultHarness(harness, await startSniffer(), done, running);
		await faults.openAddresses();
		return faults;
	}

	private async openAddresses() {
		const { gateway } = this.harness;
		const authority = newAuthority();
		this.restoreTrust = trust(authority.cert);
		const trusted = newCertificate([HOST], { authority });
		const asking = { ...trusted, requestCert: true, rejectUnauthorized: true, ca: authority.cert };
		const certificates = {
			'self-signed': newCertificate([HOST]),
			expired: newCertificate([HOST], { authority, days: -2 }),
			'another host': newCertificate(['gateway.example.com'], { authority }),
			'asks a client': { ...asking, minVersion: 'TLSv1.3' },
			'asks a client by TLS 1.2': { ...asking, maxVersion: 'TLSv1.2' },
			trusted,
		} satisfies Record<string, Parameters<typeof startTlsFront>[0]>;
		for (const [side, target] of [
			['api', gateway.origin],
			['storage', gateway.storageUrl],
		] as const) {
			this.ports[side].refused = await freePort();
			for (const [name, certificate] of Object.entries(certificates)) {
				const front = await startTlsFront(certificate, Number(new URL(target).port));
				this.fronts.push(front);
				if (name !== 'trusted') this.impostors.push(front);
				this.ports[side][name as BadAddress] = front.port;
			}
		}
	}

	async close() {
		this.restoreTrust();
		this.rejections.stop();
		await this.elsewhere.close();
		await Promise.all(this.fronts.map(async (front) => await front.close()));
		await this.harness.close();
	}

	/** Bytes that came through TLS to servers with which no handshake may succeed. */
	get receivedByImpostors(): number {
		return this.impostors.reduce((sum, { received }) => sum + received, 0);
	}

	/**
	 * Lets a fault meet a request of a call site, each time that it is sent, and looks for the key in
	 * everything that this leaves behind.
	 * @returns what a user sees, without the names of this run
	 */
	async run({ fault, address, timeouts }: Row, callSite: CallSite, mode: Mode): Promise<Seen> {
		const { harness, elsewhere } = this;
		const { gateway, time } = harness;
		const setting = { time: time.gateway, elsewhere: elsewhere.origin };
		const { route } = CALL_SITES[callSite];
		const isDownload = callSite === 'download';
		for (const list of [gateway.requests, gateway.storageRequests, elsewhere.seen, time.waits]) {
			list.length = 0;
		}
		gateway.settings.storageIntercept = (exchange) =>
			isDownload && fault?.stage === exchange.stage ? fault.make(exchange, setting) : undefined;
		gateway.settings.intercept = (exchange) => {
			if (isDownload && address) this.moveStorage(exchange.reply, address);
			return exchange.route === route && fault?.stage === exchange.stage
				? fault.make(exchange, setting)
				: undefined;
		};
		const ended = await this.execute(callSite, mode, {
			baseUrl: address && !isDownload ? this.address('api', address) : gateway.baseUrl,
			timeouts,
		});
		// A rejection that nothing handles is known one turn later.
		await new Promise<void>((resolve) => setImmediate(resolve));
		this.expectNothingLeft(ended, callSite);
		const starts = isDownload
			? gateway.storageRequests.map(({ startedAt }) => startedAt)
			: gateway.requests.filter((sent) => sent.route === route).map(({ startedAt }) => startedAt);
		// Requests that reach no gateway are counted by the waits between them.
		const paused = time.waits.filter((ms) => ms !== IDLE_MS);
		const gaps = starts.slice(1).map((start, index) => start - starts[index]!);
		return {
			sent: starts.length || paused.length + 1,
			waits: (starts.length > 0 ? gaps : paused).map((ms) => Math.round(ms) / 1000),
			...this.anonymous(ended),
			wrongItem: wrongItem(ended, mode),
		};
	}

	private async execute(
		callSite: CallSite,
		mode: Mode,
		{ baseUrl, timeouts }: { baseUrl: string; timeouts?: Timeouts },
	): Promise<Ended> {
		const { harness, done, running } = this;
		const parameters: Record<CallSite, () => IDataObject> = {
			models: () => getModels({ limit: 1 }),
			response: () => createResponse(),
			stream: () => createResponse({ stream: true }),
			generate: () => generateImage({ options: { maxWait: 100 } }),
			edit: () => editImage({ options: { maxWait: 100 } }),
			get: () => getTask(running.id),
			wait: () => waitForTask(done.id),
			download: () => getTask(done.id),
		};
		const node = (/^(model|response),/.test(CALL_SITES[callSite].operation) ? textNode : imageNode)(
			harness.time,
		);
		const record = newRecord();
		const options: RunNodeOptions = {
			node: timeouts ? impatient(node, timeouts) : node,
			parameters: parameters[callSite]() as RunNodeOptions['parameters'],
			time: harness.time,
			credentials: { modelAccessApi: { baseUrl, apiKey: harness.access.apiKey } },
			credentialTypes: [new ModelAccessApi()],
			record,
			...(mode !== 'throw' && { onError: mode }),
		};
		try {
			const { outputs, hints, nodeContext, runExecutionData } = await runNode(options);
			const left = { outputs, hints, nodeContext, runExecutionData };
			const { error, error_details } = outputs[0]?.[0]?.json ?? {};
			if (error === undefined) return { record, left, outputs };
			const failure = { message: error as string, details: error_details as IDataObject };
			return { record, left, outputs, failure };
		} catch (error) {
			const { message, description, context } = shown({ error: error as Error });
			const { details, itemIndex } = context;
			return { record, left: error, failure: { message, description, details, itemIndex } };
		}
	}

	private expectNothingLeft({ record, left, failure }: Ended, callSite: CallSite) {
		const { harness, elsewhere } = this;
		const { crashes, storageRequests } = harness.gateway;
		const unhandled = this.rejections.seen.splice(0);
		if (unhandled.length > 0) throw new AggregateError(unhandled, 'A rejection was not handled');
		if (crashes.length > 0) throw new AggregateError(crashes, 'The gateway crashed');
		expectNoSecret(harness.access.apiKey, record, left, elsewhere.seen, storageRequests);
		if (callSite !== 'download' && elsewhere.seen.length > 0) {
			throw new Error('Another origin was sent a request');
		}
		const { message, description } = failure ?? {};
		const stack = left instanceof Error ? left.stack : undefined;
		const texts = [message, description, stack, ...record.logs.map((log) => log.message)];
		if (texts.some((text) => text?.includes('signature='))) {
			throw new Error('The signature of an address stands in a message or a log');
		}
	}

	/** A failure without the names of this run. */
	private anonymous({ failure }: Ended) {
		if (!failure) return {};
		const { gateway } = this.harness;
		const names = [
			...[this.done.id, this.running.id].map((id) => [id, '{task}'] as const),
			[new URL(gateway.storageUrl).host, '{host}'] as const,
			...Object.values(this.ports.storage).map((port) => [`${HOST}:${port}`, '{host}'] as const),
			[`127.0.0.1:${this.ports.storage.refused}`, '{host}'] as const,
			...gateway.requests.map(({ id }) => [id, '{request}'] as const),
		];
		const hide = (text: string) =>
			names
				.reduce((hidden, [name, sign]) => hidden.replaceAll(name, sign), text)
				.replace(/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, '{sent}')
				// Newer versions of OpenSSL name no version of SSL.
				.replace('ERR_SSL_SSL/TLS_ALERT', 'ERR_SSL_SSLV3_ALERT')
				.replace(/(is not JSON: )\{"(id|object)":".*/, '$1{cut}')
				.replace(/\(\d+ bytes/, '({size} bytes');
		const { message, description, details: { image_urls, ...details } = {} } = failure;
		return {
			message: hide(message),
			...(description !== undefined && { description: hide(description) }),
			details: {
				...(JSON.parse(hide(JSON.stringify(details))) as IDataObject),
				...(Array.isArray(image_urls) && { image_urls: image_urls.length }),
			},
		};
	}

	private address(side: 'api' | 'storage', address: BadAddress): string {
		const port = this.ports[side][address];
		const origin = address === 'refused' ? `http://127.0.0.1:${port}` : `https://${HOST}:${port}`;
		return side === 'api' ? `${origin}/v1` : origin;
	}

	private moveStorage(reply: { body: string | Buffer } | undefined, address: BadAddress) {
		if (!reply) return;
		const moved = this.address('storage', address);
		reply.body = String(reply.body).replaceAll(this.harness.gateway.storageUrl, moved);
	}
}

/** What is wrong with how a failed item is handed to n8n. */
function wrongItem({ failure, outputs = [] }: Ended, mode: Mode): string[] {
	const [item] = outputs[0] ?? [];
	if (!failure) return [];
	if (mode === 'throw') {
		if (item) return ['the node did not throw'];
		return failure.itemIndex === 0 ? [] : ['the error does not name its item'];
	}
	if (!item) return ['the node did not continue'];
	const { pairedItem } = item;
	const isLinked = typeof pairedItem === 'object' && 'item' in pairedItem && pairedItem.item === 0;
	const goesToErrorOutput = Object.hasOwn(item, 'error');
	const faults = [
		[outputs.flat().length !== 1, 'there is not exactly one item'],
		[!isLinked, 'the item is not linked to its input'],
		[goesToErrorOutput !== (mode === 'continueErrorOutput'), 'the item goes to the wrong output'],
		[Object.keys(item).includes('error'), 'n8n would replace the JSON of the item'],
	] as const;
	return faults.filter(([isWrong]) => isWrong).map(([, what]) => what);
}

/** The node, its requests given up at once where nothing arrives. */
function impatient(node: INodeType, timeouts: Timeouts): INodeType {
	return {
		...node,
		async execute() {
			const { helpers } = this;
			// eslint-disable-next-line @typescript-eslint/unbound-method
			const send = helpers.httpRequestWithAuthentication;
			helpers.httpRequestWithAuthentication = async function (type, options, more) {
				const isImpatient = timeouts === 'all' || options.encoding !== 'stream';
				const timeout = isImpatient ? TIMEOUT_MS : options.timeout;
				return (await send.call(this, type, { ...options, timeout }, more)) as unknown;
			};
			return (await node.execute?.call(this)) ?? [];
		},
	};
}

/** Lets TLS connections of this process trust this authority alone. */
function trust(cert: string): () => void {
	const original = tls.createSecureContext;
	const mutable = tls as { createSecureContext: typeof tls.createSecureContext };
	mutable.createSecureContext = (options) => original({ ...options, ca: options?.ca ?? cert });
	return () => {
		mutable.createSecureContext = original;
	};
}
