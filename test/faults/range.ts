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
	type NamedFault,
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
	startStory,
	submitted,
	textNode,
	waitForTask,
	type Story,
} from '../nodes/arrange';
import { newRecord, runNode, type RunNodeOptions } from '../../scripts/engine/index';
import { watchRejections, type RejectionWatch } from '../support/rejections';
import { expectNoSecret } from '../support/secrets';
import { PLACES, type Place } from './places';
import { Recording } from './recording';

/** An address at which no gateway can be talked to. */
export type BadAddress = 'refused' | 'self-signed' | 'expired' | 'another host' | 'trusted';

/** What a node can do on an error: stop, go on, go on at the error output. */
export const MODES = ['throw', 'continueRegularOutput', 'continueErrorOutput'] as const;

export type Mode = (typeof MODES)[number];

/** Requests whose time-out passes at once, in real time. */
export type Hurry = 'all' | 'plain';

export interface Attack {
	place: Place;
	fault?: NamedFault;
	address?: BadAddress;
	mode?: Mode;
	hurry?: Hurry;
	/** What the same attack brought in another mode: the same once more, without sockets. */
	again?: Recording;
}

/** What a run came to, as somebody sees it who knows neither task, host nor request by name. */
export interface Outcome {
	requests: number;
	/** Seconds between the requests. */
	waits: number[];
	message?: string;
	description?: string;
	details?: IDataObject;
	/** What is wrong with how an error is handed on. */
	amiss: string[];
	/** Of an error that came of whole replies. */
	recording?: Recording;
}

/** Milliseconds of real time after which a hurried request is given up. */
const HURRY_MS = 100;

const HOST = 'localhost';

/** A firing range: a gateway, nodes, and servers of somebody else, for many faults in a row. */
export class Range {
	private constructor(
		readonly story: Story,
		readonly elsewhere: Sniffer,
		private readonly done: ImageTask,
		private readonly running: ImageTask,
		private readonly ports: Record<'api' | 'storage', Record<BadAddress, number>>,
		private readonly fronts: TlsFront[],
		private readonly rejections: RejectionWatch,
		private readonly restore: () => void,
	) {}

	/** @param withTls whether there are servers with certificates, good and bad */
	static async open({ withTls = true } = {}): Promise<Range> {
		const rejections = watchRejections();
		const story = await startStory({ defaultSize: '16x16', taskLifetime: 10 ** 9 });
		const elsewhere = await startSniffer();
		const done = await submitted(story);
		await story.time.advance(6000);
		story.gateway.settings.taskSeconds = 10 ** 8;
		const running = await submitted(story, { prompt: 'A slow boat' });
		story.gateway.settings.taskSeconds = 6;

		const authority = newAuthority();
		const certificates = withTls && {
			'self-signed': newCertificate([HOST]),
			expired: newCertificate([HOST], { authority, days: -2 }),
			'another host': newCertificate(['gateway.example.com'], { authority }),
			trusted: newCertificate([HOST], { authority }),
		};
		const fronts: TlsFront[] = [];
		const portsTo = async (target: string) => {
			const ports = { refused: await freePort() } as Record<BadAddress, number>;
			for (const [name, certificate] of Object.entries(certificates || {})) {
				const front = await startTlsFront(certificate, Number(new URL(target).port));
				fronts.push(front);
				ports[name as BadAddress] = front.port;
			}
			return ports;
		};
		const ports = {
			api: await portsTo(story.gateway.origin),
			storage: await portsTo(story.gateway.storageUrl),
		};
		const restore = withTls ? trust(authority.cert) : () => {};
		return new Range(story, elsewhere, done, running, ports, fronts, rejections, restore);
	}

	async close() {
		this.restore();
		this.rejections.stop();
		await Promise.all([
			this.elsewhere.close(),
			...this.fronts.map(async (front) => await front.close()),
		]);
		await this.story.close();
	}

