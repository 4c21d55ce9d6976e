import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Exchange, Fault, Intercept, Reply, StorageExchange } from './faults';
import { ClientGone, pause, type GatewayTime } from './time';

const HOUR = 3_600_000;

/** Aborts when the client closes the connection before its reply is complete. */
export function goneSignal(res: ServerResponse): AbortSignal {
	const controller = new AbortController();
	res.on('close', () => {
		if (!res.writableFinished) controller.abort();
	});
	return controller.signal;
}

/**
 * Handles one exchange: interceptor, work, interceptor, reply. Sets the record's status, fault and
 * end.
 * @param work handles the request; its errors are replies already
 */
export async function conduct<E extends Exchange | StorageExchange>(
	exchange: E,
	time: GatewayTime,
	intercept: () => Intercept<E> | undefined,
	work: () => Promise<Reply>,
) {
	const { record, gone } = exchange;
	try {
		if (await happens(await intercept()?.(exchange), exchange, time)) return;
		exchange.reply = await work();
		exchange.stage = 'after';
		if (await happens(await intercept()?.(exchange), exchange, time)) return;
		await send(exchange, exchange.reply, time);
	} catch (error) {
		if (!(error instanceof ClientGone) && !gone.aborted) {
			exchange.res.destroy();
			throw error;
		}
		record.status = 499;
	} finally {
		record.endedAt = time.now();
	}
}

/** Makes a fault happen. Returns whether the exchange is over. */
async function happens(
	fault: Fault | undefined,
	exchange: Exchange | StorageExchange,
	time: GatewayTime,
): Promise<boolean> {
	if (!fault) return false;
	const { record, res, gone } = exchange;
	record.fault = fault.kind;
	switch (fault.kind) {
		case 'reply': {
			const { body } = fault;
			const raw = typeof body === 'string' || Buffer.isBuffer(body);
			const reply: Reply = {
				status: fault.status,
				headers: {
					...(raw || body === undefined ? {} : { 'Content-Type': 'application/json' }),
					...fault.headers,
				},
				body: raw ? body : body === undefined ? '' : JSON.stringify(body),
			};
			await send(exchange, reply, time);
			return true;
		}
		case 'destroy':
			res.destroy();
			return true;
		case 'hang':
			for (;;) await pause(time, HOUR, gone);
		case 'delay':
			await pause(time, fault.ms, gone);
			return await happens(fault.then, exchange, time);
		case 'take':
			await fault.write();
			return true;
	}
}

async function send({ record, req, res, gone }: ExchangeOfAny, reply: Reply, time: GatewayTime) {
	if (gone.aborted) throw new ClientGone();
	record.status = reply.status;
	res.statusCode = reply.status;
	res.sendDate = false;
	res.setHeader('Date', new Date(time.now()).toUTCString());
	for (const [name, value] of Object.entries(reply.headers)) res.setHeader(name, value);
	if (!reply.stream) {
		if (!res.hasHeader('Content-Length')) {
			res.setHeader('Content-Length', Buffer.byteLength(reply.body));
		}
		res.end(req.method === 'HEAD' ? undefined : reply.body);
		return;
	}
	res.flushHeaders();
	await reply.stream(async (chunk) => {
		if (gone.aborted) throw new ClientGone();
		if (!res.write(chunk)) await drained(res, gone);
	});
	res.end();
}

interface ExchangeOfAny {
	record: { status?: number };
	req: IncomingMessage;
	res: ServerResponse;
	gone: AbortSignal;
}

async function drained(res: ServerResponse, gone: AbortSignal) {
	await new Promise<void>((resolve, reject) => {
		const settle = () => {
			res.off('drain', settle);
			gone.removeEventListener('abort', settle);
			if (gone.aborted) reject(new ClientGone());
			else resolve();
		};
		res.on('drain', settle);
		gone.addEventListener('abort', settle, { once: true });
		if (gone.aborted) settle();
	});
}
