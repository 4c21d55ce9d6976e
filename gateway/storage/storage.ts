import type { IncomingMessage, ServerResponse } from 'node:http';
import type { UsageLog } from '../usage-log';
import { conduct, goneSignal } from '../exchange';
import type { Reply, StorageExchange } from '../faults';
import type { ImageTask } from '../images/task';
import type { GatewaySettings } from '../options';
import { drawPicture } from '../pictures/draw';
import { seconds, type GatewayTime } from '../time';
import { Signer } from './signature';

/** Pictures kept after drawing. */
const CACHE = 32;

const PATH = /^\/images\/([^/]+)\/(\d+)\.png$/;

/**
 * The object storage (contract: Resources, Image task: `image_url`). It serves pictures under
 * signed addresses until their task expires, and refuses every request that carries a key.
 */
export class Storage {
	private readonly signer = new Signer('storage-signing-secret-for-tests');
	private readonly drawn = new Map<string, Buffer>();
	private readonly attempts = new Map<string, number>();

	constructor(
		private readonly usageLog: UsageLog,
		private readonly settings: GatewaySettings,
		private readonly time: GatewayTime,
	) {}

	/** Path and query of a task's picture. */
	addressOf(task: ImageTask, index: number): string {
		return this.signer.sign(`/images/${task.id}/${index}.png`, seconds(task.expiresAt));
	}

	async serve(req: IncomingMessage, res: ServerResponse) {
		const { method = '', url: path = '', headers } = req;
		const record = { method, path, headers, startedAt: this.time.now() };
		this.usageLog.storageRequests.push(record);
		const attempt = (this.attempts.get(`${method} ${path}`) ?? 0) + 1;
		this.attempts.set(`${method} ${path}`, attempt);
		const exchange: StorageExchange = {
			stage: 'before',
			route: 'picture',
			attempt,
			record,
			req,
			res,
			gone: goneSignal(res),
		};
		await conduct(
			exchange,
			this.time,
			() => this.settings.storageIntercept,
			async () => this.answer(req),
		);
	}

	private answer(req: IncomingMessage): Reply {
		if (req.headers.authorization !== undefined) {
			return refusal(400, 'InvalidArgument', 'This storage takes no Authorization header.');
		}
		if (req.method !== 'GET' && req.method !== 'HEAD') {
			return refusal(405, 'MethodNotAllowed', 'This method is not allowed here.');
		}
		const url = new URL(req.url ?? '/', 'http://storage.invalid');
		const fault = this.signer.fault(url, this.time.now());
		if (fault === 'AccessDenied') return refusal(403, fault, 'Request has expired');
		if (fault) return refusal(403, fault, 'The signature of this address is not right.');
		const [, id, index] = PATH.exec(url.pathname) ?? [];
		const task = this.usageLog.task(id ?? '');
		if (!task || Number(index) >= task.request.n) {
			return refusal(404, 'NoSuchKey', 'There is no such object.');
		}
		return {
			status: 200,
			headers: { 'Content-Type': 'image/png', 'Cache-Control': 'private' },
			body: this.picture(task, Number(index)),
		};
	}

	private picture(task: ImageTask, index: number): Buffer {
		const key = `${task.id}/${index}`;
		const kept = this.drawn.get(key);
		if (kept) return kept;
		const { width, height, sources, mask } = task;
		const file = drawPicture({ prompt: task.request.prompt, index, width, height, sources, mask });
		this.drawn.set(key, file);
		const [oldest] = this.drawn.keys();
		if (this.drawn.size > CACHE && oldest !== undefined) this.drawn.delete(oldest);
		return file;
	}
}

const refusal = (status: number, code: string, message: string): Reply => ({
	status,
	headers: { 'Content-Type': 'application/xml' },
	body: `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>${message}</Message></Error>`,
});
