import type { IBinaryData, IExecuteFunctions, IN8nHttpFullResponse } from 'n8n-workflow';
import type { Storage, StoredReply } from '../../api/images/download';
import type { Headers } from '../../api/http/transport';
import { readChunks, type Readable } from './transport';
import { toTransportFault } from './transport-fault';

/**
 * Fetches images by n8n's plain request helper, without the key, and streams them into n8n's
 * binary storage.
 *
 * `Accept-Encoding: identity` keeps `Content-Length` that of the file. A host may compress all the
 * same: n8n's helper then unpacks the file and hides `Content-Encoding`. Node compares the length with
 * what was sent, and the body breaks off if that is less.
 */
export function createFileStorage(context: IExecuteFunctions): Storage<IBinaryData> {
	return {
		async open(url, signal): Promise<StoredReply<IBinaryData>> {
			// A separate signal ends the connection even if the body is not read. n8n's stream does not
			// end by `destroy` while it waits for bytes.
			const connection = new AbortController();
			const abort = () => connection.abort();
			signal.addEventListener('abort', abort, { once: true });
			try {
				const reply = (await context.helpers.httpRequest({
					method: 'GET',
					url,
					headers: { Accept: 'image/*', 'Accept-Encoding': 'identity' },
					encoding: 'stream',
					returnFullResponse: true,
					ignoreHttpStatusErrors: true,
					disableFollowRedirect: true,
					abortSignal: connection.signal,
				})) as IN8nHttpFullResponse;
				return storedReply(context, reply, () => {
					signal.removeEventListener('abort', abort);
					connection.abort();
				});
			} catch (error) {
				throw signal.aborted ? signal.reason : toTransportFault(error);
			}
		},
	};
}

function storedReply(
	context: IExecuteFunctions,
	{ statusCode, headers, body }: IN8nHttpFullResponse,
	discard: () => void,
): StoredReply<IBinaryData> {
	const stream = body as unknown as Readable;
	return {
		status: statusCode,
		headers: headers as Headers,
		checksLength: true,
		chunks: readChunks(stream),
		async save({ name, mimeType }, chunks) {
			return await context.helpers.prepareBinaryData(toStream(chunks, stream), name, mimeType);
		},
		discard,
	};
}

/**
 * Chunks as a stream. The body brings the stream class, since Node's own can't be imported. With
 * `compose`, an error before the first read would have no listener and end the process.
 */
function toStream(chunks: AsyncIterable<Uint8Array>, body: Readable): Readable {
	const { from } = body.constructor as unknown as StreamClass;
	return from(chunks, { objectMode: false });
}

interface StreamClass {
	from(chunks: AsyncIterable<Uint8Array>, options: { objectMode: boolean }): Readable;
}
