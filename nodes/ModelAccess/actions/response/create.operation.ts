import type { IDataObject, INodeExecutionData, INodeProperties } from 'n8n-workflow';
import { InvalidResponseError, ModelAccessError } from '../../../shared/api/errors/errors';
import { pickIds } from '../../../shared/api/errors/reply-ids';
import type { Client } from '../../../shared/api/http/request';
import { getAnswerHints } from '../../../shared/api/responses/answer-hints';
import { createdResponse } from '../../../shared/api/responses/check-response';
import { checkResponseRequest, createResponse } from '../../../shared/api/responses/response';
import type { CreatedResponse } from '../../../shared/api/responses/created-response';
import { inputFromJson } from '../../../shared/api/responses/response-input';
import { findAddedInstructions } from '../../../shared/api/responses/added-instructions';
import { prepareRequest } from '../../../shared/api/responses/prepare-request';
import { findNotApplied } from '../../../shared/api/responses/not-applied';
import { getOutputText, simplifyResponse } from '../../../shared/api/responses/response-output';
import { streamResponse, type StreamSettings } from '../../../shared/api/responses/response-stream';
import type { ItemScope, Operation } from '../../../shared/n8n/runner/operation';
import type { SavedWork } from '../../../shared/n8n/resume/resume-store';
import { builtInToolsField } from '../../../shared/n8n/fields/built-in-tools';
import { modelPicker, readModel } from '../../../shared/n8n/fields/model-picker';
import { concurrencyOption, hideIf, optionFields } from '../../../shared/n8n/fields/options';
import { promptField, readPrompt } from '../../../shared/n8n/fields/prompt';
import { booleanParameter, jsonParameter } from '../../../shared/n8n/fields/parameters';
import { readSimplify, simplifyField } from '../../../shared/n8n/fields/simplify';
import { textParameter } from '../../../shared/n8n/fields/text';
import {
	answerOptions,
	carriageOptions,
	idleTimeoutOption,
	readResponseBounds,
} from '../../../shared/n8n/fields/response-options';
import { getAnswerImages } from '../../../shared/n8n/answer-images';
import { outputFileOption } from '../../../shared/n8n/fields/output-file';
import { addTokenUsage } from '../../../shared/n8n/token-usage';
import { messageRows, readMessages } from './message-rows';
import { advancedBodyOptions, bodyOptions, instructions, readBodyFields } from './request-options';

const INPUT_FIELD = 'Input (JSON)';

const imagesFieldOption = outputFileOption(
	'The name of the output binary field for an image that the model generates; more get _1, _2, …',
);

const streamField = {
	displayName: 'Stream',
	name: 'stream',
	type: 'boolean',
	default: false,
	description:
		'Whether to receive the answer as the model writes it, so that long answers do not time out. A chat or webhook that responds by streaming shows the answer as it arrives, even if this is off. The output of this node is the same.',
} satisfies INodeProperties;

/** Response → Create: `POST /v1/responses`. */
export const create: Operation = {
	value: 'create',
	name: 'Create',
	action: 'Create a response',
	description: 'Get a model’s answer to a text, a conversation, images or files',
	unit: 'answer',
	toolDescription:
		'Asks an AI model and returns its answer (text). If the tool asks for JSON, it also returns the JSON of the answer (parsed).',
	toolFields: ['text', 'refusal', 'parsed', 'tool_calls'],
	properties: [
		modelPicker,
		{
			displayName: 'Input Type',
			name: 'inputType',
			type: 'options',
			options: [
				{ name: 'Text', value: 'text', description: 'One text' },
				{
					name: 'Messages',
					value: 'messages',
					description: 'A conversation, with images and files if you like',
				},
				{ name: 'JSON', value: 'json', description: 'Input items as the gateway takes them' },
			],
			default: 'text',
			description: 'What kind of input the model gets',
		},
		{
			...promptField(
				'e.g. Summarize this in one sentence: {{ $json.text }}',
				'What the model should answer to',
			),
			displayOptions: { show: { inputType: ['text'] } },
		},
		{ ...messageRows, displayOptions: { show: { inputType: ['messages'] } } },
		{
			displayName: INPUT_FIELD,
			name: 'inputJson',
			type: 'json',
			typeOptions: { rows: 6 },
			required: true,
			default: '[\n  { "role": "user", "content": "Hello" }\n]',
			description: 'A list of input items, or a text',
			displayOptions: { show: { inputType: ['json'] } },
		},
		instructions.field,
		streamField,
		simplifyField,
		builtInToolsField,
		...optionFields({
			options: [...answerOptions, ...bodyOptions],
			advanced: [
				...advancedBodyOptions,
				...carriageOptions,
				concurrencyOption,
				hideIf(idleTimeoutOption, { '/stream': [false] }),
				imagesFieldOption,
			],
		}),
	],
	async run(item: ItemScope): Promise<INodeExecutionData[]> {
		const onText = item.beginStream?.();
		const body = prepareRequest(
			checkResponseRequest({
				model: readModel(item.parameter('model')),
				input: await readInput(item),
				...readBodyFields(item),
			}),
		);
		const client = item.client(readResponseBounds(item.options));
		const streams = booleanParameter(item.parameter(streamField.name), streamField);
		const simplify = readSimplify(item);
		const idleMs = idleTimeoutOption.read(item.options);
		const imagesField = imagesFieldOption.read(item.options);
		const earlier = item.work.restore(body);
		const created =
			earlier?.kind === 'answer'
				? answeredBefore(client, earlier)
				: await ask(item, client, body, { idleMs, onText, streams });
		return await toOutput(item, created, { body, imagesField, simplify });
	},
};

