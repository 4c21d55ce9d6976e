import type { IncomingMessage } from 'node:http';
import { ApiError } from './errors';
import { readForm, type Form } from './images/form';
import { ClientGone, type GatewayTime } from './time';

/** A body as received: kept up to the limit, counted beyond it. */
export interface RawBody {
	bytes: Buffer;
	/** Number of received bytes, including those that were dropped. */
	length: number;
	/** Whether the gateway stopped waiting for the rest. */
	late: boolean;
}

/**
 * Bytes beyond the limit that are read and dropped. Without this the client would not see the 413.
 */
const PATIENCE = 256 * 2 ** 20;

/**
 * Reads a request's body to its end and keeps at most `limit` bytes of it.
 * @param bodyMs milliseconds after which the gateway stops waiting
 * @throws ClientGone
 */
export async function readBody(
	req: IncomingMessage,
	{ limit, bodyMs, time, gone }: BodyOptions,
): Promise<RawBody> {
	const chunks: Buffer[] = [];
	let length = 0;
	let late = false;
	await new Promise<void>((resolve, reject) => {
		const leave = () => reject(new ClientGone());
		gone.addEventListener('abort', leave, { once: true });
		req.on('data', (chunk: Buffer) => {
			length += chunk.length;
			if (length <= limit) chunks.push(chunk);
			if (length > limit + PATIENCE) resolve();
		});
		req.on('end', resolve);
		req.on('error', leave);
		if (bodyMs !== undefined) {
			const stop = new AbortController();
			req.on('end', () => stop.abort());
			void time.sleep(bodyMs, stop.signal).then(() => {
				late = !req.readableEnded;
				resolve();
			}, resolve);
		}
	});
	return { bytes: length > limit ? Buffer.alloc(0) : Buffer.concat(chunks), length, late };
}

interface BodyOptions {
	limit: number;
	bodyMs?: number;
	time: GatewayTime;
	gone: AbortSignal;
}

/** A parsed body, or the reason why it could not be parsed. */
export type ParsedBody =
	| { kind: 'json'; value: unknown }
	| { kind: 'form'; form: Form }
	| { kind: 'empty' }
	| { kind: 'faulty'; error: ApiError; text: string };

/**
 * Parses a body by its `Content-Type`.
 * @param allowForm whether the endpoint takes multipart
 */
export async function parseBody(
	req: IncomingMessage,
	raw: RawBody,
	{ limit, fileLimit, allowForm }: { limit: number; fileLimit: number; allowForm: boolean },
): Promise<ParsedBody> {
	const faulty = (error: ApiError): ParsedBody => ({
		kind: 'faulty',
		error,
		text: raw.bytes.toString('utf8'),
	});
	if (raw.late) return faulty(new ApiError(408));
	if (raw.length > limit) {
		return faulty(new ApiError(413, { message: `the request has more than ${limit} bytes` }));
	}
	if (raw.length === 0) return { kind: 'empty' };
	const type = (req.headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase();
	try {
		if (type === 'multipart/form-data' && allowForm) {
			return { kind: 'form', form: await readForm(req.headers, raw.bytes, fileLimit) };
		}
		if (type !== 'application/json') {
			const wanted = allowForm ? 'application/json or multipart/form-data' : 'application/json';
			throw new ApiError(400, {
				code: 'unsupported_content_type',
				message: `Content-Type must be ${wanted}`,
			});
		}
		return { kind: 'json', value: parseJson(raw.bytes) };
	} catch (error) {
		if (error instanceof ApiError) return faulty(error);
		throw error;
	}
}

function parseJson(bytes: Buffer): unknown {
	try {
		return JSON.parse(bytes.toString('utf8')) as unknown;
	} catch {
		throw new ApiError(400, { code: 'invalid_json', message: 'the body is not valid JSON' });
	}
}

export type JsonObject = Record<string, unknown>;

export const isObject = (value: unknown): value is JsonObject =>
	typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * The body of an endpoint that takes JSON.
 * @throws ApiError 400, 408, 413
 */
export function jsonObject(body: ParsedBody): JsonObject {
	if (body.kind === 'faulty') throw body.error;
	if (body.kind === 'empty') {
		throw new ApiError(400, { code: 'empty_body', message: 'the request body is empty' });
	}
	if (body.kind !== 'json' || !isObject(body.value)) {
		throw new ApiError(400, {
			code: 'invalid_type',
			message: 'the request body must be a JSON object',
		});
	}
	return body.value;
}
