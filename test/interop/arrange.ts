import type { IDataObject } from 'n8n-workflow';
import { ModelAccessApi } from '../../credentials/ModelAccessApi.credentials';
import { ModelAccess } from '../../nodes/ModelAccess/ModelAccess.node';
import { ModelAccessImage } from '../../nodes/ModelAccessImage/ModelAccessImage.node';
import { startGateway, type Gateway } from '../../gateway';
import { findFault } from '../../gateway/faults/groups';
import { scripted } from '../../gateway/faults/script';
import { realTime } from '../../gateway/time';
import * as engine from '../../scripts/engine/index';
import { startLiteLlm, type LiteLlm } from '../../scripts/interop/litellm';
import { byId, shown, type Access } from '../nodes/arrange';
import { supplyTo } from '../nodes/chat-model.arrange';

/** A model of LiteLLM that its provider does not have. */
export const GONE = 'gone';
/** A model that LiteLLM takes for one that cannot stream: it makes a stream of the whole answer. */
export const NO_STREAM = 'aurora-text-1-mini';

/** Starts LiteLLM before the built-in gateway, with credentials for it, for the tests of a file. */
export function useLiteLlm() {
	let gateway: Gateway;
	let liteLlm: LiteLlm;
	let access: Access;
	let before = 0;
	const settings = (node: engine.RunNodeOptions['node'], parameters: IDataObject, other = {}) => ({
		node,
		parameters: parameters as engine.RunNodeOptions['parameters'],
		credentials: { modelAccessApi: { ...access, ...other } },
		credentialTypes: [new ModelAccessApi()],
	});
	beforeAll(async () => {
		gateway = await startGateway({ defaultSize: '32x24' });
		const names = Object.keys(gateway.settings.models);
		liteLlm = await startLiteLlm(process.env.INTEROP_PYTHON ?? '', {
			baseUrl: gateway.baseUrl,
			apiKey: gateway.keys.active,
			models: { ...Object.fromEntries(names.map((name) => [name, name])), [GONE]: 'no-such' },
			withoutStream: [NO_STREAM],
		});
		access = { baseUrl: liteLlm.baseUrl, apiKey: liteLlm.masterKey };
	}, 90_000);
	beforeEach(async () => {
		await engine.storeBinaryInMemory();
		gateway.settings.intercept = undefined;
		gateway.settings.limitsInStreams = false;
		before = gateway.count({ method: 'POST' });
	});
	afterAll(async () => {
		// First the provider: a stream that stalls would keep LiteLLM from its end.
		await gateway?.close();
		await liteLlm?.stop();
	});
	/** The bodies of what the provider was asked in the running test. */
	const bodies = () =>
		gateway.requests
			.filter(({ method }) => method === 'POST')
			.slice(before)
			.map(({ body }) => body as IDataObject);
	return {
		provider: () => gateway.settings,
		text: async (
			parameters: IDataObject,
			more?: Pick<Partial<engine.RunNodeOptions>, 'items' | 'onError'>,
		) => await engine.runNode({ ...settings(new ModelAccess(), parameters), ...more }),
		/** What n8n shows of the text node's error. */
		textError: async (parameters: IDataObject, other?: Partial<Access>) =>
			shown(await engine.runNodeToError(settings(new ModelAccess(), parameters, other))),
		imageError: async (parameters: IDataObject) =>
			shown(await engine.runNodeToError(settings(new ModelAccessImage(), parameters))),
		/** The chat model, as agents and chains get it. */
		chatModel: async () => (await supplyTo(access, { model: byId('aurora-text-1') })).model,
		/** Lets a fault of the catalogue happen to each answer of the provider. */
		fault: (name: string) => {
			const fault = findFault(name);
			if (!fault) throw new Error(`The catalogue has no "${name}"`);
			const setting = { time: realTime, elsewhere: '' };
			gateway.settings.intercept = scripted([{ fault, route: 'responses' }], setting);
		},
		bodies,
		/** How many answers the provider was asked for in the running test. */
		posts: () => bodies().length,
	};
}