	/**
	 * Lets a fault meet a request of an operation, each time that it is sent, and looks for the key
	 * in everything that this leaves behind.
	 */
	async attack({ place, fault, address, mode = 'throw', hurry, again }: Attack): Promise<Outcome> {
		const { story, elsewhere } = this;
		const { gateway, time } = story;
		const setting = { time: time.gateway, elsewhere: elsewhere.origin };
		const { route } = PLACES[place];
		gateway.requests.length = 0;
		gateway.storageRequests.length = 0;
		elsewhere.seen.length = 0;
		time.waits.length = 0;
		gateway.settings.storageIntercept = (exchange) =>
			place === 'download' && fault?.stage === exchange.stage
				? fault.make(exchange, setting)
				: undefined;
		gateway.settings.intercept = (exchange) => {
			if (place === 'download' && address) this.moveStorage(exchange.reply, address);
			return exchange.route === route && fault?.stage === exchange.stage
				? fault.make(exchange, setting)
				: undefined;
		};
		const recording = again ?? new Recording(time);
		const ended = await this.run(place, mode, {
			prepare: (node) => {
				if (again) return again.playing(node);
				return recording.taking(hurry ? hurried(node, hurry) : node);
			},
			baseUrl: address && place !== 'download' ? this.address('api', address) : gateway.baseUrl,
		});
		// What nobody handles is known a turn later.
		await new Promise<void>((resolve) => setImmediate(resolve));
		this.expectNothingLeft(ended, place);
		if (!again) recording.requestIds = gateway.requests.map(({ id }) => id);
		const records = [
			...gateway.requests.filter((record) => record.route === route),
			...(place === 'download' ? gateway.storageRequests : []),
		];
		const starts = again?.starts ?? records.map(({ startedAt }) => startedAt);
		const paused = time.waits.filter((ms) => ms !== IDLE_MS);
		const unseen = starts.length === 0;
		return {
			requests: unseen ? paused.length + 1 : starts.length,
			waits: (unseen ? paused : starts.slice(1).map((start, index) => start - starts[index]!)).map(
				(ms) => ms / 1000,
			),
			...this.anonymous(ended.failure, recording.requestIds),
			amiss: amissOf(ended, mode),
			...(ended.failure && !STREAMED.includes(place) && { recording }),
		};
	}

	/** Bytes that came through TLS to servers whose certificate is not to be accepted. */
	get receivedByImpostors(): number {
		return this.fronts
			.filter((_front, index) => index % 4 !== 3)
			.reduce((sum, { received }) => sum + received, 0);
	}

	private async run(
		place: Place,
		mode: Mode,
		{ baseUrl, prepare }: { baseUrl: string; prepare: (node: INodeType) => INodeType },
	) {
		const { story, done, running } = this;
		const parameters: Record<Place, () => IDataObject> = {
			models: () => getModels({ limit: 1 }),
			response: () => createResponse(),
			stream: () => createResponse({ stream: true }),
			generate: () => generateImage(),
			edit: () => editImage(),
			get: () => getTask(running.id),
			wait: () => waitForTask(done.id),
			download: () => getTask(done.id),
		};
		const text = place === 'models' || place === 'response' || place === 'stream';
		const node = text ? textNode(story.time) : imageNode(story.time);
		const record = newRecord();
		const options: RunNodeOptions = {
			node: prepare(node),
			parameters: parameters[place]() as RunNodeOptions['parameters'],
			time: story.time,
			credentials: { modelAccessApi: { baseUrl, apiKey: story.access.apiKey } },
			credentialTypes: [new ModelAccessApi()],
			record,
			...(mode !== 'throw' && { onError: mode }),
		};
		try {
			const { outputs, hints, nodeContext, runExecutionData } = await runNode(options);
			const left = { outputs, hints, nodeContext, runExecutionData };
			const [item] = outputs[0] ?? [];
			const json = item?.json;
			const failure =
				json?.error === undefined
					? undefined
					: { message: json.error as string, details: json.error_details as IDataObject };
			return { record, left, failure, item, outputs };
		} catch (error) {
			const { message, description, context } = shown({ error: error as Error });
			const failure = { message, description, details: context.details };
			return { record, left: { error }, failure };
		}
	}

	private expectNothingLeft(
		{ record, left, failure }: Awaited<ReturnType<Range['run']>>,
		place: Place,
	) {
		const { story, elsewhere } = this;
		const { crashes, storageRequests } = story.gateway;
		const unhandled = this.rejections.seen.splice(0);
		if (unhandled.length > 0) throw new AggregateError(unhandled, 'Nobody handled a rejection');
		if (crashes.length > 0) throw new AggregateError(crashes, 'The gateway crashed');
		expectNoSecret(story.access.apiKey, record, left, elsewhere.seen, storageRequests);
		if (place !== 'download' && elsewhere.seen.length > 0) {
			throw new Error('Somebody else was sent a request');
		}
		const texts = [failure?.message, record.logs.map(({ message }) => message).join('\n')];
		if (texts.some((text) => text?.includes('signature='))) {
			throw new Error('The signature of an address stands in a message or a log');
		}
	}

