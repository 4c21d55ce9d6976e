import type { JsonObject } from '../body';
import { readSize } from '../images/submit';
import { revisedPrompt } from '../images/task';
import { drawImage } from '../drawing/draw';
import type { Annotation, Plan } from './answer';
import { piecesOf } from './language';

/** An event of a stream without its sequence number. */
export interface StreamEvent extends JsonObject {
	type: string;
}

/** An output item in the response, and its events in a stream. */
export interface Output {
	item: JsonObject;
	/** From `response.output_item.added` to `response.output_item.done`. */
	events: StreamEvent[];
	/** Number of its tokens. */
	tokens: number;
	/** Number of its tokens that are reasoning. */
	reasoningTokens: number;
	/** Whether the budget ended in it. */
	cut: boolean;
}

interface Making {
	/** Makes the IDs of items and calls. */
	id: (prefix: string) => string;
	defaultSize: string;
	include: string[];
}

/**
 * Makes output items of plans, within the budget.
 * @param budget tokens; the rest is cut off
 */
export function outputsOf(plans: Plan[], budget: number, making: Making): Output[] {
	const outputs: Output[] = [];
	let left = budget;
	for (const plan of plans) {
		const output = outputOf(plan, outputs.length, left, making);
		outputs.push(output);
		left -= output.tokens;
		if (output.cut) break;
	}
	return outputs;
}

function outputOf(plan: Plan, output_index: number, budget: number, making: Making): Output {
	switch (plan.type) {
		case 'reasoning':
			return reasoning(plan.summary, output_index, budget, making);
		case 'message':
			return message(plan.text, plan.annotations, output_index, budget, making);
		case 'refusal':
			return refusal(plan.refusal, output_index, budget, making);
		case 'function_call':
			return functionCall(plan.name, plan.arguments, output_index, budget, making);
		case 'web_search_call':
			return webSearch(plan.query, output_index, making);
		case 'image_generation_call':
			return imageGeneration(plan.prompt, plan.tool, output_index, making);
		case 'telemetry':
			return telemetry(output_index, making);
	}
}

/** The pieces of a text that fit the budget. */
function cutTo(text: string, budget: number) {
	const all = piecesOf(text);
	const pieces = all.slice(0, Math.max(0, budget));
	return { pieces, text: pieces.join(''), cut: pieces.length < all.length };
}

const statusFor = (cut: boolean) => (cut ? 'incomplete' : 'completed');

function output(
	output_index: number,
	started: JsonObject,
	between: StreamEvent[],
	item: JsonObject,
	spent: Partial<Output> = {},
): Output {
	return {
		item,
		events: [
			{ type: 'response.output_item.added', output_index, item: started },
			...between,
			{ type: 'response.output_item.done', output_index, item },
		],
		tokens: 0,
		reasoningTokens: 0,
		cut: false,
		...spent,
	};
}

function message(
	whole: string,
	annotations: Annotation[],
	output_index: number,
	budget: number,
	{ id }: Making,
): Output {
	const { pieces, text, cut } = cutTo(whole, budget);
	const kept = cut ? [] : annotations;
	const item_id = id('msg');
	const place = { item_id, output_index, content_index: 0 };
	const common = { id: item_id, type: 'message', role: 'assistant' };
	const part = { type: 'output_text', text, annotations: kept, logprobs: [] };
	return output(
		output_index,
		{ ...common, status: 'in_progress', content: [] },
		[
			{
				type: 'response.content_part.added',
				...place,
				part: { ...part, text: '', annotations: [] },
			},
			...pieces.map((delta) => ({
				type: 'response.output_text.delta',
				...place,
				delta,
				logprobs: [],
			})),
			...kept.map((annotation, annotation_index) => ({
				type: 'response.output_text.annotation.added',
				...place,
				annotation_index,
				annotation,
			})),
			{ type: 'response.output_text.done', ...place, text, logprobs: [] },
			{ type: 'response.content_part.done', ...place, part },
		],
		{ ...common, status: statusFor(cut), content: [part] },
		{ tokens: pieces.length, cut },
	);
}

