import { isObject, type JsonObject } from '../body';
import { ApiError } from '../errors';
import { classify, imagePromptFor } from './language';
import { textOf, type FunctionTool, type InputItem, type ResponseRequest } from './request';
import { sampleOf } from './sample';

/** An output item of the "model", before it is cut to `max_output_tokens`. */
export type Plan =
	| { type: 'reasoning'; summary: string }
	| { type: 'web_search_call'; query: string }
	| { type: 'image_generation_call'; prompt: string; tool: JsonObject }
	| { type: 'function_call'; name: string; arguments: string }
	| { type: 'message'; text: string; annotations: Annotation[] }
	| { type: 'refusal'; refusal: string }
	/** An item of an unknown type. */
	| { type: 'telemetry' };

export interface Annotation {
	type: 'url_citation';
	start_index: number;
	end_index: number;
	url: string;
	title: string;
}

/** The answer to a request. */
export interface Answer {
	plans: Plan[];
	/** How the answer ends: completed, by `response.failed`, or by an `error` event (HTTP 500). */
	end: 'completed' | 'failed' | 'error';
}

const SOURCE = 'Example Encyclopedia';

/**
 * The answer of the "model". It follows these rules in this order. The same request gets the same
 * answer.
 *
 * *Directives* stand in double brackets in the last user message or the instructions. They are
 * removed from the text.
 * - `[[status:503]]`: an HTTP error. `[[once:503]]`: the same for the first request only.
 * - `[[fail]]`: a failed response. `[[error]]`: an `error` event (HTTP 500 without streaming).
 * - `[[refuse]]`: a refusal. `[[empty]]`: no output. `[[two]]`: two messages.
 * - `[[unknown]]`: an item and an event of unknown type first.
 * - `[[no-tools]]`: no tool is used. `[[bad-json]]`: invalid JSON. `[[words:N]]`: N words.
 *
 * *Functions* are called unless their outputs follow the last user message or `tool_choice` is
 * none.
 * - Every function that the last user message names is called, or else the first one.
 * - If `parallel_tool_calls` is false, only one is called.
 * - Arguments are a sample of the function's parameters.
 * - `[[call:name]]` calls exactly these functions, `[[call:name {"a":1}]]` with these arguments.
 * - `[[then:name]]` adds one call for each round of outputs.
 *
 * *Other tools* are used if no function is called. `web_search` searches and cites one source.
 * `image_generation` draws one image from the last user message. Others do nothing.
 *
 * *Text*: see {@link textFor}. If the request asks for JSON, the answer is a sample of the schema.
 * The last user message and the outputs of functions decide it. `json_object` gives `{ "answer":
 * text }`.
 *
 * @param items history and input, in order
 */
export function answerTo(request: ResponseRequest, items: InputItem[]): Answer {
	const talk = readTalk(request, items);
	const { directives, asked } = talk;
	const plans: Plan[] = [];
	const end = directives.has('fail') ? 'failed' : directives.has('error') ? 'error' : 'completed';
	if (directives.has('empty')) return { plans, end };
	if (directives.has('unknown')) plans.push({ type: 'telemetry' });
	if (request.summary) {
		plans.push({ type: 'reasoning', summary: `**Reading the request**\n\nIt says: ${asked}` });
	}
	if (directives.has('refuse')) {
		plans.push({ type: 'refusal', refusal: 'I cannot help with that.' });
		return { plans, end };
	}
	const toolsOff = directives.has('no-tools') || request.toolChoice.mode === 'none';
	const calls = toolsOff ? [] : functionCalls(request, talk);
	if (calls.length > 0) return { plans: [...plans, ...calls], end };

	const search = toolsOff
		? undefined
		: (request.hosted.get('web_search') ?? request.hosted.get('web_search_preview'));
	if (search) plans.push({ type: 'web_search_call', query: asked });
	const drawing = toolsOff ? undefined : request.hosted.get('image_generation');
	if (drawing) plans.push({ type: 'image_generation_call', prompt: asked, tool: drawing });

	const text = formatted(request, talk);
	if (search && request.format.type === 'text') {
		const cited = `${text} (${SOURCE})`;
		const annotation: Annotation = {
			type: 'url_citation',
			start_index: text.length + 2,
			end_index: cited.length - 1,
			url: `https://example.com/encyclopedia?q=${encodeURIComponent(asked)}`,
			title: SOURCE,
		};
		plans.push({ type: 'message', text: cited, annotations: [annotation] });
	} else {
		plans.push({ type: 'message', text, annotations: [] });
	}
	if (directives.has('two')) {
		plans.push({ type: 'message', text: 'And one more thing.', annotations: [] });
	}
	return { plans, end };
}

/** Seconds of `Retry-After` if a directive asks for 429 or 503. */
const RETRY_AFTER = 2;

