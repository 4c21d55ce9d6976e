import { createHash } from 'node:crypto';
import type { Access, KeyHolder } from '../access';
import type { JsonObject } from '../body';
import type { RequestRecord } from '../usage-log';
import { ApiError, badField } from '../errors';
import type { Reply } from '../faults';
import type { GatewaySettings } from '../options';
import { jsonReply } from '../reply';
import { pause, seconds, type GatewayTime } from '../time';
import { answerTo, directiveText, obeyStatus, type Answer } from './answer';
import { withoutDropped } from './drops';
import { tokensOf } from './language';
import { outputsOf, type Output, type StreamEvent } from './output';
import {
	checkCalls,
	readResponseRequest,
	type InputItem,
	type Part,
	type ResponseRequest,
} from './request';

/** Tokens of an image in the input. */
const IMAGE_TOKENS = 85;
const FILE_TOKENS = 100;
/** Tokens of the gateway's own instructions, if the switch is on. */
const OWN_INSTRUCTIONS_TOKENS = 5333;
/** Number of deltas before a failing stream ends. */
const DELTAS_BEFORE_FAILURE = 3;

const FAILURE = { code: 'server_error', message: 'The model failed on purpose.' };

/** The error of a gateway that stores nothing for `previous_response_id`. */
const NO_CONTINUATION = {
	code: 'continuation_state_unavailable',
	message:
		'This conversation can no longer be resumed because its upstream state is unavailable. Start a new conversation to continue.',
};

interface Memory {
	key: string;
	items: InputItem[];
}

/** `POST /v1/responses` (contract: Endpoints; Resources, Response; Events). */
export class Responses {
	private readonly memory = new Map<string, Memory>();
	private made = 0;

	constructor(
		private readonly access: Access,
		private readonly settings: GatewaySettings,
		private readonly time: GatewayTime,
	) {}

	/**
	 * Answers one request, as JSON or as a stream.
	 * @param record its record in the usage log
	 * @throws ApiError
	 */
	async create(
		body: JsonObject,
		holder: KeyHolder,
		record: RequestRecord,
		gone: AbortSignal,
	): Promise<Reply> {
		const requestId = record.id;
		const kept = withoutDropped(body, this.settings);
		const request = readResponseRequest(kept, this.settings.pixelLimit);
		this.access.requireModel(holder, request.model, 'text');
		if (request.stream) this.access.permit(holder, 'streaming');
		if (request.functions.length + request.hosted.size > 0) this.access.permit(holder, 'tools');
		const items = [...this.history(request, holder), ...request.input];
		checkCalls(items);
		if (this.settings.storesNothing) refuseReferences(items);
		obeyStatus(directiveText(request, items), record.attempt);
		this.access.charge(holder, {
			credits: 1,
			requestId,
			what: 'response',
			at: this.time.now(),
		});

		const answer = answerTo(request, items);
		const id = this.nextId(requestId);
		const outputs = outputsOf(answer.plans, request.maxOutputTokens, {
			id: (prefix) => id(prefix),
			defaultSize: this.settings.defaultSize,
			include: request.include,
		});
		const response = this.responseOf(request, items, answer, outputs, id('resp'));
		record.inputTokens = response.usage?.input_tokens;
		if (response.store === true && response.status !== 'failed') {
			const remembered = [...items, ...outputs.flatMap(({ item }) => asInput(item))];
			this.memory.set(response.id, { key: holder.name, items: remembered });
		}
		if (request.stream) return this.streamed(response, answer, outputs, gone);
		if (this.settings.unfinishedAsEvents && response.status === 'incomplete') {
			return this.streamed(response, answer, outputs, gone);
		}
		await this.think(gone);
		if (answer.end === 'error') throw new ApiError(500, { message: FAILURE.message });
		return jsonReply(200, response);
	}

	private history({ previousResponseId }: ResponseRequest, holder: KeyHolder): InputItem[] {
		if (previousResponseId === undefined) return [];
		if (this.settings.storesNothing) throw new ApiError(400, NO_CONTINUATION);
		const known = this.memory.get(previousResponseId);
		if (known?.key === holder.name) return known.items;
		throw badField(
			'previous_response_id',
			`'${previousResponseId}' is not known`,
			'previous_response_not_found',
		);
	}

	/** Waits until the model answers, or gives up (contract: Errors, 504). */
	private async think(gone: AbortSignal) {
		const { responseMs, waitMs = Infinity } = this.settings;
		await pause(this.time, Math.min(responseMs, waitMs), gone);
		if (responseMs > waitMs) throw new ApiError(504);
	}

	private responseOf(
		request: ResponseRequest,
		items: InputItem[],
		{ end }: Answer,
		outputs: Output[],
		id: string,
	) {
		const failed = end !== 'completed';
		const cut = outputs.some((output) => output.cut);
		const status = failed ? 'failed' : cut ? 'incomplete' : 'completed';
		return {
			id,
			object: 'response',
			created_at: seconds(this.time.now()),
			status,
			...request.echo,
			store: request.store && !this.settings.storesNothing,
			error: failed ? FAILURE : null,
			incomplete_details: !failed && cut ? { reason: 'max_output_tokens' } : null,
			output: failed ? [] : outputs.map(({ item }) => item),
			usage: failed ? null : usageOf(request, items, outputs, this.addedTokens(request)),
		};
	}

