import tls from 'node:tls';
import type { IDataObject, INodeExecutionData, INodeType } from 'n8n-workflow';
import * as faults from '../../gateway/faults/catalogue';
import * as nodes from '../nodes/arrange';
import { newRecord, type RunRecord } from '../../scripts/engine/index';
import { expectNoSecret } from '../support/secrets';
import { CALL_SITES, type CallSite } from './call-sites';
import type { Row } from './expected';

/** Addresses that stand for the gateway's or the storage's own. */
export type BadAddress = 'refused' | keyof Awaited<ReturnType<typeof startFronts>>;

/** What a node does on an error: stop, continue, continue at the error output. */
export const MODES = ['throw', 'continueRegularOutput', 'continueErrorOutput'] as const;

export type Mode = (typeof MODES)[number];

/** Requests that time out at once, in real time. */
export type Timeouts = 'all' | 'wholeBodies';

type Run = { callSite: CallSite; mode: Mode; baseUrl: string; timeouts?: Timeouts };

interface Ended {
	failure?: { message: string; description?: string; details?: IDataObject; itemIndex?: number };
	outputs?: INodeExecutionData[][];
	left: unknown;
	record: RunRecord;
}

/** Milliseconds of real time after which a request of {@link Timeouts} is given up. */
const TIMEOUT_MS = 100;

/** Milliseconds that an idle time-out of a download sleeps at a time: no wait between requests. */
const IDLE_MS = 60_000;

const HOST = 'localhost';

/** Servers before a port by the addresses that they stand for, each with another certificate. */
async function startFronts(port: number, authority: ReturnType<typeof faults.newAuthority>) {
	const { newCertificate, startTlsFront } = faults;
	const trusted = newCertificate([HOST], { authority });
	const asking = { ...trusted, requestCert: true, rejectUnauthorized: true, ca: authority.cert };
	const start = async (certificate: Parameters<typeof startTlsFront>[0]) =>
		await startTlsFront(certificate, port);
	return {
		'self-signed': await start(newCertificate([HOST])),
		expired: await start(newCertificate([HOST], { authority, days: -2 })),
		'another host': await start(newCertificate(['gateway.example.com'], { authority })),
		'asks a client': await start({ ...asking, minVersion: 'TLSv1.3' }),
		'asks a client by TLS 1.2': await start({ ...asking, maxVersion: 'TLSv1.2' }),
		trusted: await start(trusted),
	};
}

/** Runs one request of a node after the other against a gateway at which it fails. */
export type FaultHarness = Awaited<ReturnType<typeof openFaultHarness>>;

export type Seen = Awaited<ReturnType<FaultHarness['run']>>;

