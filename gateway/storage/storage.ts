import type { IncomingMessage, ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import type { UsageLog } from '../usage-log';
import { conduct, goneSignal } from '../exchange';
import type { Reply, StorageExchange } from '../faults';
import type { ImageTask } from '../images/task';
import type { GatewaySettings } from '../options';
import { drawImage } from '../drawing/draw';
import { seconds, type GatewayTime } from '../time';
import { Signer } from './signature';

/** Number of drawn images that are kept. */
const CACHE = 32;

const PATH = /^\/images\/([^/]+)\/(\d+)\.png$/;

/**
 * The object storage (contract: Resources, Image task: `image_url`). It serves images at signed
 * addresses until their task expires. It refuses every request with a key.
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

	/** Path and query of a task's image, as a poll now returns it. */
	addressOf(task: ImageTask, index: number): string {
		const { linkSeconds, linkRenewal } = this.settings;
		const from = linkRenewal === 'fresh' ? this.time.now() : task.completesAt;
		const expires = linkSeconds === undefined ? task.expiresAt : from + linkSeconds * 1000;
		return this.signer.sign(`/images/${task.id}/${index}.png`, seconds(expires));
	}

	async serve(req: IncomingMessage, res: ServerResponse) {
		const { method = '', url: path = '', headers } = req;
		const record = { method, path, headers, startedAt: this.time.now() };
		this.usageLog.storageRequests.push(record);
		const attempt = (this.attempts.get(`${method} ${path}`) ?? 0) + 1;
		this.attempts.set(`${method} ${path}`, attempt);
		const exchange: StorageExchange = {
			stage: 'before',
			route: 'image',
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
		if (fault === 'AccessDenied') return expired(this.settings.linkDeath);
		if (fault) return refusal(403, fault, 'The signature of this address is not right.');
		const [, id, index] = PATH.exec(url.pathname) ?? [];
		const task = this.usageLog.task(id ?? '');
		if (!task || Number(index) >= task.images) {
			return refusal(404, 'NoSuchKey', 'This object does not exist.');
		}
		const headers = { 'Content-Type': 'image/png', 'Cache-Control': 'private' };
		const body = this.image(task, Number(index));
		if (!this.settings.storageCompression) return { status: 200, headers, body };
		const compressed = { ...headers, 'Content-Encoding': 'gzip' };
		return { status: 200, headers: compressed, body: gzipSync(body) };
	}

	private image(task: ImageTask, index: number): Buffer {
		const key = `${task.id}/${index}`;
		const kept = this.drawn.get(key);
		if (kept) return kept;
		const { width, height, sources, mask } = task;
		const file = drawImage({ prompt: task.request.prompt, index, width, height, sources, mask });
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

/** The reply for an expired address. */
function expired(status: 403 | 404 | 410 = 403): Reply {
	if (status === 403) return refusal(403, 'AccessDenied', 'Request has expired');
	if (status === 404) return refusal(404, 'NoSuchKey', 'This object does not exist.');
	return refusal(410, 'Gone', 'The object is no longer here.');
}
