import type {
	BinaryHelperFunctions,
	IBinaryData,
	IExecuteFunctions,
	IN8nHttpFullResponse,
} from 'n8n-workflow';
import type { ChunkCheck, Storage, StoredReply } from '../client/download';
import { TransportFault, type Headers } from '../client/transport';
import { transportFault } from './transport';

type Readable = Exclude<Parameters<BinaryHelperFunctions['prepareBinaryData']>[0], Buffer>;

/**
 * Fetches pictures by n8n's plain request helper, without the key, and streams them into n8n's
 * binary storage.
 *
 * `Accept-Encoding: identity` keeps `Content-Length` that of the file.
 */
export function pictureStorage(context: IExecuteFunctions): Storage<IBinaryData> {
	return {
		async open(url, signal): Promise<StoredReply<IBinaryData>> {
			try {
				const reply = (await context.helpers.httpRequest({
					method: 'GET',
					url,
					headers: { Accept: 'image/*', 'Accept-Encoding': 'identity' },
					encoding: 'stream',
					returnFullResponse: true,
					ignoreHttpStatusErrors: true,
					disableFollowRedirect: true,
					abortSignal: signal,
				})) as IN8nHttpFullResponse;
				return storedReply(context, reply.body as unknown as Readable, reply, signal);
			} catch (error) {
				signal.throwIfAborted();
				throw transportFault(error);
			}
		},
	};
}

function storedReply(
	context: IExecuteFunctions,
	body: Readable,
	{ statusCode, headers }: IN8nHttpFullResponse,
	signal: AbortSignal,
): StoredReply<IBinaryData> {
	const abort = () => body.destroy(signal.reason as Error);
	signal.addEventListener('abort', abort, { once: true });
	body.once('close', () => signal.removeEventListener('abort', abort));
	// An error without a listener would end the process; who reads the body sees it as well.
	body.on('error', () => {});
	return {
		status: statusCode,
		headers: headers as Headers,
		peek: async (bytes) => await peek(body, bytes),
		async save({ name, mimeType }, check) {
			try {
				return await context.helpers.prepareBinaryData(checked(body, check), name, mimeType);
			} catch (error) {
				signal.throwIfAborted();
				throw error instanceof Error && 'code' in error ? transportFault(error) : error;
			}
		},
		discard: () => body.destroy(),
	};
}

/** The body as a stream that passes through `check`. */
function checked(body: Readable, check: ChunkCheck): Readable {
	return body.compose<Readable & NodeJS.ReadableStream>(
		check as unknown as Parameters<Readable['compose']>[0] as never,
	);
}

/**
 * Reads the first bytes of a stream and puts them back: in the same turn, as a stream that has
 * ended takes nothing back.
 */
async function peek(body: Readable, bytes: number): Promise<Uint8Array> {
	return await new Promise((resolve, reject) => {
		const settle = (then: () => void) => {
			body.off('readable', look).off('end', onEnd).off('error', onError).off('close', onClose);
			then();
		};
		const look = () => {
			const start = body.read(bytes) as Buffer | null;
			if (start === null) return;
			body.unshift(start);
			settle(() => resolve(start));
		};
		const onEnd = () => settle(() => resolve(new Uint8Array()));
		const onError = (error: Error) => settle(() => reject(transportFault(error) as Error));
		const onClose = () => settle(() => reject(new TransportFault('lost')));
		if (body.destroyed) return reject(new TransportFault('lost'));
		if (body.readableEnded) return resolve(new Uint8Array());
		body.on('readable', look).on('end', onEnd).on('error', onError).on('close', onClose);
		look();
	});
}