export async function openFaultHarness() {
	const harness = await nodes.startHarness({ defaultSize: '16x16', taskLifetime: 10 ** 9 });
	const { gateway, time, access } = harness;
	const done = await nodes.submitted(harness);
	await time.advance(6000);
	gateway.settings.taskSeconds = 10 ** 8;
	const running = await nodes.submitted(harness, { prompt: 'A slow boat' });
	gateway.settings.taskSeconds = 6;
	const elsewhere = await faults.startSniffer();
	const authority = faults.newAuthority();
	const restoreTrust = trust(authority.cert);
	const fronts = {
		api: await startFronts(Number(new URL(gateway.origin).port), authority),
		storage: await startFronts(Number(new URL(gateway.storageUrl).port), authority),
	};
	const refused = `127.0.0.1:${await faults.freePort()}`;
	const allFronts = Object.values(fronts).flatMap((side) => Object.entries(side));

	const originOf = (side: 'api' | 'storage', address: BadAddress) =>
		address === 'refused' ? `http://${refused}` : `https://${HOST}:${fronts[side][address].port}`;

	const parameters: Record<CallSite, () => IDataObject> = {
		models: () => nodes.getModels({ limit: 1 }),
		response: () => nodes.createResponse(),
		stream: () => nodes.createResponse({ stream: true }),
		generate: () => nodes.generateImage({ options: { maxWait: 100 } }),
		edit: () => nodes.editImage({ options: { maxWait: 100 } }),
		get: () => nodes.getTask(running.id),
		wait: () => nodes.waitForTask(done.id),
		download: () => nodes.getTask(done.id),
	};

	async function execute({ callSite, mode, baseUrl, timeouts }: Run): Promise<Ended> {
		const isText = /^(model|response),/.test(CALL_SITES[callSite].operation);
		const node = isText ? nodes.textNode(time) : nodes.imageNode(time);
		const run = isText ? harness.text : harness.image;
		const record = newRecord();
		const options = {
			...{ record, node: timeouts ? impatient(node, timeouts) : node, access: { baseUrl } },
			...(mode !== 'throw' && { onError: mode }),
		};
		try {
			const { outputs } = await run(parameters[callSite](), options);
			const { error, error_details: details } = outputs[0]?.[0]?.json ?? {};
			const failure = { message: error as string, details: details as IDataObject };
			return { record, left: outputs, outputs, ...(error !== undefined && { failure }) };
		} catch (error) {
			const { message, description, context } = nodes.shown({ error: error as Error });
			const { details, itemIndex } = context;
			return { record, left: error, failure: { message, description, details, itemIndex } };
		}
	}

	function expectNothingLeft({ record, left, failure }: Ended, callSite: CallSite) {
		if (gateway.crashes.length > 0) throw new AggregateError(gateway.crashes, 'Gateway crashed');
		expectNoSecret(access.apiKey, record, left, elsewhere.seen, gateway.storageRequests);
		if (callSite !== 'download' && elsewhere.seen.length > 0) {
			throw new Error('Another origin was sent a request');
		}
		const stack = left instanceof Error ? left.stack : undefined;
		const logged = record.logs.map((log) => log.message);
		const texts = [failure?.message, failure?.description, stack, ...logged];
		if (texts.some((text) => text?.includes('signature='))) {
			throw new Error('The signature of an address stands in a message or a log');
		}
	}

	/** A failure without the names of this run. */
	function anonymous({ failure }: Ended): Partial<NonNullable<Ended['failure']>> {
		if (!failure) return {};
		const hosts = Object.values(fronts.storage).map(({ port }) => `${HOST}:${port}`);
		const names = [
			...[done.id, running.id].map((id) => [id, '{task}'] as const),
			...[new URL(gateway.storageUrl).host, refused, ...hosts].map((at) => [at, '{host}'] as const),
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
		const {
			message,
			description,
			details: { image_urls, partial_text, ...details } = {},
		} = failure;
		return {
			message: hide(message),
			...(description !== undefined && { description: hide(description) }),
			details: {
				...(JSON.parse(hide(JSON.stringify(details))) as IDataObject),
				...(Array.isArray(image_urls) && { image_urls: image_urls.length }),
				...(typeof partial_text === 'string' && { partial_text: partial_text.slice(0, 30) }),
			},
		};
	}

	return {
		/** Bytes that came through TLS to servers with which no handshake may succeed. */
		receivedByImpostors: () =>
			allFronts.reduce((sum, [name, front]) => sum + (name === 'trusted' ? 0 : front.received), 0),

		/**
		 * Lets a fault meet a request of a call site, each time that it is sent, and looks for the key
		 * in everything that this leaves behind.
		 * @returns how often it was sent, the seconds between, and the failure without the names of
		 * this run
		 */
		run: async ({ fault, address, timeouts }: Row, callSite: CallSite, mode: Mode) => {
			const setting = { time: time.gateway, elsewhere: elsewhere.origin };
			const { route } = CALL_SITES[callSite];
			const isDownload = callSite === 'download';
			for (const list of [gateway.requests, gateway.storageRequests, elsewhere.seen, time.waits]) {
				list.length = 0;
			}
			gateway.settings.storageIntercept = (exchange) =>
				isDownload && fault?.stage === exchange.stage ? fault.make(exchange, setting) : undefined;
			gateway.settings.intercept = (exchange) => {
				if (isDownload && address && exchange.reply) {
					const moved = originOf('storage', address);
					exchange.reply.body = String(exchange.reply.body).replaceAll(gateway.storageUrl, moved);
				}
				const isMet = exchange.route === route && fault?.stage === exchange.stage;
				return isMet ? fault.make(exchange, setting) : undefined;
			};
			const isMoved = address && !isDownload;
			const baseUrl = isMoved ? `${originOf('api', address)}/v1` : gateway.baseUrl;
			const ended = await execute({ callSite, mode, baseUrl, timeouts });
			// A rejection that nothing handles is known one turn later.
			await new Promise<void>((resolve) => setImmediate(resolve));
			expectNothingLeft(ended, callSite);
			const sent = gateway.requests.filter((request) => request.route === route);
			const starts = (isDownload ? gateway.storageRequests : sent).map((one) => one.startedAt);
			// Requests that reach no gateway are counted by the waits between them.
			const paused = time.waits.filter((ms) => ms !== IDLE_MS);
			const gaps = starts.slice(1).map((start, index) => start - starts[index]!);
			return {
				sent: starts.length || paused.length + 1,
				waits: (starts.length > 0 ? gaps : paused).map((ms) => Math.round(ms) / 1000),
				...anonymous(ended),
				...(ended.failure && { place: placeOf(ended) }),
			};
		},

		close: async () => {
			restoreTrust();
			await elsewhere.close();
			await Promise.all(allFronts.map(async ([, front]) => await front.close()));
			await harness.close();
		},
	};
}

/** How a failed item is handed to n8n. */
function placeOf({ failure, outputs = [] }: Ended) {
	const [item = { json: {}, pairedItem: undefined }] = outputs[0] ?? [];
	const { pairedItem } = item;
	return {
		items: outputs.flat().length,
		/** The item that it is linked to, or that the error names. */
		of:
			typeof pairedItem === 'object' && 'item' in pairedItem ? pairedItem.item : failure?.itemIndex,
		goesToErrorOutput: Object.hasOwn(item, 'error'),
		/** n8n replaces the JSON of an item by an error that it can see. */
		isReplaced: Object.keys(item).includes('error'),
	};
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

function trust(cert: string): () => void {
	const original = tls.createSecureContext;
	const mutable = tls as { createSecureContext: typeof tls.createSecureContext };
	mutable.createSecureContext = (options) => original({ ...options, ca: options?.ca ?? cert });
	return () => {
		mutable.createSecureContext = original;
	};
}
