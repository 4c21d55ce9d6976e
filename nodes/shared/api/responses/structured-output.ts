import { Validator, type Schema, type SchemaDraft } from '@cfworker/json-schema';
import { InvalidResponseError } from '../errors/errors';
import { pickIds } from '../errors/reply-ids';
import { sanitizeForMessage } from '../errors/sanitize';
import { asRecord } from '../http/json';
import { parseJsonAnswer } from './json-answer';
import { getIncompleteReason } from './incomplete';
import type { CreatedResponse } from './created-response';

/**
 * Parses the text of an answer that was asked for as JSON, and checks it against the schema.
 * @param asked the body that was sent
 * @returns undefined if no JSON was asked for
 * @throws {InvalidResponseError} the text is no JSON, or does not fit the schema; the error carries the text
 * @see contract, "Response request" (`text`)
 */
export function parseStructured(
	{ response, ...created }: CreatedResponse,
	text: string,
	asked: Record<string, unknown>,
): unknown {
	const schema = getSchema(asked);
	if (!schema) return undefined;
	const parsed = parseJsonAnswer(text);
	const fault = parsed === undefined ? 'is not JSON' : findMismatch(parsed, schema);
	if (fault === undefined) return parsed;
	const why = getIncompleteReason(response);
	throw new InvalidResponseError(`The model’s answer ${fault}: ${sanitizeForMessage(text, 300)}`, {
		advice: [
			why ?? 'The model did not follow the Output Format.',
			'The answer was paid for; its text is in the error’s details. Turn off Simplify to get answers as they are.',
		].join(' '),
		retryable: false,
		charged: true,
		...pickIds(created),
		partialText: text,
	});
}

/** The schema that was asked for; one for any JSON object if none was. */
function getSchema({ text }: Record<string, unknown>): Schema | undefined {
	const format = asRecord(asRecord(text).format);
	if (format.type === 'json_object') return { type: 'object' };
	return format.type === 'json_schema' ? asRecord(format.schema) : undefined;
}

/** What of a value does not fit its schema; undefined as well if the schema can't be used. */
function findMismatch(value: unknown, schema: Schema): string | undefined {
	const error = findError(value, schema);
	if (!error) return undefined;
	const { instanceLocation, error: problem } = error;
	const place =
		instanceLocation === '#' ? '' : ` at ${sanitizeForMessage(instanceLocation.slice(1), 100)}`;
	return `does not fit the schema${place} (${sanitizeForMessage(problem, 200).replace(/\.$/, '')})`;
}

function findError(value: unknown, schema: Schema) {
	try {
		// It stops at the first fault. Each level that holds it adds an error, the innermost last.
		return new Validator(schema, getDraft(schema), true).validate(value).errors.at(-1);
	} catch {
		// A reference that leads nowhere, or a pattern that is none: the answer is not at fault.
		return undefined;
	}
}

function getDraft({ $schema }: Schema): SchemaDraft {
	if (/draft-04/.test($schema ?? '')) return '4';
	return /draft-0[67]/.test($schema ?? '') ? '7' : '2020-12';
}
