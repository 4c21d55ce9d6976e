import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Access, type KeyHolder } from './access';
import { jsonObject, parseBody, readBody, type ParsedBody, type RawBody } from './body';
import type { UsageLog, RequestRecord } from './usage-log';
import { ApiError } from './errors';
import { conduct, goneSignal } from './exchange';
import type { Exchange, Reply } from './faults';
import { readEdit, readGeneration } from './images/submit';
import { Polls } from './images/polls';
import { ImageTasks } from './images/tasks';
import type { ImageTask } from './images/task';
import type { KeyOptions, GatewaySettings } from './options';
import { noImagesAtPlatform, refusalsOf } from './refusals';
import { errorReplyOf, failedInLine, jsonReply, notFoundReply, pageReply } from './reply';
import { requestIdsOf } from './request-ids';
import { Responses } from './responses/responses';
import { obeyStatus } from './responses/answer';
import { routeOf, type Route } from './routes';
import { ClientGone, pause, type GatewayTime } from './time';
import { Upstream } from './upstream';

interface ApiParts {
	usageLog: UsageLog;
	settings: GatewaySettings;
	keys: Record<string, KeyOptions>;
	time: GatewayTime;
	/** The signed address of a task's image. */
	urlOf: (task: ImageTask, index: number) => string;
	onRequest?: (record: RequestRecord) => void;
}

/** The service's API (contract: Endpoints). {@link serve} handles one request. */
export class Api {
	private readonly access: Access;
	private readonly upstream: Upstream;
	private readonly tasks: ImageTasks;
	private readonly polls: Polls;
	private readonly responses: Responses;
	private readonly attempts = new Map<string, number>();
	private received = 0;

	constructor(private readonly parts: ApiParts) {
		const { usageLog, settings, keys, time, urlOf } = parts;
		this.access = new Access(keys, settings, usageLog);
		this.upstream = new Upstream(settings);
		this.tasks = new ImageTasks({
			access: this.access,
			upstream: this.upstream,
			usageLog,
			settings,
			urlOf,
		});
		this.polls = new Polls(settings);
		this.responses = new Responses(this.access, settings, time);
	}

	async serve(req: IncomingMessage, res: ServerResponse) {
		const { usageLog, settings, time, onRequest } = this.parts;
		const route = routeOf((req.url ?? '/').split('?', 1)[0] ?? '/');
		const holder = this.access.identify(req);
		const ids = requestIdsOf(req.headers, ++this.received, settings.requestIds);
		const record: RequestRecord = {
			...ids.logged,
			method: req.method ?? '',
			path: req.url ?? '',
			route: route.name,
			headers: req.headers,
			key: holder?.name,
			rawLength: 0,
			attempt: 1,
			startedAt: time.now(),
		};
		usageLog.requests.push(record);
		for (const [name, value] of Object.entries(ids.headers)) res.setHeader(name, value);
		const gone = goneSignal(res);
		try {
			const body = await this.read(req, record, route, gone);
			const exchange: Exchange = {
				stage: 'before',
				route: route.name,
				key: record.key,
				attempt: record.attempt,
				record,
				req,
				res,
				gone,
			};
			await conduct(
				exchange,
				time,
				() => settings.intercept,
				async () => {
					const reply = await this.answer(route, exchange, holder, body);
					const reached = route.name === 'responses' && reply.status === 200;
					if (reached && ids.provider) res.appendHeader('X-Request-ID', ids.provider);
					return reply;
				},
			);
		} catch (error) {
			if (!(error instanceof ClientGone)) throw error;
			record.status = 499;
			record.endedAt = time.now();
		} finally {
			onRequest?.(record);
		}
	}

	private async read(
		req: IncomingMessage,
		record: RequestRecord,
		route: Route,
		gone: AbortSignal,
	): Promise<ParsedBody> {
		const { bodyLimit: limit, fileLimit, bodyMs } = this.parts.settings;
		const raw = await readBody(req, { limit, bodyMs, time: this.parts.time, gone });
		record.rawLength = raw.length;
		record.attempt = this.countAttempt(record, raw);
		const allowForm = route.name === 'edits';
		const body = await parseBody(req, raw, { limit, fileLimit, allowForm });
		if (body.kind === 'json') record.body = body.value;
		if (body.kind === 'faulty') record.body = body.text;
		if (body.kind === 'form') {
			const { fields, files } = body.form;
			record.body = { fields, files };
		}
		return body;
	}

	private countAttempt({ method, path, key }: RequestRecord, raw: RawBody): number {
		const hash = createHash('sha1').update(raw.bytes).digest('hex');
		const same = [method, path, key, raw.length, hash].join(' ');
		const attempt = (this.attempts.get(same) ?? 0) + 1;
		this.attempts.set(same, attempt);
		return attempt;
	}

