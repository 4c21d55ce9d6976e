import type { IDataObject } from 'n8n-workflow';
import { ModelAccessApi } from '../../credentials/ModelAccessApi.credentials';
import { ModelAccess } from '../../nodes/ModelAccess/ModelAccess.node';
import { ModelAccessImage } from '../../nodes/ModelAccessImage/ModelAccessImage.node';
import { startGateway, type Gateway } from '../../gateway';
import { findFault } from '../../gateway/faults/groups';
import { scripted } from '../../gateway/faults/script';
import { realTime } from '../../gateway/time';
import {
	runNode,
	runNodeToError,
	storeBinaryInMemory,
	type RunNodeOptions,
} from '../../scripts/engine/index';
import { startLiteLlm, type LiteLlm } from '../../scripts/interop/litellm';
import { byId, shown, type Access } from '../nodes/arrange';
import { supplyTo, type LangChainModel } from '../nodes/chat-model.arrange';

/** A model of LiteLLM that its provider does not have. */
export const GONE = 'gone';
/** A model that LiteLLM takes for one that cannot stream: it makes a stream of the whole answer. */
export const NO_STREAM = 'aurora-text-1-mini';

/** LiteLLM before the built-in gateway, and the nodes with a credential for it. */
interface Interop {
	/** The provider. */
	gateway: Gateway;
	access: Access;
	text: (
		parameters: IDataObject,
		access?: Partial<Access>,
		more?: Pick<Partial<RunNodeOptions>, 'items' | 'onError'>,
	) => ReturnType<typeof runNode>;
	/** Runs the text node, and returns what n8n shows of its error. */
	textError: (
		parameters: IDataObject,
		access?: Partial<Access>,
	) => Promise<ReturnType<typeof shown>>;
	imageError: (parameters: IDataObject) => Promise<ReturnType<typeof shown>>;
	/** The chat model, as agents and chains get it. */
	chatModel: (model?: string) => Promise<LangChainModel>;
	/** Lets a fault of the catalogue happen to each answer of the provider. */
	fault: (name: string) => void;
	/** The bodies of what the provider was asked in the running test. */
	bodies: () => IDataObject[];
	/** How many answers the provider was asked for in the running test. */
	posts: () => number;
}

/** Starts both for the tests of a file. */
export function useLiteLlm(): Interop {
	const interop = {} as Interop;
	let liteLlm: LiteLlm;
	let before = 0;
	const settings = (node: RunNodeOptions['node'], parameters: IDataObject, access = {}) => ({
		node,
		parameters: parameters as RunNodeOptions['parameters'],
		credentials: { modelAccessApi: { ...interop.access, ...access } },
		credentialTypes: [new ModelAccessApi()],
	});
	beforeAll(async () => {
		const gateway = await startGateway({ defaultSize: '32x24' });
		const names = Object.keys(gateway.settings.models);
		interop.gateway = gateway;
		liteLlm = await startLiteLlm(process.env.INTEROP_PYTHON ?? '', {
			baseUrl: gateway.baseUrl,
			apiKey: gateway.keys.active,
			models: {
				...Object.fromEntries(names.map((name) => [name, name])),
				[GONE]: 'no-such',
			},
			withoutStream: [NO_STREAM],
		});
		interop.access = { baseUrl: liteLlm.baseUrl, apiKey: liteLlm.masterKey };
	}, 90_000);
	beforeEach(async () => {
		await storeBinaryInMemory();
		interop.gateway.settings.intercept = undefined;
		interop.gateway.settings.limitsInStreams = false;
		before = interop.gateway.count({ method: 'POST' });
	});
	afterAll(async () => {
		// First the provider: a stream that stalls would keep LiteLLM from its end.
		await interop.gateway?.close();
		await liteLlm?.stop();
	});
	return Object.assign(interop, {
		text: async (parameters, access, more) =>
			await runNode({ ...settings(new ModelAccess(), parameters, access), ...more }),
		textError: async (parameters, access) =>
			shown(await runNodeToError(settings(new ModelAccess(), parameters, access))),
		imageError: async (parameters) =>
			shown(await runNodeToError(settings(new ModelAccessImage(), parameters))),
		chatModel: async (model = 'aurora-text-1') =>
			(await supplyTo(interop.access, { model: byId(model) })).model,
		fault: (name) => {
			const fault = findFault(name);
			if (!fault) throw new Error(`The catalogue has no "${name}"`);
			const setting = { time: realTime, elsewhere: '' };
			interop.gateway.settings.intercept = scripted([{ fault, route: 'responses' }], setting);
		},
		bodies: () =>
			interop.gateway.requests
				.filter(({ method }) => method === 'POST')
				.slice(before)
				.map(({ body }) => body as IDataObject),
		posts: () => interop.gateway.count({ method: 'POST' }) - before,
	} satisfies Partial<Interop>);
}
