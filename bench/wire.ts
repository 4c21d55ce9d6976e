import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';

/** Node's channel for each connection that a server of this process accepts. */
const ACCEPTED = 'net.server.socket';

/** Bytes on the connections to servers of this process. */
export class Wire {
	private readonly sockets: Socket[] = [];
	private readonly note = (message: unknown) => {
		this.sockets.push((message as { socket: Socket }).socket);
	};

	constructor() {
		subscribe(ACCEPTED, this.note);
	}

	/** Sent by clients to the servers. */
	get sent(): number {
		return this.sockets.reduce((sum, { bytesRead }) => sum + bytesRead, 0);
	}

	/** Sent by the servers. */
	get read(): number {
		return this.sockets.reduce((sum, { bytesWritten }) => sum + bytesWritten, 0);
	}

	close() {
		unsubscribe(ACCEPTED, this.note);
	}
}
