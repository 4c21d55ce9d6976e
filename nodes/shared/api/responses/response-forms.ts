import { onlyEntry } from '../errors/gateway-error';
import { asRecord, omitUndefined, parseJson } from '../http/json';
import { fromChatCompletion, isChatCompletion } from './chat-completion';
import { normalizeItems, readSpoken, toMessage } from './item-forms';
import { fromOtherInterface, isOtherInterface } from './other-interfaces';

type Fields = Record<string, unknown>;

/**
 * Brings a response into the contract's form. Gateways that translate from other interfaces leave
 * out IDs and states, or wrap the response. They send contents as texts, call their parts `text`, or
 * answer in the form of another interface.
 * @param body as the gateway sent it
 * @returns the body itself if it is no response at all
 * @see contract, "Response"
 */
export function normalizeResponse(body: unknown): unknown {
	const fields = unwrap(body);
	if (!fields) return body;
	const response = toResponse(fields);
	const { output_text: given } = response;
	const text = toMessage(given);
	const output = normalizeItems(response.output ?? []);
	const isSilent = output.every((item) => readSpoken(item) === '');
	const lacksText = isSilent && readSpoken(text) !== '';
	return {
		...response,
		id: readId(response.id),
		status: readStatus(response),
		usage: normalizeUsage(response.usage),
		output: lacksText ? [...output.filter(({ type }) => type !== 'message'), text] : output,
	};
}

function toResponse(fields: Fields): Fields {
	if (isChatCompletion(fields)) return fromChatCompletion(fields);
	return isOtherInterface(fields) ? fromOtherInterface(fields) : fields;
}

/** Fields in which gateways wrap a response. */
const WRAPPERS = ['response', 'data', 'result'];

/** The response in a body: the body itself, the value of a field, or the only entry of a list. */
function unwrap(body: unknown): Fields | undefined {
	const given = typeof body === 'string' ? parseJson(body) : body;
	const fields = asRecord(onlyEntry(given));
	const wrapped = WRAPPERS.map((name) => asRecord(fields[name]));
	return [fields, ...wrapped].find(isResponse);
}

/** Whether an object is a response, in whatever form. */
export function isResponse(fields: Fields): boolean {
	const { output, output_text: text } = fields;
	const hasOutput = [output, text].some((given) => normalizeItems(given ?? []).length > 0);
	if (hasOutput || Array.isArray(output)) return true;
	return hasFailed(fields) || isChatCompletion(fields) || isOtherInterface(fields);
}

const hasFailed = ({ status }: Fields) =>
	['failed', 'cancelled', 'canceled'].includes(String(status).toLowerCase());

function readId(id: unknown): string {
	return typeof id === 'string' || typeof id === 'number' ? String(id) : '';
}

/** Other names of the states of a response. */
const STATUSES = {
	completed: ['complete', 'done', 'finished', 'ok', 'success', 'succeeded'],
	failed: ['error', 'fail', 'failure'],
	cancelled: ['canceled'],
};

function readStatus({ status, error, incomplete_details: incomplete }: Fields): unknown {
	if (typeof status === 'string') {
		const name = status.toLowerCase();
		return Object.entries(STATUSES).find(([, names]) => names.includes(name))?.[0] ?? name;
	}
	if (Object.keys(asRecord(error)).length > 0) return 'failed';
	return Object.keys(asRecord(incomplete)).length > 0 ? 'incomplete' : 'completed';
}

/** Tokens under the names of other interfaces; what is not known is left out. */
function normalizeUsage(usage: unknown): unknown {
	if (typeof usage !== 'object' || usage === null) return usage;
	const {
		prompt_tokens: prompt,
		completion_tokens: completion,
		input_tokens: input = prompt,
		output_tokens: output = completion,
		...rest
	} = omitUndefined(usage as Fields);
	return omitUndefined({ input_tokens: input, output_tokens: output, ...rest });
}
