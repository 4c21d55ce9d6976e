import { createServer, type AddressInfo } from 'node:net';

/** A free port of loopback. */
export async function freePort(): Promise<number> {
	const port = await tried(0);
	if (port === undefined) throw new Error('No port is free');
	return port;
}

/** Whether a port of loopback is free. */
export async function isFree(port: number): Promise<boolean> {
	return (await tried(port)) !== undefined;
}

/** The port, if a server can listen on it; else undefined. */
async function tried(port: number): Promise<number | undefined> {
	const server = createServer();
	const listens = await new Promise<boolean>((resolve) => {
		server.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true));
	});
	if (!listens) return undefined;
	const { port: found } = server.address() as AddressInfo;
	await new Promise((resolve) => server.close(resolve));
	return found;
}
