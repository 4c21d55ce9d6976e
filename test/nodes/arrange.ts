import { createHash } from 'node:crypto';
import dns from 'node:dns';
import type { IDataObject, IExecuteFunctions, INodeType } from 'n8n-workflow';
import { ModelAccessApi } from '../../credentials/ModelAccessApi.credentials';
import * as textModule from '../../nodes/ModelAccess/ModelAccess.node';
import * as imageModule from '../../nodes/ModelAccessImage/ModelAccessImage.node';
import type { Clock } from '../../nodes/shared/api/http/clock';
import type { Resource } from '../../nodes/shared/n8n/runner/operation';
import { execute } from '../../nodes/shared/n8n/runner/run-items';
import { startGateway, type Fault, type GatewayOptions } from '../../gateway';
import * as engine from '../../scripts/engine/index';
import { expectNoSecret } from '../support/secrets';
import { VirtualTime } from '../../scripts/engine/virtual-time';
import { generateImage } from './parameters';

export * from './parameters';

/** A node of ours, its waits on a clock that the test drives. */
const onTime = ({ description, methods }: INodeType, resources: Resource[], time: Clock) => ({
	description,
	methods,
	async execute(this: IExecuteFunctions) {
		return await execute(this, resources, time);
	},
});

export const textNode = (time: Clock) =>
	onTime(new textModule.ModelAccess(), textModule.resources, time);
export const imageNode = (time: Clock) =>
	onTime(new imageModule.ModelAccessImage(), imageModule.resources, time);

/** What the credential holds. */
export type Access = { baseUrl: string; apiKey: string; allowPrivateHttp?: boolean };

/** What a node is given of the credential. */
export const credentialOf = (access: Access) => ({
	credentials: { modelAccessApi: { ...access } },
	credentialTypes: [new ModelAccessApi()],
});

type Own = 'node' | 'time' | 'credentials' | 'credentialTypes';
export type RunOptions = Omit<Partial<engine.RunNodeOptions>, Own> & { access?: Partial<Access> };

type ChangeReply = (body: string, headers: Record<string, unknown>) => string;

/** A gateway and both nodes on one clock: the whole way from a parameter to a file. */
export type Harness = Awaited<ReturnType<typeof startHarness>>;

/** Starts a harness. What its runs leave behind is searched for the key, and the storage host too. */
export async function startHarness(options: GatewayOptions = {}) {
	const time = new VirtualTime();
	const own = { taskSeconds: 6, defaultSize: '32x24', time: time.gateway };
	const gateway = await startGateway({ ...own, ...options });
	const access: Access = { baseUrl: gateway.baseUrl, apiKey: gateway.keys.active };
	const start = time.now();
	const by =
		<T extends engine.RunRecord>(
			node: (time: Clock) => INodeType,
			run: (options: engine.RunNodeOptions) => Promise<T>,
			left: (ended: T) => unknown[],
		) =>
		async (parameters: IDataObject, { access: other, ...given }: RunOptions = {}) => {
			const used = { ...access, ...other };
			const ended = await run({
				node: node(time),
				parameters: parameters as engine.RunNodeOptions['parameters'],
				time,
				...credentialOf(used),
				...given,
			});
			const key = used.apiKey.trim();
			const { logs, uiMessages, chunks, hints } = ended;
			// A shorter key is found by chance.
			if (key.length >= 8) expectNoSecret(key, logs, uiMessages, chunks, hints, ...left(ended));
			return ended;
		};
	const output = (of: engine.NodeRun) => [of.outputs, of.nodeContext, of.runExecutionData];
	const errorOf = ({ error }: engine.FailedRun) => [error];
	return {
		time,
		gateway,
		access,
		text: by(textNode, engine.runNode, output),
		textError: by(textNode, engine.runNodeToError, errorOf),
		image: by(imageNode, engine.runNode, output),
		imageError: by(imageNode, engine.runNodeToError, errorOf),
		/** The bodies that the gateway was sent, of one route or of all. */
		bodies: (route?: string) =>
			gateway.requests
				.filter((sent) => route === undefined || sent.route === route)
				.map(({ body }) => body as IDataObject),
		/** Lets this happen to each request, in place of the gateway's own answer. */
		answer: (fault: Fault) => {
			gateway.settings.intercept = () => fault;
		},
		/** Changes the bodies that the gateway sends to a route, and their headers. */
		changeReplies: (changed: string, change: ChangeReply) => {
			gateway.settings.intercept = ({ route, reply }) => {
				if (reply && route === changed) reply.body = change(String(reply.body), reply.headers);
				return undefined;
			};
		},
		/** Seconds since it started. */
		seconds: () => (time.now() - start) / 1000,
		close: async () => {
			await gateway.close();
			if (gateway.crashes.length > 0) throw new AggregateError(gateway.crashes, 'Gateway crashed');
			if (gateway.storageRequests.some(({ headers }) => headers.authorization !== undefined)) {
				throw new Error('The storage host has seen an Authorization header');
			}
		},
	};
}