/**
 * Refuses if a text asks for it: `[[status:NNN]]` always, `[[once:NNN]]` at the first attempt of
 * this request.
 * @throws ApiError
 */
export function obeyStatus(text: string, attempt: number) {
	const [, word, digits] = /\[\[(status|once):([45]\d\d)\]\]/.exec(text) ?? [];
	if (word === undefined || (word === 'once' && attempt > 1)) return;
	const status = Number(digits);
	throw new ApiError(status, [429, 503].includes(status) ? { retryAfter: RETRY_AFTER } : {});
}

/** Last user message and instructions: the text that may have directives. */
export const directiveText = (request: ResponseRequest, items: InputItem[]): string =>
	`${instructionsOf(request, items)}\n${textOf(lastQuestion(items)?.parts ?? [])}`;

interface Talk {
	/** The last user message, without directives. */
	asked: string;
	/** The user message before it. */
	before?: string;
	instructions: string;
	/** Images and files of the last user message. */
	attachments: string[];
	/** Outputs of functions after the last user message. */
	outputs: Array<{ name: string; output: string }>;
	directives: Set<string>;
	/** N of `[[words:N]]`. */
	words?: number;
	/** Calls of `[[call:…]]` and `[[then:…]]`, by round. */
	rounds: PlannedCall[][];
}

interface PlannedCall {
	name: string;
	/** JSON; if absent, a sample of the function's parameters. */
	arguments?: string;
}

function readTalk(request: ResponseRequest, items: InputItem[]): Talk {
	const names = new Map(
		items.flatMap((item) => (item.type === 'function_call' ? [[item.callId, item.name]] : [])),
	);
	const question = lastQuestion(items);
	const questions = items.filter((item) => item.type === 'message' && item.role === 'user');
	const before = questions[questions.length - 2];
	const after = question ? items.slice(items.lastIndexOf(question) + 1) : items;
	const all = directiveText(request, items);
	const words = /\[\[words:(\d+)\]\]/.exec(all)?.[1];
	return {
		asked: plain(textOf(question?.parts ?? [])),
		before: before?.type === 'message' ? plain(textOf(before.parts)) : undefined,
		instructions: plain(instructionsOf(request, items)),
		attachments: (question?.parts ?? []).flatMap((part) =>
			part.kind === 'text' ? [] : [part.about],
		),
		outputs: after.flatMap((item) =>
			item.type === 'function_call_output'
				? [{ name: names.get(item.callId) ?? 'a tool', output: item.output }]
				: [],
		),
		directives: new Set([...all.matchAll(/\[\[([a-z-]+)\]\]/g)].map(([, name = '']) => name)),
		words: words === undefined ? undefined : Number(words),
		rounds: roundsIn(question?.type === 'message' ? textOf(question.parts) : ''),
	};
}

const CALL = /\[\[(call|then):([\w-]+)\s*(\{[^]*?\})?\]\]/g;

/** All `call` directives of a message are one round. Each `then` is another round. */
function roundsIn(text: string): PlannedCall[][] {
	const planned = [...text.matchAll(CALL)].map(([, word, name = '', given]) => ({
		word,
		call: { name, arguments: given },
	}));
	const first = planned.filter(({ word }) => word === 'call').map(({ call }) => call);
	const then = planned.filter(({ word }) => word === 'then').map(({ call }) => [call]);
	return [...(first.length > 0 ? [first] : []), ...then];
}

const plain = (text: string) =>
	text
		.replace(new RegExp(`\\s*${CALL.source}`, 'g'), '')
		.replace(/\s*\[\[[a-z-]+(:\d+)?\]\]/g, '')
		.trim();

function lastQuestion(items: InputItem[]) {
	const messages = items.filter((item) => item.type === 'message');
	return messages.findLast(({ role }) => role === 'user') ?? messages[messages.length - 1];
}

function instructionsOf({ instructions }: ResponseRequest, items: InputItem[]): string {
	const rules = items.flatMap((item) =>
		item.type === 'message' && (item.role === 'system' || item.role === 'developer')
			? [textOf(item.parts)]
			: [],
	);
	return [instructions ?? '', ...rules].filter((text) => text !== '').join('\n');
}

function functionCalls(request: ResponseRequest, talk: Talk): Plan[] {
	const { functions, toolChoice, parallelToolCalls } = request;
	if (toolChoice.mode === 'hosted') return [];
	const allowed = functions.filter(
		({ name }) => toolChoice.mode !== 'functions' || toolChoice.names.includes(name),
	);
	const chosen = talk.rounds.length > 0 ? nextRound(talk, allowed) : wantedBy(talk, allowed);
	return (parallelToolCalls ? chosen : chosen.slice(0, 1)).map(({ tool, given }) => {
		const sample = sampleOf({ type: 'object', ...tool.parameters }, talk.asked);
		return {
			type: 'function_call',
			name: tool.name,
			arguments: given ?? JSON.stringify(isObject(sample) ? sample : {}),
		};
	});
}

