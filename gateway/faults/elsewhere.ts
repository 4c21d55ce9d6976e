import { createServer as createHttpServer, type IncomingHttpHeaders } from 'node:http';
import { connect, type AddressInfo, type Server } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import type { Certificate } from './certificates';

/** A request that a foreign server received. */
export interface Sighting {
	method: string;
	path: string;
	headers: IncomingHttpHeaders;
	body: string;
}

/** A server at another origin that records all requests. */
export interface Sniffer {
	readonly origin: string;
	readonly seen: Sighting[];
	/** Its answer to every request. */
	answer: { status: number; headers: Record<string, string>; body: string | Buffer };
	close(): Promise<void>;
}

/** Starts a {@link Sniffer}. It answers JSON that every reader of the contract accepts. */
export async function startSniffer(): Promise<Sniffer> {
	const seen: Sighting[] = [];
	const server = createHttpServer((req, res) => {
		const pieces: Buffer[] = [];
		req.on('data', (piece: Buffer) => pieces.push(piece));
		req.on('error', () => {});
		req.on('end', () => {
			const body = Buffer.concat(pieces).toString();
			seen.push({ method: req.method ?? '', path: req.url ?? '', headers: req.headers, body });
			res.writeHead(sniffer.answer.status, { Connection: 'close', ...sniffer.answer.headers });
			res.end(sniffer.answer.body);
		});
	});
	const sniffer: Sniffer = {
		origin: `http://127.0.0.1:${await listen(server)}`,
		seen,
		answer: {
			status: 200,
			headers: { 'Content-Type': 'application/json' },
			body: JSON.stringify({ id: 'stolen', status: 'completed', data: [], output: [] }),
		},
		close: async () => await closed(server),
	};
	return sniffer;
}

/** A TLS server in front of another one. */
export interface TlsFront {
	readonly port: number;
	/** Connections that clients tried to open, successful or not. */
	readonly tried: number;
	/** Bytes that came in after a handshake. */
	readonly received: number;
	close(): Promise<void>;
}

/**
 * Starts a TLS server that hands what it receives to a server on this machine.
 * @param settings its certificate, and what it requires, such as a client certificate
 * @param target the port of that server
 */
export async function startTlsFront(
	settings: Certificate & TlsOptions,
	target: number,
): Promise<TlsFront> {
	let tried = 0;
	let received = 0;
	const server = createTlsServer(settings, (socket) => {
		const inner = connect(target, '127.0.0.1');
		socket.on('data', (bytes: Buffer) => {
			received += bytes.length;
		});
		socket.on('error', () => inner.destroy());
		inner.on('error', () => socket.destroy());
		socket.pipe(inner).pipe(socket);
	});
	server.on('connection', () => tried++);
	server.on('tlsClientError', () => {});
	const port = await listen(server);
	return {
		port,
		get tried() {
			return tried;
		},
		get received() {
			return received;
		},
		close: async () => await closed(server),
	};
}

/** A port of this machine on which no program listens. */
export async function freePort(): Promise<number> {
	const server = createHttpServer();
	const port = await listen(server);
	await closed(server);
	return port;
}

async function listen(server: Server): Promise<number> {
	await new Promise<void>((resolve, reject) => {
		server.once('error', reject);
		server.listen(0, '127.0.0.1', resolve);
	});
	return (server.address() as AddressInfo).port;
}

const closed = async (server: Server) =>
	await new Promise<void>((resolve) => {
		server.close(() => resolve());
		if ('closeAllConnections' in server) {
			(server as Server & { closeAllConnections(): void }).closeAllConnections();
		}
	});
