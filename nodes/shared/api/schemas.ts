import * as z from 'zod/v4-mini';
import { InvalidResponseError } from './errors/errors';
import { sanitizeForMessage } from './errors/sanitize';
import { unusableReply } from './errors/from-reply';
import { pickIds } from './errors/reply-ids';
import type { ParsedReply } from './http/request';
import type { RequestKind } from './http/retry';

// n8n Cloud allows no code that is made from texts.
z.config({ jitless: true });

/** A field that only informs. It is dropped where it is malformed, so that nothing paid is lost. */
const informative = <Schema extends z.ZodMiniType>(schema: Schema) =>
	z.catch(z.optional(schema), undefined);

const text = () => informative(z.string());
const number = () => informative(z.number());

/** Contract, "Model". Fields beside `id` vary and pass through. */
const modelSchema = z.looseObject({ id: z.string().check(z.minLength(1)) });

/** Contract, "Model list". */
export const modelListSchema = z.looseObject({ data: z.array(modelSchema) });

/** Contract, "Usage object". */
const usageSchema = z.looseObject({
	input_tokens: z.optional(z.number()),
	output_tokens: z.optional(z.number()),
	total_tokens: z.optional(z.number()),
});
const usage = () => informative(z.nullable(usageSchema));

/** Contract, "Response": output items are read by `type` only, unknown ones pass through. */
export const responseSchema = z.looseObject({
	id: z.string(),
	status: z.string(),
	output: z.array(z.looseObject({ type: z.string() })),
	model: text(),
	usage: usage(),
});

/** Why a task failed: an object, or a text alone. */
const taskErrorSchema = z.catch(
	z.pipe(
		z.transform((error) => (typeof error === 'string' ? { message: error } : (error ?? undefined))),
		z.optional(
			z.looseObject({
				type: text(),
				code: informative(z.union([z.string(), z.pipe(z.number(), z.transform(String))])),
				message: text(),
			}),
		),
	),
	undefined,
);

/** Contract, "Image task". The ID comes as `task_id` and `id`; one of them is enough. */
export const imageTaskSchema = z.looseObject({
	task_id: text(),
	id: text(),
	status: z.string().check(z.minLength(1)),
	created_at: number(),
	expires_at: informative(z.number().check(z.positive())),
	completed_at: number(),
	http_status: number(),
	image_url: text(),
	result: informative(
		z.looseObject({
			created: number(),
			data: informative(z.array(z.looseObject({ url: text() }))),
			error: taskErrorSchema,
			usage: usage(),
			size: text(),
		}),
	),
	error: taskErrorSchema,
});

export type Model = z.infer<typeof modelSchema>;
export type ModelResponse = z.infer<typeof responseSchema>;
export type ImageTask = z.infer<typeof imageTaskSchema>;

/**
 * Checks a success answer against its schema.
 * @param what names the answer in the error, such as `model list`
 * @param partialText gives what the error keeps of an answer that was paid for
 * @returns the answer with its type; unknown fields are kept
 * @throws {InvalidResponseError} that names the path of the first field which is missing or of a wrong type
 */
export function checkReply<Schema extends z.ZodMiniType>(
	schema: Schema,
	{ json, reply, ...ids }: ParsedReply,
	{ what, kind, partialText }: { what: string; kind: RequestKind; partialText?: () => string },
): z.infer<Schema> {
	const checked = schema.safeParse(json, { error: problemOf });
	if (checked.success) return checked.data;
	const [issue] = checked.error.issues;
	throw new InvalidResponseError(
		`The gateway’s ${what} is not as expected: ${fieldAt(issue?.path ?? [])}${issue?.message}`,
		{
			...unusableReply(kind),
			httpStatus: reply.status,
			partialText: partialText?.(),
			...pickIds(ids),
		},
	);
}

function problemOf({ code, input, expected }: z.core.$ZodRawIssue): string {
	if (code !== 'invalid_type') return 'empty';
	return input === undefined ? 'missing' : `expected ${expected}, received ${typeOf(input)}`;
}

function typeOf(value: unknown): string {
	if (value === null) return 'null';
	return Array.isArray(value) ? 'array' : typeof value;
}

function fieldAt(path: PropertyKey[]): string {
	const name = path.reduce<string>((text, part) => {
		if (typeof part === 'number') return `${text}[${part}]`;
		return text === '' ? String(part) : `${text}.${String(part)}`;
	}, '');
	return name === '' ? '' : `field "${sanitizeForMessage(name, 200)}": `;
}
