import { existsSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { peakOf, pause, resetPeak, type Needs } from './process-needs';

/** What `probe.js` writes. */
interface Report {
	pid: number;
	reports: number;
	/** Processor time before garbage was collected, and after, in microseconds. */
	before: NodeJS.CpuUsage;
	after: NodeJS.CpuUsage;
	/** Bytes, after. */
	rss: number;
}

/** Milliseconds within which a process must report. */
const PATIENCE_MS = 10_000;

const total = ({ user, system }: NodeJS.CpuUsage) => (user + system) / 1000;

/** A process that has loaded the probe. */
export class Probe {
	private begun?: { report: Report; at: number };

	/** @param file the file that the probe writes to: its `BENCH_PROBE` */
	constructor(private readonly file: string) {}

	/** Collects the garbage of the process and begins to count. */
	async begin(): Promise<void> {
		await this.report();
		await pause(300);
		const report = await this.report();
		resetPeak(report.pid);
		this.begun = { report, at: performance.now() };
	}

	/** What the process has needed since `begin`. */
	async end(): Promise<Needs> {
		const at = performance.now();
		if (!this.begun) throw new Error('The measured part has not begun');
		const { report } = this.begun;
		const peak = peakOf(report.pid);
		const { before } = await this.report();
		return {
			ms: at - this.begun.at,
			cpuMs: total(before) - total(report.after),
			...(peak !== undefined && { addedBytes: Math.max(0, peak - report.rss) }),
		};
	}

	private read(): Report | undefined {
		return existsSync(this.file)
			? (JSON.parse(readFileSync(this.file, 'utf8')) as Report)
			: undefined;
	}

	private async report(): Promise<Report> {
		const last = this.read();
		if (!last) throw new Error('The process has not loaded the probe');
		process.kill(last.pid, 'SIGUSR2');
		const until = Date.now() + PATIENCE_MS;
		while (Date.now() < until) {
			const found = this.read();
			if (found && found.reports > last.reports) return found;
			await pause(10);
		}
		throw new Error('The process does not report: it is busy, or has ended');
	}
}

/** The measured values of the marked part of a workflow. */
export interface Marked {
	needs: Needs;
	/** Items that reached its end: all at once, or one branch of a loop after the other. */
	items: number;
}

/**
 * The server that measured workflows call at the start and at the end of the measured part. The
 * start call returns their rows. The start and the end of n8n do not count.
 */
export class Marks {
	private probe?: Probe;
	private rows: object[] = [];
	private marked?: Marked;

	private constructor(
		private readonly server: Server,
		readonly origin: string,
	) {}

	static async open(): Promise<Marks> {
		const server = createServer();
		await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
		const marks = new Marks(server, `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
		server.on('request', (request, reply) => {
			void marks.called(request.url ?? '').then(
				(body) => reply.setHeader('content-type', 'application/json').end(JSON.stringify(body)),
				(error: Error) => reply.writeHead(500).end(error.message),
			);
		});
		return marks;
	}

	/** Sets the rows and the probe for the next call of `/start`. */
	expect(probe: Probe, rows: object[]) {
		this.probe = probe;
		this.rows = rows;
		this.marked = undefined;
	}

	/** The measured values; undefined if the workflow did not reach its end. */
	result(): Marked | undefined {
		return this.marked;
	}

	close() {
		this.server.close();
		this.server.closeAllConnections();
	}

	private async called(address: string): Promise<unknown> {
		if (!this.probe) throw new Error('No measurement is active');
		const { pathname, searchParams } = new URL(address, this.origin);
		if (pathname === '/start') {
			await this.probe.begin();
			return this.rows;
		}
		const needs = await this.probe.end();
		const items = (this.marked?.items ?? 0) + Number(searchParams.get('items'));
		this.marked = { needs, items };
		return {};
	}
}