type ListOptions = Partial<engine.RunListSearchOptions>;

/** Opens the model list of a node, as the editor does. */
export async function openList(node: INodeType, access: Access, options: ListOptions = {}) {
	const search = { node, method: 'searchModels', ...credentialOf(access) };
	return await engine.runListSearch({ ...search, ...options });
}

/** A new harness for each test of a file, files in memory, changed by `wrap` before. */
export function useHarness(wrap = (started: Harness) => started): Harness {
	const harness = {} as Harness;
	beforeEach(async () => {
		await engine.storeBinaryInMemory();
		Object.assign(harness, wrap(await startHarness()));
	});
	afterEach(async () => await harness.close());
	return harness;
}

/** n8n's storage on disk, anew for each test of a block. */
export function useDisk(): engine.BinaryStorage {
	const storage = {} as engine.BinaryStorage;
	beforeEach(async () => Object.assign(storage, await engine.storeBinaryOnDisk()));
	afterEach(async () => await storage.remove());
	return storage;
}

/** Under this setting a failed item becomes an item with its error. */
export const CONTINUE = { onError: 'continueRegularOutput' } as const;

/** A reply in place of the gateway's own. */
export const reply = (status: number, body?: unknown, headers?: Record<string, string>): Fault => {
	return { kind: 'reply', status, headers, body };
};

/** A file in an item, as n8n keeps it in memory. */
export function file(bytes: Buffer | string, fileName?: string, mimeType = 'image/png') {
	return { data: Buffer.from(bytes).toString('base64'), mimeType, fileName };
}

/** A file as n8n's own helper keeps it, in the storage of now. */
export async function kept(bytes: Buffer, name = 'a.png', type = 'image/png') {
	const { context } = engine.prepareNode({ node: imageNode(new VirtualTime()), parameters: {} });
	return await context.helpers.prepareBinaryData(bytes, name, type);
}

/** As the gateway notes files of a form. */
export const hash = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

/** Input items with these JSON values. */
export const itemsOf = (...values: IDataObject[]) => values.map((json) => ({ json }));

/** `count` input items that only have a number, from 0. */
export const numbered = (count: number) =>
	itemsOf(...Array.from({ length: count }, (_unused, n) => ({ n })));

/** Submits an image without waiting for it, and returns its task. */
export async function submitted(harness: Harness, given: IDataObject = {}) {
	await harness.image(generateImage({ waitForCompletion: false, ...given }));
	return harness.gateway.tasks.at(-1)!;
}

/** A signal that cancels the execution after `ms` milliseconds of the harness's time. */
export function canceledAfter(time: VirtualTime, ms: number): AbortSignal {
	const controller = new AbortController();
	void time.sleep(ms).then(() => controller.abort());
	return controller.signal;
}

/** A host that is nowhere: {@link lookUp} says where it is, or what becomes of connections to it. */
export const NOWHERE = 'gateway.example.test';

/** Lets look-ups of these hosts end so; all others stay. */
export function lookUp(end: Error | string[], ...hosts: string[]) {
	const original = dns.lookup;
	const found = end instanceof Error ? [] : end.map((address) => ({ address, family: 4 }));
	const mock = (name: string, options: dns.LookupOptions, done: (...got: unknown[]) => void) => {
		if (!hosts.includes(name)) return original(name, options, done);
		const all = options.all ? [found] : [found[0]?.address, 4];
		setImmediate(done, ...(end instanceof Error ? [end] : [null, ...all]));
	};
	return jest.spyOn(dns, 'lookup').mockImplementation(mock as typeof dns.lookup);
}

/** What n8n adds to an error for its user interface. */
export interface ShownError extends Error {
	description?: string;
	context: { itemIndex?: number; details?: IDataObject; acceptedTasks?: object[] };
}

/** The error of a failed run, with what n8n shows of it. */
export const shown = ({ error }: { error: Error }): ShownError => error as ShownError;