	/** A failure without the names of this run. */
	private anonymous(
		failure: { message: string; description?: string; details?: IDataObject } | undefined,
		requestIds: string[],
	) {
		if (!failure) return {};
		const { gateway } = this.story;
		const ids = [this.done.id, this.running.id];
		const hosts = [
			new URL(gateway.storageUrl).host,
			...Object.values(this.ports.storage).flatMap((port) => [
				`${HOST}:${port}`,
				`127.0.0.1:${port}`,
			]),
		];
		const hide = (text: string) =>
			[
				...ids.map((id): [string, string] => [id, '{task}']),
				...hosts.map((host): [string, string] => [host, '{host}']),
				...requestIds.map((id): [string, string] => [id, '{request}']),
			]
				.reduce((hidden, [name, sign]) => hidden.replaceAll(name, sign), text)
				.replace(/it ends at [^)]*/, 'it ends at {end}');
		const { message, description, details } = failure;
		const { image_urls, ...rest } = details ?? {};
		return {
			message: hide(message),
			...(description !== undefined && { description: hide(description) }),
			details: {
				...(JSON.parse(hide(JSON.stringify(rest))) as IDataObject),
				...(image_urls !== undefined && { image_urls: (image_urls as string[]).length }),
			},
		};
	}

	private address(side: 'api' | 'storage', address: BadAddress): string {
		const port = this.ports[side][address];
		if (address !== 'refused') return `https://${HOST}:${port}${side === 'api' ? '/v1' : ''}`;
		return `http://127.0.0.1:${port}${side === 'api' ? '/v1' : ''}`;
	}

	private moveStorage(reply: { body: string | Buffer } | undefined, address: BadAddress) {
		if (!reply) return;
		reply.body = String(reply.body).replaceAll(
			this.story.gateway.storageUrl,
			this.address('storage', address),
		);
	}
}

/** Places whose replies are read as they come, and are gone then. */
const STREAMED: Place[] = ['stream', 'download'];

/** How n8n tells a failed item from others, where the node goes on. */
function amissOf(
	{
		failure,
		item,
		outputs,
	}: { failure?: object; item?: INodeExecutionData; outputs?: unknown[][] },
	mode: Mode,
): string[] {
	if (!failure) return [];
	if (mode === 'throw') return item ? ['it did not throw'] : [];
	const { pairedItem } = item ?? {};
	const linked =
		typeof pairedItem === 'object' && !Array.isArray(pairedItem) && pairedItem.item === 0;
	const marked = item !== undefined && Object.hasOwn(item, 'error');
	const shown = Object.keys(item ?? {}).includes('error');
	const faults = [
		[outputs?.flat().length !== 1, 'there is not exactly one item'],
		[!linked, 'the item is not linked to its input'],
		[marked !== (mode === 'continueErrorOutput'), 'the item goes to the wrong output'],
		[shown, 'n8n would replace the JSON of the item'],
	] as const;
	return faults.filter(([fault]) => fault).map(([, what]) => what);
}

/** Milliseconds that a watch over a download sleeps at a time. */
const IDLE_MS = 60_000;

/** The node, its requests given up at once where nothing comes. */
function hurried(node: INodeType, which: Hurry): INodeType {
	return {
		...node,
		async execute() {
			const { helpers } = this;
			// eslint-disable-next-line @typescript-eslint/unbound-method
			const send = helpers.httpRequestWithAuthentication;
			helpers.httpRequestWithAuthentication = async function (type, options, more) {
				const hurry = which === 'all' || options.encoding !== 'stream';
				const timeout = hurry ? HURRY_MS : options.timeout;
				return (await send.call(this, type, { ...options, timeout }, more)) as unknown;
			};
			return (await node.execute?.call(this)) ?? [];
		},
	};
}

/** Lets TLS connections of this process trust one more authority, as a company's proxy would ask. */
function trust(cert: string): () => void {
	const original = tls.createSecureContext;
	const mutable = tls as { createSecureContext: typeof tls.createSecureContext };
	mutable.createSecureContext = (options) =>
		original({ ...options, ca: options?.ca ?? [...tls.rootCertificates, cert] });
	return () => {
		mutable.createSecureContext = original;
	};
}
