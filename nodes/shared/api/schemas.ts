import * as z from 'zod';
import { InvalidResponseError } from './errors/errors';
import { sanitizeForMessage } from './errors/sanitize';
import { unusableReply } from './errors/from-reply';
import { pickIds } from './errors/reply-ids';
import type { ParsedReply } from './http/request';
import type { RequestKind } from './http/retry';

/** Contract, "Model". Fields beside `id` vary and pass through. */
const modelSchema = z.object({ id: z.string().min(1) }).passthrough();

/** Contract, "Model list". */
export const modelListSchema = z.object({ data: z.array(modelSchema) }).passthrough();

/** Contract, "Usage object". */
const usageSchema = z
	.object({ input_tokens: z.number(), output_tokens: z.number(), total_tokens: z.number() })
	.partial()
	.passthrough();

/**
 * Contract, "Response": output items are read by `type` only, unknown ones pass through. What is
 * only informative is dropped where it is malformed, so that no paid answer is lost by it.
 */
export const responseSchema = z
	.object({
		id: z.string(),
		status: z.string(),
		output: z.array(z.object({ type: z.string() }).passthrough()),
		model: z.string().optional().catch(undefined),
		usage: usageSchema.nullish().catch(undefined),
	})
	.passthrough();

/** Why a task failed: an object, or a text alone. */
const taskErrorSchema = z
	.preprocess(
		(error) => (typeof error === 'string' ? { message: error } : (error ?? undefined)),
		z
			.object({
				type: z.string().optional().catch(undefined),
				code: z
					.union([z.string(), z.number().transform(String)])
					.optional()
					.catch(undefined),
				message: z.string().optional().catch(undefined),
			})
			.passthrough()
			.optional(),
	)
	.catch(undefined);

/**
 * Contract, "Image task". The ID comes as `task_id` and `id`; one of them is enough. What is only
 * informative is dropped where it is malformed, so that no paid task is lost by it.
 */
export const imageTaskSchema = z
	.object({
		task_id: z.string().optional().catch(undefined),
		id: z.string().optional().catch(undefined),
		status: z.string().min(1),
		created_at: z.number().optional().catch(undefined),
		expires_at: z.number().positive().optional().catch(undefined),
		completed_at: z.number().optional().catch(undefined),
		http_status: z.number().optional().catch(undefined),
		image_url: z.string().optional().catch(undefined),
		result: z
			.object({
				created: z.number().optional().catch(undefined),
				data: z
					.array(z.object({ url: z.string().optional().catch(undefined) }).passthrough())
					.optional()
					.catch(undefined),
				error: taskErrorSchema,
				usage: usageSchema.nullish().catch(undefined),
				size: z.string().optional().catch(undefined),
			})
			.passthrough()
			.optional()
			.catch(undefined),
		error: taskErrorSchema,
	})
	.passthrough();

export type Model = z.infer<typeof modelSchema>;
export type ModelResponse = z.infer<typeof responseSchema>;
export type ImageTask = z.infer<typeof imageTaskSchema>;

/**
 * Checks a success answer against its schema.
 * @param what names the answer in the error, such as `model list`
 * @returns the answer with its type; unknown fields are kept
 * @throws {InvalidResponseError} that names the path of the first field which is missing or of a wrong type
 */
export function checkReply<Schema extends z.ZodTypeAny>(
	schema: Schema,
	{ json, reply, ...ids }: ParsedReply,
	{ what, kind }: { what: string; kind: RequestKind },
): z.infer<Schema> {
	const checked = schema.safeParse(json);
	if (checked.success) return checked.data as z.infer<Schema>;
	const issue = checked.error.issues[0];
	const path = (issue?.path ?? []).reduce<string>(
		(text, part) =>
			typeof part === 'number' ? `${text}[${part}]` : text === '' ? part : `${text}.${part}`,
		'',
	);
	const problem = sanitizeForMessage(issue?.message ?? 'unknown fault', 200);
	throw new InvalidResponseError(
		`The gateway’s ${what} is not as expected: ${path ? `field "${sanitizeForMessage(path, 200)}": ` : ''}${problem}`,
		{
			...unusableReply(kind),
			httpStatus: reply.status,
			...pickIds(ids),
		},
	);
}