	private async answer(
		route: Route,
		exchange: Exchange,
		holder: KeyHolder | undefined,
		body: ParsedBody,
	): Promise<Reply> {
		try {
			return await this.handle(route, exchange, holder, body);
		} catch (error) {
			if (!(error instanceof ApiError)) throw error;
			const restated = this.restated(error);
			const streams = route.name === 'responses' && body.kind === 'json' && isStreamed(body.value);
			const inStream = this.parts.settings.limitsInStreams && streams && isLimit(restated);
			return inStream ? limitInStream(restated) : errorReplyOf(restated);
		}
	}

	private async handle(
		route: Route,
		{ req, record, gone }: Exchange,
		holder: KeyHolder | undefined,
		body: ParsedBody,
	): Promise<Reply> {
		const { time, settings } = this.parts;
		if (settings.plainNotFound && (route.name === 'page' || route.name === 'unknown')) {
			return notFoundReply();
		}
		if (route.name === 'page') return pageReply();
		if (route.name === 'unknown') throw new ApiError(404, { message: unknownPath(record.path) });
		if (req.method !== route.method) {
			throw new ApiError(405, { headers: { Allow: route.method ?? 'GET' } });
		}
		const key = this.access.admit(req, holder, { route: route.name, now: time.now() });
		switch (route.name) {
			case 'models':
				return this.listModels(key);
			case 'task':
				return this.poll(route.taskId ?? '', key, record);
			case 'responses':
				this.access.permit(key, 'responses');
				this.upstream.admit(key, time.now());
				return await this.responses.create(jsonObject(body), key, record, gone);
			case 'generations':
			case 'edits': {
				if (settings.platformWithoutImages) throw noImagesAtPlatform();
				this.access.permit(key, 'images');
				if (route.name === 'edits') this.access.permit(key, 'edits');
				await pause(time, settings.submitMs, gone);
				return this.submit(route.name, key, body, record);
			}
		}
	}

	/** Restarts the gateway: connections end, and running tasks stay `processing`. */
	restart() {
		this.tasks.restart(this.parts.time.now());
	}

	/** The gateway forgets every task. */
	clearMemory() {
		this.tasks.clearMemory(this.parts.time.now());
	}

	/** An error in the form that the switches ask for. */
	private restated(error: ApiError): ApiError {
		const { overload529, retryAfter } = this.parts.settings;
		const restated = overload529 && error.status === 503 ? new ApiError(529) : error;
		if (retryAfter !== undefined && [429, 503, 529].includes(restated.status)) {
			restated.headers['Retry-After'] = retryAfter;
		}
		return restated;
	}

	private poll(taskId: string, key: KeyHolder, { path, headers }: RequestRecord): Reply {
		const now = this.parts.time.now();
		const cacheControl = headers['cache-control'];
		return this.polls.answer({ path, key: key.name, cacheControl, now }, () =>
			this.tasks.poll(taskId, key, now),
		);
	}

	private listModels(key: KeyHolder): Reply {
		const patterns = this.parts.settings.listedPatterns ?? [];
		const data = [...this.access.modelsOf(key), ...patterns].map((id) => ({
			id,
			object: 'model',
			created: 1767225600,
			owned_by: 'aurora',
		}));
		return jsonReply(200, { object: 'list', data });
	}

	private submit(
		route: 'generations' | 'edits',
		key: KeyHolder,
		body: ParsedBody,
		record: RequestRecord,
	): Reply {
		const { settings, time } = this.parts;
		if (!settings.asyncImages) throw refusalsOf(settings).asyncImagesOff();
		const read = route === 'edits' ? readEdit : readGeneration;
		const submission = read(body, key, settings);
		const { model, prompt } = submission.request;
		// In the background, an unknown model makes the task fail.
		const isListed = this.access.modelsOf(key).includes(model);
		if (isListed || !settings.backgroundLimits) this.access.requireModel(key, model, 'images');
		obeyStatus(prompt, record.attempt);
		return this.tasks.accept(submission, key, { record, now: time.now() });
	}
}

const isStreamed = (body: unknown) => (body as { stream?: unknown } | null)?.stream === true;

const isLimit = ({ status }: ApiError) => [429, 503, 529].includes(status);

/** A limit that ends a stream with status 200. */
function limitInStream({ status, message }: ApiError): Reply {
	const code = status === 429 ? 'rate_limit_exceeded' : 'server_is_overloaded';
	return failedInLine(code, message);
}

function unknownPath(path: string): string {
	if (/^\/v1\/v1(\/|$)/.test(path)) return 'unknown path: /v1 is doubled';
	if (!/^\/v1(\/|$)/.test(path)) return 'unknown path: /v1 is missing';
	return 'unknown path';
}
