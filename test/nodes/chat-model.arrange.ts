import type { BaseChatModel } from '@langchain/core/language_models/chat_models';
import type { AIMessage, AIMessageChunk, BaseMessageLike } from '@langchain/core/messages';
import { SupplyDataContext } from 'n8n-core';
import type { IDataObject, INodeParameters } from 'n8n-workflow';
import { LmChatModelAccess } from '../../nodes/LmChatModelAccess/LmChatModelAccess.node';
import { supplyChatModel } from '../../nodes/LmChatModelAccess/supply-model';
import { n8nClock } from '../../nodes/shared/n8n/clock';
import { newRecord, NODE_NAME, prepareNode } from '../../scripts/engine/index';
import { recordingInto } from '../../scripts/engine/host';
import { trackHelpers } from '../../scripts/engine/time-tracking';
import { placeOptions } from '../support/place-options';
import { expectNoSecret } from '../support/secrets';
import type { VirtualTime } from '../../scripts/engine/virtual-time';
import { byId, credentialOf, startHarness, type Access } from './arrange';

/** What n8n's agents and chains see of a model. */
export type LangChainModel = BaseChatModel & Required<Pick<BaseChatModel, 'bindTools'>>;

/** What can be asked, with tools or without. */
export type Asked = Pick<LangChainModel, 'invoke' | 'stream'>;

/** A model that was supplied, and what its node shows in n8n. */
export type Supplied = Awaited<ReturnType<typeof supplyTo>>;

/** Settings by which the model's thoughts are summarized. */
export const THINKS: IDataObject = { options: { extraBody: '{"reasoning":{"summary":"auto"}}' } };

/** The hints of these calls of the model. */
export const hintsOf = (runs: ReturnType<Supplied['runs']>) =>
	runs.flatMap((run) => run.hints ?? []).map(({ message }) => message);

type SupplyOptions = { access?: Partial<Access>; signal?: AbortSignal };

/** A gateway and the chat model on one clock; what it leaves behind is searched for the key. */
export async function startChat() {
	const { time, gateway, access, answer, bodies, close } = await startHarness();
	const left: unknown[] = [];
	return {
		...{ time, gateway, access, answer },
		/** Places the node and lets it supply its model. */
		supply: async (parameters: IDataObject = {}, { access: own, signal }: SupplyOptions = {}) => {
			const set = { model: byId('aurora-text-1'), ...parameters };
			const all = placeOptions(new LmChatModelAccess().description.properties, set);
			const supplied = await supplyTo({ ...access, ...own }, all, { time, signal });
			left.push(supplied.logs, supplied.uiMessages, supplied.runs());
			return supplied;
		},
		/** Runs time until the work is done. */
		drive: async <T>(work: Promise<T>) => await time.drive(work),
		/** The bodies that the gateway was sent, in order. */
		bodies: () => bodies('responses'),
		/** How often an answer was asked for. */
		posts: () => gateway.count({ method: 'POST' }),
		close: async () => {
			await close();
			expectNoSecret(access.apiKey, ...left);
		},
	};
}

/** A new harness for each test of a file. */
export function useChat() {
	const harness = {} as Awaited<ReturnType<typeof startChat>>;
	beforeEach(async () => Object.assign(harness, await startChat()));
	afterEach(async () => await harness.close());
	return harness;
}

/** Places the node and lets it supply its model, by n8n's own time if none is given. */
export async function supplyTo(
	access: Access,
	parameters: IDataObject,
	{ time, signal }: { time?: VirtualTime; signal?: AbortSignal } = {},
) {
	const record = newRecord();
	const prepared = prepareNode({
		node: new LmChatModelAccess(),
		parameters: parameters as INodeParameters,
		...credentialOf(access),
		record,
	});
	const { workflow, node, additionalData, runExecutionData } = prepared;
	const items = [{ json: {} }];
	const given = [additionalData, 'manual', runExecutionData, 0, items] as const;
	const source = { node, data: { main: [items] }, source: null };
	const type = 'ai_languageModel';
	const data = { [type]: [items] };
	const context = new SupplyDataContext(workflow, node, ...given, data, type, source, [], signal);
	if (time) trackHelpers(context, time);
	const supplying = async () => await supplyChatModel(context, 0, time ?? n8nClock);
	const { response } = await recordingInto(record, supplying);
	return {
		...record,
		model: response as LangChainModel,
		context,
		/** Each call of the model, as n8n lists it under the node. */
		runs: () => runExecutionData.resultData.runData[NODE_NAME] ?? [],
	};
}

/** All chunks of an answer. */
export async function chunksOf(
	model: Pick<Asked, 'stream'>,
	asked: BaseMessageLike[] | string,
	signal?: AbortSignal,
) {
	const chunks: AIMessageChunk[] = [];
	for await (const chunk of await model.stream(asked, { signal })) chunks.push(chunk);
	return chunks;
}

const whole = (chunks: AIMessageChunk[]): AIMessage =>
	chunks.reduce((sum, chunk) => sum.concat(chunk));

type Ask = (model: Asked, text: string, signal?: AbortSignal) => Promise<AIMessage>;

/** The ways to ask a model. Chunks are put together as LangChain does it. */
export const WAYS: Array<[string, Ask]> = [
	['at once', async (model, text, signal) => await model.invoke(text, { signal })],
	['streamed', async (model, text, signal) => whole(await chunksOf(model, text, signal))],
];
