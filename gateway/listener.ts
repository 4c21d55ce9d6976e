import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/** A server on loopback whose connections can be counted and cut. */
export class Listener {
	private readonly sockets = new Set<Socket>();

	readonly port: number;

	private constructor(private readonly server: Server) {
		this.port = (server.address() as AddressInfo).port;
		server.on('connection', (socket: Socket) => {
			this.sockets.add(socket);
			socket.on('close', () => this.sockets.delete(socket));
		});
		// Node's own clocks: the gateway's time is passed in.
		server.timeout = 0;
		server.requestTimeout = 0;
		server.headersTimeout = 0;
		server.keepAliveTimeout = 0;
	}

	/** @throws the system's error, such as EADDRINUSE */
	static async open(
		port: number,
		handle: (req: IncomingMessage, res: ServerResponse) => void,
	): Promise<Listener> {
		const server = createServer(handle);
		await new Promise<void>((resolve, reject) => {
			server.once('error', reject);
			server.listen(port, '127.0.0.1', () => {
				server.off('error', reject);
				resolve();
			});
		});
		return new Listener(server);
	}

	/** Open connections. */
	get connections() {
		return this.sockets.size;
	}

	/** Stops listening and cuts every connection, now. */
	kill() {
		this.server.close();
		this.cut();
	}

	/** Cuts every connection, and goes on listening. */
	cut() {
		for (const socket of this.sockets) socket.destroy();
	}

	/** As {@link kill}, and waits until all is closed. */
	async close() {
		const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
		this.kill();
		await closed;
	}
}
