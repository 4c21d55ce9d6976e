import { isChatCompletion, isNamedChat } from './chat-completion';
import type { CreatedResponse } from './created-response';
import { getIncompleteReason } from './incomplete';
import { getSpokenText } from './response-output';

type Fields = Record<string, unknown>;

/** Something about an answer that its reader has to know. */
export interface AnswerHint {
	/** What it is about: shown once a run. */
	key: string;
	message: string;
}

/** What is to be said of an answer that is no error. */
export function getAnswerHints(created: CreatedResponse): AnswerHint[] {
	const hints: Array<[key: string, message: string | undefined]> = [
		['incomplete', getIncompleteReason(created.response)],
		['empty answer', describeEmptyAnswer(created)],
		['another interface', describeInterface(created)],
	];
	return hints.flatMap(([key, message]) => (message === undefined ? [] : [{ key, message }]));
}

/** Items that by themselves are no answer. */
const NO_ANSWER = ['message', 'reasoning'];

function describeEmptyAnswer({ response }: CreatedResponse): string | undefined {
	const { status, output, usage } = response;
	const tokens = usage?.output_tokens ?? 0;
	const isEmpty =
		getSpokenText(response) === '' && output.every(({ type }) => NO_ANSWER.includes(type));
	if (status !== 'completed' || !isEmpty || tokens === 0) return undefined;
	return `The gateway counted ${tokens} output tokens, but its answer is empty. Its console may show what was generated.`;
}

function describeInterface({ json }: CreatedResponse): string | undefined {
	const name = INTERFACES.find(({ answers }) => answers(json))?.name;
	if (name === undefined) return undefined;
	return `The gateway answered in the form of ${name}. Its text and tool calls were read; other parts of the answer may be missing.`;
}

/** Interfaces whose answers are read, with the name that their users know. */
const INTERFACES: Array<{ name: string; answers(json: Fields): boolean }> = [
	{
		name: 'the Chat Completions interface',
		answers: (json) => isChatCompletion(json) || isNamedChat(json.object),
	},
	{ name: 'Claude’s Messages interface', answers: ({ type }) => type === 'message' },
	{
		name: 'Gemini’s own interface',
		answers: ({ candidates, object }) => Array.isArray(candidates) || object === 'generateContent',
	},
];