function refusal(whole: string, output_index: number, budget: number, { id }: Making): Output {
	const { pieces, text, cut } = cutTo(whole, budget);
	const item_id = id('msg');
	const place = { item_id, output_index, content_index: 0 };
	const common = { id: item_id, type: 'message', role: 'assistant' };
	const part = { type: 'refusal', refusal: text };
	return output(
		output_index,
		{ ...common, status: 'in_progress', content: [] },
		[
			{ type: 'response.content_part.added', ...place, part: { ...part, refusal: '' } },
			...pieces.map((delta) => ({ type: 'response.refusal.delta', ...place, delta })),
			{ type: 'response.refusal.done', ...place, refusal: text },
			{ type: 'response.content_part.done', ...place, part },
		],
		{ ...common, status: statusFor(cut), content: [part] },
		{ tokens: pieces.length, cut },
	);
}

function functionCall(
	name: string,
	whole: string,
	output_index: number,
	budget: number,
	{ id }: Making,
): Output {
	const { pieces, text, cut } = cutTo(whole, budget);
	const item_id = id('fc');
	const place = { item_id, output_index };
	const common = { id: item_id, type: 'function_call', call_id: id('call'), name };
	return output(
		output_index,
		{ ...common, status: 'in_progress', arguments: '' },
		[
			...pieces.map((delta) => ({
				type: 'response.function_call_arguments.delta',
				...place,
				delta,
			})),
			{ type: 'response.function_call_arguments.done', ...place, name, arguments: text },
		],
		{ ...common, status: statusFor(cut), arguments: text },
		{ tokens: pieces.length, cut },
	);
}

function reasoning(
	whole: string,
	output_index: number,
	budget: number,
	{ id, include }: Making,
): Output {
	const { pieces, text, cut } = cutTo(whole, budget);
	const item_id = id('rs');
	const place = { item_id, output_index, summary_index: 0 };
	const part = { type: 'summary_text', text };
	const sealed = include.includes('reasoning.encrypted_content')
		? { encrypted_content: Buffer.from(`sealed ${text}`).toString('base64') }
		: {};
	return output(
		output_index,
		{ id: item_id, type: 'reasoning', summary: [] },
		[
			{ type: 'response.reasoning_summary_part.added', ...place, part: { ...part, text: '' } },
			...pieces.map((delta) => ({
				type: 'response.reasoning_summary_text.delta',
				...place,
				delta,
			})),
			{ type: 'response.reasoning_summary_text.done', ...place, text },
			{ type: 'response.reasoning_summary_part.done', ...place, part },
		],
		{ id: item_id, type: 'reasoning', summary: [part], ...sealed },
		{ tokens: pieces.length, reasoningTokens: pieces.length, cut },
	);
}

function webSearch(query: string, output_index: number, { id }: Making): Output {
	const item_id = id('ws');
	const place = { item_id, output_index };
	const common = { id: item_id, type: 'web_search_call', action: { type: 'search', query } };
	return output(
		output_index,
		{ ...common, status: 'in_progress' },
		[
			{ type: 'response.web_search_call.in_progress', ...place },
			{ type: 'response.web_search_call.searching', ...place },
			{ type: 'response.web_search_call.completed', ...place },
		],
		{ ...common, status: 'completed' },
	);
}

function imageGeneration(
	prompt: string,
	tool: JsonObject,
	output_index: number,
	{ id, defaultSize }: Making,
): Output {
	const size = typeof tool.size === 'string' ? tool.size : 'auto';
	const { width, height } = readSize(size, defaultSize);
	const result = drawImage({ prompt, index: 0, width, height }).toString('base64');
	const item_id = id('ig');
	const place = { item_id, output_index };
	const common = { id: item_id, type: 'image_generation_call' };
	const partials = typeof tool.partial_images === 'number' ? tool.partial_images : 0;
	return output(
		output_index,
		{ ...common, status: 'in_progress', result: null },
		[
			{ type: 'response.image_generation_call.in_progress', ...place },
			{ type: 'response.image_generation_call.generating', ...place },
			...Array.from({ length: Math.min(3, partials) }, (_unused, partial_image_index) => ({
				type: 'response.image_generation_call.partial_image',
				...place,
				partial_image_index,
				partial_image_b64: result,
			})),
			{ type: 'response.image_generation_call.completed', ...place },
		],
		{
			...common,
			status: 'completed',
			background: tool.background ?? 'opaque',
			output_format: 'png',
			quality: tool.quality ?? 'medium',
			result,
			revised_prompt: revisedPrompt(prompt),
			size: `${width}x${height}`,
		},
	);
}

function telemetry(output_index: number, { id }: Making): Output {
	const item = { id: id('tm'), type: 'telemetry', reading: { warm: true } };
	return output(
		output_index,
		item,
		[{ type: 'response.telemetry.reading', item_id: item.id, output_index, reading: null }],
		item,
	);
}
