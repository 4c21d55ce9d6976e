import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { AIMessage, HumanMessage } from '@langchain/core/messages';
import { ModelAccessChatModel } from '../../nodes/LmChatModelAccess/chat-model';
import * as adapter from '../../nodes/LmChatModelAccess/langchain-adapter';
import * as content from '../../nodes/LmChatModelAccess/langchain-content';
import type { LangChainModel as Adapter } from '../../nodes/LmChatModelAccess/langchain-model';
import { chunksOf, THINKS, useChat, WAYS } from './chat-model.arrange';
import type { LangChainModel, Supplied } from './chat-model.arrange';

/** The version of n8n's kit for AI nodes in a folder. */
function findKit(folder: string) {
	const file = join(folder, 'node_modules/@n8n/ai-utilities/package.json');
	// Older n8n has one package of the kit alone.
	if (!existsSync(file) || !existsSync(join(folder, 'node_modules/@n8n/ai-node-sdk'))) return [];
	const { version } = JSON.parse(readFileSync(file, 'utf8')) as { version: string };
	return [{ version, folder }];
}

/** The kit of this checkout, and other versions of it that `npm run n8n` has installed. */
function findKits() {
	const caches = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache');
	const cache = process.env.N8N_STAGE_CACHE ?? join(caches, 'n8n-stage');
	const installed = existsSync(cache) ? readdirSync(cache).map((name) => join(cache, name)) : [];
	const kits = [join(__dirname, '../..'), ...installed].flatMap(findKit).reverse();
	return [...new Map(kits.map((kit) => [kit.version, kit])).values()].reverse();
}

const harness = useChat();

const says = { name: 'get_weather', description: 'Says it', parameters: { type: 'object' } };
const weather = { type: 'function', function: says };
const schema = { title: 'Sorted', type: 'object', properties: { ok: { type: 'boolean' } } };
const reasoning = { type: 'reasoning', id: 'rs_1', summary: [] };

