import type { ServerResponse } from 'node:http';
import { STATUS_CODES } from 'node:http';
import type { Reply } from '../faults';

/** A reply as it is sent, with repeated header names if needed. */
export interface RawReply {
	status: number;
	headers: Array<[name: string, value: string]>;
	body: Buffer;
}

/** How a connection ends after what was written. */
export type End =
	/** As HTTP defines it: the other side may close. */
	| 'end'
	/** By a reset. */
	| 'cut'
	/** Not at all. */
	| 'open';

/** A prepared reply as raw parts; a stream is read to its end first. */
export async function rawReply(reply: Reply): Promise<RawReply> {
	const pieces: Buffer[] = [Buffer.from(reply.body)];
	await reply.stream?.(async (chunk) => {
		pieces.push(Buffer.from(chunk));
	});
	return {
		status: reply.status,
		headers: Object.entries(reply.headers),
		body: Buffer.concat(pieces),
	};
}

/** The head of a reply: status line and headers, with the empty line behind them. */
export function headOf({ status, headers }: Pick<RawReply, 'status' | 'headers'>): string {
	const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`);
	return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Unknown'}\r\n${lines.join('')}\r\n`;
}

/** A whole reply on the wire, with the true `Content-Length` unless the headers name another. */
export function wireOf(reply: RawReply): Buffer {
	const named = reply.headers.some(([name]) => name.toLowerCase() === 'content-length');
	const headers: RawReply['headers'] = named
		? reply.headers
		: [...reply.headers, ['Content-Length', String(reply.body.length)]];
	return Buffer.concat([Buffer.from(headOf({ ...reply, headers }), 'latin1'), reply.body]);
}

/** Writes bytes past Node's HTTP, then ends the connection as asked. */
export async function writeRaw(res: ServerResponse, bytes: Buffer | string, end: End = 'end') {
	const { socket } = res;
	if (!socket || socket.destroyed) return;
	await new Promise<void>((resolve) => {
		socket.once('close', resolve);
		socket.write(bytes, () => {
			socket.off('close', resolve);
			resolve();
		});
	});
	if (end === 'end') socket.end();
	if (end === 'cut') socket.destroy();
}