	/** Tokens of the gateway's own instructions, if the request has none. */
	private addedTokens({ instructions = '' }: ResponseRequest): number {
		const adds = this.settings.ownInstructions === true && instructions.trim() === '';
		return adds ? OWN_INSTRUCTIONS_TOKENS : 0;
	}

	private streamed(
		response: JsonObject & { status: string },
		{ end }: Answer,
		outputs: Output[],
		gone: AbortSignal,
	): Reply {
		const { deltaMs, responseMs, streamDone } = this.settings;
		const stream = async (write: (chunk: string) => Promise<void>) => {
			let sequence_number = 0;
			const send = async (event: StreamEvent) => {
				const { type, ...rest } = event;
				const data = JSON.stringify({ type, sequence_number: sequence_number++, ...rest });
				await write(`event: ${type}\ndata: ${data}\n\n`);
			};
			const begun = {
				...response,
				status: 'in_progress',
				error: null,
				incomplete_details: null,
				output: [],
				usage: null,
			};
			await send({ type: 'response.created', response: begun });
			await send({ type: 'response.in_progress', response: begun });
			await pause(this.time, responseMs, gone);
			let deltas = 0;
			for (const event of outputs.flatMap(({ events }) => events)) {
				if (event.type.endsWith('.delta')) {
					if (end !== 'completed' && deltas === DELTAS_BEFORE_FAILURE) break;
					deltas++;
					await pause(this.time, deltaMs, gone);
				}
				await send(event);
			}
			await send(
				end === 'error'
					? { type: 'error', ...FAILURE, param: null }
					: { type: `response.${response.status}`, response },
			);
			if (streamDone) await write('data: [DONE]\n\n');
		};
		return {
			status: 200,
			headers: {
				'Content-Type': 'text/event-stream; charset=utf-8',
				'Cache-Control': 'no-cache',
			},
			body: '',
			stream,
		};
	}

	/** IDs of one response and its items. */
	private nextId(requestId: string) {
		const seed = `${++this.made}:${requestId}`;
		let count = 0;
		return (prefix: string) => {
			const hash = createHash('sha256').update(`${seed}:${count++}`).digest('hex');
			return `${prefix}_${hash.slice(0, 32)}`;
		};
	}
}

/**
 * The usage of a response. A token is a piece of text, see `piecesOf`. The input counts all its
 * texts: instructions, messages, calls, outputs and history. An image counts 85 and a file 100. The
 * output counts texts, refusals, arguments and reasoning.
 */
function usageOf(
	{ instructions = '' }: ResponseRequest,
	items: InputItem[],
	outputs: Output[],
	addedTokens: number,
) {
	const input_tokens =
		addedTokens + tokensOf(instructions) + items.reduce((sum, item) => sum + itemTokens(item), 0);
	const output_tokens = outputs.reduce((sum, { tokens }) => sum + tokens, 0);
	const reasoning_tokens = outputs.reduce((sum, { reasoningTokens }) => sum + reasoningTokens, 0);
	return {
		input_tokens,
		input_tokens_details: { cached_tokens: 0 },
		output_tokens,
		output_tokens_details: { reasoning_tokens },
		total_tokens: input_tokens + output_tokens,
	};
}

/** @throws ApiError 404 an item refers to a response that was never stored */
function refuseReferences(items: InputItem[]) {
	for (const item of items) {
		if (item.type !== 'other' || item.reference === undefined) continue;
		throw new ApiError(404, {
			type: 'invalid_request_error',
			message: `Item with id '${item.reference}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`,
			param: 'input',
		});
	}
}

function itemTokens(item: InputItem): number {
	switch (item.type) {
		case 'message':
			return item.parts.reduce((sum, part) => sum + partTokens(part), 0);
		case 'function_call':
			return tokensOf(item.arguments);
		case 'function_call_output':
			return tokensOf(item.output);
		case 'other':
			return 0;
	}
}

function partTokens(part: Part): number {
	if (part.kind === 'text') return tokensOf(part.text);
	return part.kind === 'image' ? IMAGE_TOKENS : FILE_TOKENS;
}

/** An output item as an input item of a later request. */
function asInput(item: JsonObject): InputItem[] {
	if (item.type === 'function_call') {
		return [
			{
				type: 'function_call',
				callId: String(item.call_id),
				name: String(item.name),
				arguments: String(item.arguments),
			},
		];
	}
	if (item.type !== 'message') return [];
	const content = item.content as Array<{ text?: string; refusal?: string }>;
	const parts = content.map(
		({ text, refusal }): Part => ({ kind: 'text', text: text ?? refusal ?? '' }),
	);
	return [{ type: 'message', role: 'assistant', parts }];
}
