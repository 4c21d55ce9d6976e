import type { BaseChatModel } from '@langchain/core/language_models/chat_models';
import type { AIMessage, AIMessageChunk, BaseMessageLike } from '@langchain/core/messages';
import { SupplyDataContext } from 'n8n-core';
import type { IDataObject, ITaskData } from 'n8n-workflow';
import { ModelAccessApi } from '../../credentials/ModelAccessApi.credentials';
import { LmChatModelAccess } from '../../nodes/LmChatModelAccess/LmChatModelAccess.node';
import { supplyChatModel } from '../../nodes/LmChatModelAccess/supply-model';
import { n8nClock } from '../../nodes/shared/n8n/clock';
import { startGateway, type Gateway } from '../../gateway';
import {
	newRecord,
	NODE_NAME,
	prepareNode,
	type RunNodeOptions,
	type RunRecord,
} from '../../scripts/engine/index';
import { recordingInto } from '../../scripts/engine/host';
import { trackHelpers } from '../../scripts/engine/time-tracking';
import { placeOptions } from '../support/place-options';
import { expectNoSecret } from '../support/secrets';
import { VirtualTime } from '../../scripts/engine/virtual-time';
import { byId, type Access } from './arrange';

/** What n8n's agents and chains see of a model. */
export type LangChainModel = BaseChatModel & Required<Pick<BaseChatModel, 'bindTools'>>;

/** What can be asked, with tools or without. */
export type Asked = Pick<LangChainModel, 'invoke' | 'stream'>;

interface SupplyOptions {
	access?: Partial<Access>;
	/** Cancels the execution. */
	signal?: AbortSignal;
}

/** A model that was supplied, and what its node shows in n8n. */
export interface Supplied extends RunRecord {
	model: LangChainModel;
	/** Each call of the model, as n8n lists it under the node. */
	runs: () => ITaskData[];
	context: SupplyDataContext;
}

/** A gateway and the chat model on one clock. */
export interface ChatHarness {
	time: VirtualTime;
	gateway: Gateway;
	access: Access;
	/** Places the node and lets it supply its model. */
	supply(parameters?: IDataObject, options?: SupplyOptions): Promise<Supplied>;
	/** Runs time until the work is done. */
	drive<T>(work: Promise<T>): Promise<T>;
	/** The bodies that the gateway was sent, in order. */
	bodies(): Array<Record<string, unknown>>;
	/** How often an answer was asked for. */
	posts(): number;
	close(): Promise<void>;
}

/** Starts a harness. What it leaves behind is searched for the key at its end. */
export async function startChat(): Promise<ChatHarness> {
	const time = new VirtualTime();
	const gateway = await startGateway({ time: time.gateway, defaultSize: '32x24' });
	const access = { baseUrl: gateway.baseUrl, apiKey: gateway.keys.active };
	const left: unknown[] = [];
	return {
		time,
		gateway,
		access,
		supply: async (parameters = {}, given = {}) => {
			const all = placeOptions(new LmChatModelAccess().description.properties, {
				model: byId('aurora-text-1'),
				...parameters,
			});
			const supplied = await supplyTo({ ...access, ...given.access }, all, {
				time,
				signal: given.signal,
			});
			left.push(supplied.logs, supplied.uiMessages, supplied.runs());
			return supplied;
		},
		drive: async (work) => await time.drive(work),
		bodies: () =>
			gateway.requests
				.filter(({ route }) => route === 'responses')
				.map(({ body }) => body as Record<string, unknown>),
		posts: () => gateway.count({ method: 'POST' }),
		close: async () => {
			await gateway.close();
			expectNoSecret(access.apiKey, ...left);
			if (gateway.crashes.length > 0) throw new AggregateError(gateway.crashes, 'Gateway crashed');
		},
	};
}

/** A new harness for each test of a file. */
export function useChat(): ChatHarness {
	const harness = {} as ChatHarness;
	beforeEach(async () => Object.assign(harness, await startChat()));
	afterEach(async () => await harness.close());
	return harness;
}

/**
 * Places the node and lets it supply its model.
 * @param time n8n's own where left out
 */
export async function supplyTo(
	access: Access,
	parameters: IDataObject,
	{ time, signal }: { time?: VirtualTime; signal?: AbortSignal } = {},
): Promise<Supplied> {
	const record = newRecord();
	const prepared = prepareNode({
		node: new LmChatModelAccess(),
		parameters: parameters as RunNodeOptions['parameters'],
		credentials: { modelAccessApi: { ...access } },
		credentialTypes: [new ModelAccessApi()],
		record,
	});
	const { workflow, node, additionalData, runExecutionData } = prepared;
	const items = [{ json: {} }];
	const context = new SupplyDataContext(
		workflow,
		node,
		additionalData,
		'manual',
		runExecutionData,
		0,
		items,
		{ ai_languageModel: [items] },
		'ai_languageModel',
		{ node, data: { main: [items] }, source: null },
		[],
		signal,
	);
	if (time) trackHelpers(context, time);
	const { response } = await recordingInto(
		record,
		async () => await supplyChatModel(context, 0, time ?? n8nClock),
	);
	return {
		...record,
		model: response as LangChainModel,
		context,
		runs: () => runExecutionData.resultData.runData[NODE_NAME] ?? [],
	};
}

/** All chunks of an answer. */
export async function chunksOf(
	model: Pick<Asked, 'stream'>,
	asked: BaseMessageLike[] | string,
	signal?: AbortSignal,
): Promise<AIMessageChunk[]> {
	const chunks: AIMessageChunk[] = [];
	for await (const chunk of await model.stream(asked, { signal })) chunks.push(chunk);
	return chunks;
}

const whole = (chunks: AIMessageChunk[]): AIMessage =>
	chunks.reduce((sum, chunk) => sum.concat(chunk));

/** The ways to ask a model. Chunks are put together as LangChain does it. */
export const WAYS: Array<
	[string, (model: Asked, text: string, signal?: AbortSignal) => Promise<AIMessage>]
> = [
	['at once', async (model, text, signal) => await model.invoke(text, { signal })],
	['streamed', async (model, text, signal) => whole(await chunksOf(model, text, signal))],
];