describe.each(findKits())('the adapter of @n8n/ai-utilities $version', ({ version, folder }) => {
	const path = join(folder, 'node_modules/@n8n/ai-node-sdk');
	const sdk = () => jest.requireActual<typeof import('@n8n/ai-node-sdk')>(path);

	/** The adapter as the kit makes it, and the same that n8n's agents and chains call. */
	type Raw = Supplied & { raw: Adapter };

	async function supplyRaw(parameters = {}): Promise<Raw> {
		const supplied = await harness.supply(parameters);
		const { chatModel } = supplied.model as unknown as { chatModel: ModelAccessChatModel };
		const raw = sdk().supplyModel(supplied.context, chatModel).response as LangChainModel;
		return { ...supplied, raw: raw as unknown as Adapter, model: raw };
	}

	/** Fails if the outcome without a repair is the same as with it. */
	function expectLoss(repair: { name: string }, without: unknown, repaired: unknown) {
		if (isDeepStrictEqual(without, repaired)) {
			throw new Error(
				`@n8n/ai-utilities ${version} has no such loss any more: ${repair.name} can go, if no older n8n has to be supported`,
			);
		}
	}

	test('has each patch point', async () => {
		const { raw } = await supplyRaw();
		expect(adapter.listMissingPoints(raw)).toEqual([]);
		expect(raw.callbacks).toHaveLength(1);
	});

	test('makes a list of blocks of an answer, beside additional_kwargs', async () => {
		const { raw } = await supplyRaw(THINKS);
		const { generations } = await harness.drive(raw._generate([new HumanMessage('Hi')], {}));
		const [text, other] = [{ type: 'text', text: 'You said: Hi' }, { type: 'non_standard' }];
		const blocks = expect.arrayContaining([text, expect.objectContaining(other)]) as object;
		const { additional_kwargs, content: made } = generations[0]!.message;
		expect([generations.length, additional_kwargs, made]).toEqual([1, {}, blocks]);
	});

	test('ends a stream by a chunk with finish_reason, and by no other', async () => {
		const { raw } = await supplyRaw(THINKS);
		const stream = raw._streamResponseChunks([new HumanMessage('Hi')], {});
		const reasons: unknown[] = [];
		const read = async () => {
			for await (const { generationInfo: info } of stream) reasons.push(info?.finish_reason);
		};
		await harness.drive(read());
		expect(reasons.length).toBeGreaterThan(2);
		expect(reasons.pop()).toBe('stop');
		expect(new Set(reasons)).toEqual(new Set([undefined]));
	});

	test('makes a new adapter for tools, around the chat model that it has at that time', async () => {
		const { raw } = await supplyRaw();
		const bound = raw.bindTools([weather]);
		expect(bound).toBeInstanceOf(raw.constructor);
		expect(bound.chatModel).toBeInstanceOf(ModelAccessChatModel);
		const other = raw.chatModel.withToolChoice('none');
		raw.chatModel = other;
		const withTools = jest.spyOn(other as ModelAccessChatModel, 'withTools');
		raw.bindTools([]);
		expect(withTools).toHaveBeenCalledTimes(1);
	});

	const URL = 'https://images.example.com/boat.png';
	const OWN_FORM = { type: 'input_file', filename: 'a', file_data: 'data:text/plain;base64,YQ==' };
	const WORDS = { type: 'input_text', text: 'Words' };
	const LOW = { type: 'image_url', image_url: { url: URL, detail: 'low' } };
	const OLD = { type: 'file', source_type: 'base64', mime_type: 'text/csv', data: 'YQ==' };
	const OLD_ID = { type: 'file', source_type: 'id', id: 'file_1' };
	const IMAGE = { type: 'input_image', image_url: URL };
	const CSV = { type: 'input_file', filename: 'file.csv', file_data: 'data:text/csv;base64,YQ==' };
	test.each<[(part: unknown) => unknown, part: unknown, sent: object]>([
		[content.keepStrings, 'Words', WORDS],
		[content.keepImageUrls, LOW, { ...IMAGE, detail: 'low' }],
		[content.keepTextFiles, { type: 'text-plain', text: 'Words' }, WORDS],
		[content.keepOldFileFields, OLD, CSV],
		[content.keepOldFileFields, OLD_ID, { type: 'input_file', file_id: 'file_1' }],
		[content.keepImageType, { type: 'image', url: URL }, IMAGE],
		[content.keepUnknownParts, OWN_FORM, OWN_FORM],
	])('needs %p for %j', async (repair, part, sent) => {
		const { model } = await supplyRaw();
		const send = async (given: unknown) => {
			const parts = [{ type: 'text', text: 'What is it?' }, given];
			const message = new HumanMessage({ content: parts as never });
			const error = await harness.drive(model.invoke([message])).then(() => undefined, String);
			return error ?? harness.bodies().at(-1)?.input;
		};
		const without = await send(part);
		const kept = await send(repair(part));
		const asked = { type: 'input_text', text: 'What is it?' };
		expect(kept).toEqual([{ role: 'user', content: [asked, sent] }]);
		expectLoss(repair, without, kept);
	});

	test('needs copyMetadata, or it changes the message of its caller', async () => {
		const { model } = await supplyRaw();
		const send = async (part: object) =>
			await harness.drive(model.invoke([new HumanMessage({ content: [part] as never })]));
		const image = () => ({ type: 'image', mimeType: 'image/png', url: URL, metadata: {} });
		const [changed, kept] = [image(), image()];
		await send(changed);
		await send(content.copyMetadata(kept) as object);
		expect(kept).toEqual(image());
		expectLoss(content.copyMetadata, changed, kept);
	});

	test('needs keepReasoning and restoreReasoning for the agent of n8n', async () => {
		const { raw, model } = await supplyRaw(THINKS);
		const answer = await harness.drive(model.invoke('Hi'));
		const read = () => answer.additional_kwargs.reasoning_content;
		const without = read();
		content.keepReasoning(answer, [reasoning]);
		expect(read()).toBe(JSON.stringify([reasoning]));
		expectLoss(content.keepReasoning, without, read());

		const rebuilt = new AIMessage({ content: 'Hi', additional_kwargs: answer.additional_kwargs });
		const ask = new HumanMessage('And?');
		await harness.drive(raw._generate([rebuilt, ask], {}));
		await harness.drive(raw._generate([content.restoreReasoning(rebuilt), ask], {}));
		const [, lost, restored] = harness.bodies().map(({ input }) => input as object[]);
		expect(restored).toEqual([reasoning, ...(lost ?? []).slice(-2)]);
		expectLoss(content.restoreReasoning, lost, restored);
	});

	test('needs keepTextAsString for whoever calls toString(), and keepOtherItems beside a text', async () => {
		const { model } = await supplyRaw();
		const answer = await harness.drive(model.invoke('Hi [[unknown]]'));
		const before = { text: answer.content, items: answer.additional_kwargs.output_items };
		content.keepOtherItems(answer, content.takeItems(answer));
		content.keepTextAsString(answer);
		const { output_items: items } = answer.additional_kwargs;
		expect(answer.content).toBe('You said: Hi');
		expect(items).toEqual([expect.objectContaining({ type: 'telemetry' })]);
		expectLoss(content.keepTextAsString, before.text, answer.content);
		expectLoss(content.keepOtherItems, before.items, items);
	});

	test('needs keepPatches once tools are bound', async () => {
		const { raw } = await supplyRaw();
		const patched: Adapter[] = [];
		const wasPatched = (bound: Adapter) => patched.includes(bound);
		const without = wasPatched(raw.bindTools([]));
		const apply = (model: Adapter) => void patched.push(model);
		adapter.keepPatches(raw, [{ apply, needs: [], loss: 'nothing' }]);
		const bound = raw.bindTools([]);
		const kept = [wasPatched(bound), wasPatched(bound.bindTools([]))];
		expect(kept).toEqual([true, true]);
		expectLoss(adapter.keepPatches, without, true);
	});

	type Loss = [patch: (model: Adapter) => void, (supplied: Raw) => Promise<unknown>, kept: unknown];
	const toolChoice = async ({ raw }: Raw) => {
		const bound = raw.bindTools([weather], { tool_choice: 'any' }) as unknown as LangChainModel;
		await harness.drive(bound.invoke('Hi'));
		return harness.bodies().at(-1)?.tool_choice;
	};
	const structured = async ({ model }: Raw) =>
		await harness.drive(model.withStructuredOutput(schema).invoke('A wish')).catch(String);
	const streamUsage = async ({ model, runs }: Raw) => {
		await harness.drive(chunksOf(model, 'Hello you there'));
		return runs().at(-1)?.data?.ai_languageModel?.[0]?.[0]?.json.tokenUsage;
	};
	const USAGE = { promptTokens: 3, completionTokens: 13, totalTokens: 16 };
	const LOSSES: Loss[] = [
		[adapter.keepToolChoice, toolChoice, 'required'],
		[adapter.keepStructuredOutput, structured, { ok: expect.any(Boolean) as boolean }],
		[adapter.keepStreamUsage, streamUsage, USAGE],
		...[adapter.keepContent, adapter.keepStreamedContent].map((patch, way): Loss => {
			const ask = async ({ model }: Raw) => {
				const { content: text, ...more } = await harness.drive(WAYS[way]![1](model, 'Hi'));
				return { text, more: Object.keys(more.additional_kwargs) };
			};
			return [patch, ask, { text: 'You said: Hi', more: ['reasoning_content'] }];
		}),
	];
	test.each(LOSSES)('needs %p', async (patch, ask, kept) => {
		const supplied = await supplyRaw(THINKS);
		const without = await ask(supplied);
		patch(supplied.raw);
		const repaired = await ask(supplied);
		expect(repaired).toEqual(kept);
		expectLoss(patch, without, repaired);
	});
});