async function ask(
	item: ItemScope,
	client: Client,
	body: Record<string, unknown>,
	{ streams, ...stream }: StreamSettings & { streams: boolean },
): Promise<CreatedResponse> {
	const created =
		streams || stream.onText !== undefined
			? await streamResponse(client, body, stream)
			: await createResponse(client, body);
	addTokenUsage(item.context, created.response.usage);
	return created;
}

/**
 * The answer that an earlier try of the node received, and paid for. Where the workflow streams its
 * caller has read it then.
 */
function answeredBefore(
	client: Client,
	{ json, ...ids }: Extract<SavedWork, { kind: 'answer' }>,
): CreatedResponse {
	const reply = { status: 200, headers: {}, body: '' };
	return createdResponse(client, { json, reply, ...pickIds(ids) });
}

/** The output item. Whatever fails from here on, the answer is paid for: its text is in the error. */
async function toOutput(
	item: ItemScope,
	created: CreatedResponse,
	{
		body,
		imagesField,
		simplify,
	}: { body: Record<string, unknown>; imagesField: string; simplify: boolean },
): Promise<INodeExecutionData[]> {
	try {
		hintAt(item, created, body);
		const json = simplify ? simplifyResponse(created, body) : created.json;
		// Before its images are stored, which may fail: the next try must not pay again.
		item.work.save({ kind: 'answer', json: created.json as IDataObject, ...pickIds(created) });
		const binary = await getAnswerImages(item.context.helpers, created, imagesField);
		return [{ json: json as IDataObject, ...(binary && { binary }) }];
	} catch (error) {
		throw adviseOnFormat(toOutputError(error, created));
	}
}

/** JSON was asked for and none came: perhaps the model was never asked for it. */
function adviseOnFormat(error: ModelAccessError): ModelAccessError {
	if (!error.message.startsWith('The model’s answer is not JSON')) return error;
	const more =
		'The gateway may not pass the Output Format on to this model: describe the JSON in Instructions as well.';
	return error.with({ advice: `${error.details.advice} ${more}` });
}

function toOutputError(
	error: unknown,
	{ response, ...created }: CreatedResponse,
): ModelAccessError {
	if (error instanceof ModelAccessError) return error;
	return new InvalidResponseError(`The answer could not be returned: ${(error as Error).message}`, {
		advice: 'The answer was paid for; its text is in the error’s details.',
		retryable: false,
		charged: true,
		...pickIds(created),
		partialText: getOutputText(response),
	});
}

/** A number or a boolean as its text. */
const plainText = (value: unknown) =>
	typeof value === 'number' || typeof value === 'boolean' ? String(value) : value;

async function readInput(item: ItemScope): Promise<unknown> {
	switch (textParameter(item.parameter('inputType'), 'Input Type')) {
		case 'messages':
			return await readMessages(item);
		case 'json':
			return inputFromJson(plainText(item.parameter('inputJson')), INPUT_FIELD, (text) =>
				jsonParameter(text, INPUT_FIELD),
			);
		default:
			return readPrompt(item.parameter('prompt'));
	}
}

function hintAt(
	{ hint, index }: ItemScope,
	created: CreatedResponse,
	body: Record<string, unknown>,
): void {
	for (const { key, message } of getAnswerHints(created)) {
		if (key === 'incomplete') hint(`${key} ${index}`, `Item ${index}: ${message}`);
		else hint(key, message);
	}
	const added = findAddedInstructions(body, created.response);
	if (added !== undefined) hint('added instructions', `${added}: set Instructions.`);
	const notApplied = findNotApplied(body, created.response);
	if (notApplied.length > 0) hint('not applied', notApplied.join(' '));
}