interface Call {
	tool: FunctionTool;
	/** Its arguments, if the message has them. */
	given?: string;
}

/** The planned calls that come next, by the number of outputs so far. */
function nextRound({ rounds, outputs }: Talk, functions: FunctionTool[]): Call[] {
	let before = 0;
	for (const planned of rounds) {
		const round = planned.flatMap(({ name, arguments: given }): Call[] => {
			const tool = functions.find((known) => known.name.toLowerCase() === name.toLowerCase());
			return tool ? [{ tool, given }] : [];
		});
		if (outputs.length < before + round.length) return round.slice(outputs.length - before);
		before += round.length;
	}
	return [];
}

/** The functions that the message names, or else the first one. None after outputs. */
function wantedBy({ asked, outputs }: Talk, functions: FunctionTool[]): Call[] {
	if (outputs.length > 0) return [];
	const spoken = asked.toLowerCase();
	const named = functions.filter(({ name }) => {
		const word = name.toLowerCase();
		return spoken.includes(word) || spoken.includes(word.replace(/[_-]/g, ' '));
	});
	return (named.length > 0 ? named : functions.slice(0, 1)).map((tool) => ({ tool }));
}

function formatted({ format }: ResponseRequest, talk: Talk): string {
	if (format.type !== 'text' && talk.directives.has('bad-json')) return '{ "answer": ';
	switch (format.type) {
		case 'text':
			return textFor(talk);
		case 'json_object':
			return JSON.stringify({ answer: textFor(talk) });
		case 'json_schema': {
			const outputs = talk.outputs.map(({ output }) => output);
			return JSON.stringify(sampleOf(format.schema, [talk.asked, ...outputs].join('\n')));
		}
	}
}

const PROMPT_WISH =
	/(?:(?:image|picture) prompt|prompt for (?:an?|the) (?:image|picture|painting|photo))(?:\s+(?:for|of|about|showing))?\s*:?\s*/i;
const CLASSIFY_WISH = /\bclassif(?:y|ies|ication)\b|\bcategori[sz]e\b|\bsentiment\b/i;
const LABELS = /\b(?:as|into|one of|labels?)\b:?\s+([^.:\n]+?(?:,|\bor\b)[^.:\n]+)/i;

/**
 * The text of an answer. The first rule that fits decides.
 * 1. `[[words:N]]`: `w1 w2 … wN`.
 * 2. Outputs of functions: `<name> says: <output>`, one line each.
 * 3. The message or the instructions ask for an image prompt (`… image prompt for …`): the subject
 *    with medium, light and view.
 * 4. They ask for a classification (`Classify as a, b or c: …`, `sentiment`): one label. Without
 *    labels: positive, negative or neutral.
 * 5. Images and files: `I see <what>.` and, if the message has a text, `You asked: <text>`.
 * 6. Else `You said: <text>`. A line `Before that you said: …` follows if there is an earlier user
 *    message, and `I keep to: …` if there are instructions.
 */
function textFor(talk: Talk): string {
	const { asked, instructions, attachments, outputs, before, words } = talk;
	if (words !== undefined) {
		return Array.from({ length: words }, (_unused, index) => `w${index + 1}`).join(' ');
	}
	if (outputs.length > 0) {
		return outputs.map(({ name, output }) => `${name} says: ${output}`).join('\n');
	}
	const wish = PROMPT_WISH.exec(asked);
	if (wish) return imagePromptFor(asked.slice(wish.index + wish[0].length));
	if (PROMPT_WISH.test(instructions)) return imagePromptFor(asked);
	if (CLASSIFY_WISH.test(asked) || CLASSIFY_WISH.test(instructions)) {
		const subject = CLASSIFY_WISH.test(asked) ? asked.slice(asked.indexOf(':') + 1) : asked;
		const rule = subject === asked ? instructions : asked.slice(0, asked.indexOf(':'));
		const [first = 'positive', ...rest] = labelsIn(rule);
		return classify([first, ...rest], subject);
	}
	if (attachments.length > 0) {
		const seen = `I see ${attachments.join(' and ')}.`;
		return asked === '' ? seen : `${seen} You asked: ${asked}`;
	}
	const lines = [`You said: ${asked}`];
	if (before !== undefined) lines.push(`Before that you said: ${before}`);
	if (instructions !== '') lines.push(`I keep to: ${instructions}`);
	return lines.join('\n');
}

function labelsIn(rule: string): string[] {
	const list = LABELS.exec(rule)?.[1];
	if (list === undefined) return ['positive', 'negative', 'neutral'];
	return list
		.split(/,|\bor\b/)
		.map((label) => label.trim().replace(/^["'`]|["'`]$/g, ''))
		.filter((label) => label !== '');
}
