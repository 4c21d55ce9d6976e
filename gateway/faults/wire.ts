import { gzipSync } from 'node:zlib';
import type { Exchange, Fault, StorageExchange } from '../faults';
import { ClientGone, pause } from '../time';
import type { FaultSetting, NamedFault } from './named';
import { headOf, rawReply, wireOf, writeRaw, type RawReply } from './raw';

type AnyExchange = Exchange | StorageExchange;

const HOUR = 3_600_000;

/** A fault that writes to the connection itself, from the reply that the gateway had ready. */
function written(
	name: string,
	write: (reply: RawReply, exchange: AnyExchange, setting: FaultSetting) => Promise<void>,
): NamedFault {
	return {
		name,
		stage: 'after',
		make: (exchange, setting): Fault | undefined => {
			const { reply } = exchange;
			if (!reply) return undefined;
			const work = async () => {
				try {
					await write(await rawReply(reply), exchange, setting);
				} catch (error) {
					if (!(error instanceof ClientGone)) throw error;
				}
			};
			return { kind: 'take', write: work };
		},
	};
}

const half = (bytes: Buffer) => bytes.subarray(0, Math.ceil(bytes.length / 2));

const replacing = (reply: RawReply, ...headers: RawReply['headers']): RawReply => ({
	...reply,
	headers: [
		...reply.headers.filter(
			([name]) => !headers.some(([other]) => other.toLowerCase() === name.toLowerCase()),
		),
		...headers,
	],
});

const withoutLength = (reply: RawReply): RawReply => ({
	...reply,
	headers: reply.headers.filter(([name]) => name.toLowerCase() !== 'content-length'),
});

/**
 * Sends nothing more. The gateway's clock goes on for readers that wait on it (a stream, a
 * download).
 */
async function silence({ gone }: AnyExchange, { time }: FaultSetting) {
	for (;;) await pause(time, HOUR, gone);
}