describe('a missing patch point', () => {
	test.each<[string, object, string]>([
		['_generate', {}, 'images, files and reasoning, without streaming'],
		['_streamResponseChunks', {}, 'images, files and reasoning, with streaming'],
		['bindTools', {}, 'the tool choice; structured output'],
		['pipe', {}, 'structured output'],
		['chatModel', { withToolChoice: () => {} }, 'structured output'],
		['chatModel', { withStructuredOutput: () => {} }, 'the tool choice'],
		['callbacks', [{ options: {} }], 'the token usage of streams'],
	])('%s is reported once: %j', async (name, instead, loss) => {
		const { model } = await harness.supply();
		const broken = Object.create(Object.getPrototypeOf(model) as object, {
			...Object.getOwnPropertyDescriptors(model),
			[name]: { value: instead, writable: true },
		}) as Adapter & LangChainModel;
		const warn = jest.fn<void, [string]>();
		adapter.repairAdapter(broken, { warn });
		const said = new RegExp(`has no ${name}.*\\. Lost: ${loss}\\. Update`);
		expect(warn.mock.calls).toEqual([[expect.stringMatching(said)]]);
	});

	test('is reported in n8n’s log once for each execution, and the model works', async () => {
		const { model: intact } = await harness.supply();
		const kit = Object.getPrototypeOf(intact) as { pipe?: unknown };
		kit.pipe = undefined;
		try {
			const { model, logs } = await harness.supply();
			for (const text of ['One', 'Two']) {
				const bound = model.bindTools([weather]) as typeof model;
				const answer = await harness.drive(bound.invoke(text));
				expect(answer.tool_calls).toHaveLength(1);
			}
			const warnings = logs.filter(({ level }) => level === 'warn');
			expect(warnings).toMatchObject([{ message: expect.stringMatching('has no pipe') as string }]);
		} finally {
			delete kit.pipe;
		}
	});
});