/** Faults of the connection, below HTTP. */
export const CONNECTION_FAULTS: NamedFault[] = [
	{
		name: 'closed before the request was handled',
		stage: 'before',
		make: () => ({ kind: 'destroy' }),
	},
	{ name: 'closed before the reply', stage: 'after', make: () => ({ kind: 'destroy' }) },
	written('half a header, then closed', async (reply, { res }) => {
		await writeRaw(res, headOf(reply).slice(0, 40), 'cut');
	}),
	written('headers, then closed', async (reply, { res }) => {
		const head = replacing(reply, ['Content-Length', String(reply.body.length)]);
		await writeRaw(res, headOf(head), 'cut');
	}),
	written('half a body, then closed', async (reply, { res }) => {
		const wire = wireOf(reply);
		await writeRaw(res, wire.subarray(0, wire.length - half(reply.body).length), 'cut');
	}),
	written('half a body without a Content-Length', async (reply, { res }) => {
		const head = headOf(withoutLength(reply));
		await writeRaw(res, Buffer.concat([Buffer.from(head, 'latin1'), half(reply.body)]));
	}),
	written('half a body in chunks, then closed', async (reply, { res }) => {
		const head = headOf(replacing(withoutLength(reply), ['Transfer-Encoding', 'chunked']));
		const part = half(reply.body);
		const chunk = [Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n')];
		await writeRaw(res, Buffer.concat([Buffer.from(head, 'latin1'), ...chunk]), 'cut');
	}),
	written('a whole reply, then closed', async (reply, { res }) => {
		await writeRaw(res, wireOf(reply), 'cut');
	}),
	written('Content-Length is too large', async (reply, { res }) => {
		const wrong = replacing(reply, ['Content-Length', String(reply.body.length + 100)]);
		await writeRaw(res, wireOf(wrong));
	}),
	written('Content-Length is too small', async (reply, { res }) => {
		const wrong = replacing(reply, ['Content-Length', String(half(reply.body).length)]);
		await writeRaw(res, wireOf(wrong));
	}),
	written('a reply of one byte a second', async (reply, exchange, { time }) => {
		const { res, gone } = exchange;
		const head = replacing(reply, ['Content-Length', String(reply.body.length)]);
		await writeRaw(res, headOf(head), 'open');
		for (const byte of reply.body) {
			await pause(time, 1000, gone);
			await writeRaw(res, Buffer.from([byte]), 'open');
		}
	}),
	written('no HTTP at all', async (_reply, { res }) => {
		await writeRaw(res, 'SSH-2.0-OpenSSH_9.2\r\n');
	}),
];

/** Connections that send nothing more. They last as long as the client waits. */
export const SILENT_FAULTS: NamedFault[] = [
	{
		name: 'never an answer',
		stage: 'before',
		make: (exchange, setting) => stalled(exchange, setting),
	},
	written('headers, then silence', async (reply, exchange, setting) => {
		const head = replacing(reply, ['Content-Length', String(reply.body.length)]);
		await writeRaw(exchange.res, headOf(head), 'open');
		await silenceOf(exchange, setting);
	}),
	written('half a body, then silence', async (reply, exchange, setting) => {
		const wire = wireOf(reply);
		const part = wire.subarray(0, wire.length - half(reply.body).length);
		await writeRaw(exchange.res, part, 'open');
		await silenceOf(exchange, setting);
	}),
];

const stalled = (exchange: AnyExchange, setting: FaultSetting): Fault => ({
	kind: 'take',
	write: async () => {
		try {
			await silenceOf(exchange, setting);
		} catch (error) {
			if (!(error instanceof ClientGone)) throw error;
		}
	},
});

/**
 * A client that reads a whole reply of the API has its own time-out, so the driven clock stands
 * still. A client that reads a stream or an image waits on the driven clock.
 */
async function silenceOf(exchange: AnyExchange, setting: FaultSetting) {
	const streamed = exchange.route === 'image' || exchange.reply?.stream !== undefined;
	if (streamed) return await silence(exchange, setting);
	await new Promise<void>((resolve) => {
		if (exchange.gone.aborted) return resolve();
		exchange.gone.addEventListener('abort', () => resolve(), { once: true });
	});
}

/** Faults of headers and encoding. */
export const HEADER_FAULTS: NamedFault[] = [
	written('gzip', async (reply, { res }) => {
		const body = gzipSync(reply.body);
		await writeRaw(res, wireOf({ ...replacing(reply, ['Content-Encoding', 'gzip']), body }));
	}),
	written('gzip that is broken', async (reply, { res }) => {
		const body = gzipSync(reply.body);
		body.fill(0xff, 10, 20);
		await writeRaw(res, wireOf({ ...replacing(reply, ['Content-Encoding', 'gzip']), body }));
	}),
	written('gzip that is cut off', async (reply, { res }) => {
		const body = half(gzipSync(reply.body));
		await writeRaw(res, wireOf({ ...replacing(reply, ['Content-Encoding', 'gzip']), body }));
	}),
	written('gzip that is none', async (reply, { res }) => {
		await writeRaw(res, wireOf(replacing(reply, ['Content-Encoding', 'gzip'])));
	}),
	written('an unknown encoding', async (reply, { res }) => {
		await writeRaw(res, wireOf(replacing(reply, ['Content-Encoding', 'x-rot13'])));
	}),
	written('the content type of a web page', async (reply, { res }) => {
		await writeRaw(res, wireOf(replacing(reply, ['Content-Type', 'text/html'])));
	}),
	written('the content type of a file', async (reply, { res }) => {
		await writeRaw(res, wireOf(replacing(reply, ['Content-Type', 'application/octet-stream'])));
	}),
	written('each header twice', async (reply, { res }) => {
		const twice = reply.headers.flatMap(([name, value]): RawReply['headers'] => [
			[name, value],
			[name, `${value} again`],
		]);
		await writeRaw(res, wireOf({ ...reply, headers: twice }));
	}),
	written('no headers', async (reply, { res }) => {
		await writeRaw(
			res,
			Buffer.concat([Buffer.from(headOf({ ...reply, headers: [] })), reply.body]),
		);
	}),
	written('a byte order mark', async (reply, { res }) => {
		await writeRaw(res, wireOf({ ...reply, body: Buffer.concat([BOM, reply.body]) }));
	}),
];

const BOM = Buffer.from([0xef, 0xbb, 0xbf]);
