import type { WorkflowFile } from './n8n-server';
import type { Owner } from './n8n';
import { until } from './until';

/** The fields of an execution that tests check. */
export interface Execution {
	id: string;
	status: string;
	mode: string;
	workflowId: string;
	startedAt: string;
	stoppedAt?: string;
	/** The run's data in n8n's flattened form; only for a single execution. */
	data?: string;
}

/** n8n binds a cookie to the browser that signed in. */
const BROWSER = 'end-to-end';

/** n8n's internal API, as the owner of the instance. */
export class Rest {
	private cookie = '';

	private constructor(private readonly address: string) {}

	/** Signs in. */
	static async signIn(address: string, owner: Owner): Promise<Rest> {
		const { email, password } = owner;
		const rest = new Rest(address);
		// An older n8n reports ready shortly before it is.
		await until('the editor has its interface', async () => {
			return await fetch(`${address}/rest/settings`).then(
				({ ok }) => ok,
				() => false,
			);
		});
		try {
			await rest.call('POST', '/login', { emailOrLdapLoginId: email, password });
		} catch {
			// An older n8n takes no owner from its environment. It needs a setup request.
			const names = { firstName: 'Ada', lastName: 'Builder' };
			await rest.call('POST', '/owner/setup', { ...names, email, password });
		}
		return rest;
	}

	/** The descriptions of all nodes, as the editor gets them. */
	async nodeTypes(): Promise<unknown[]> {
		const reply = await fetch(`${this.address}/types/nodes.json`, {
			headers: { cookie: this.cookie, 'browser-id': BROWSER },
		});
		if (!reply.ok) throw new Error(`/types/nodes.json: ${reply.status}`);
		return (await reply.json()) as unknown[];
	}

	/**
	 * Sends one request.
	 * @returns the `data` of n8n's answer
	 * @throws {Error} n8n refused it; with its message
	 */
	async call<T>(method: string, path: string, body?: unknown): Promise<T> {
		const reply = await fetch(`${this.address}/rest${path}`, {
			method,
			headers: {
				'content-type': 'application/json',
				'browser-id': BROWSER,
				cookie: this.cookie,
			},
			...(body !== undefined && { body: JSON.stringify(body) }),
		});
		const cookies = reply.headers.getSetCookie().map((cookie) => cookie.split(';')[0]);
		if (cookies.length > 0) this.cookie = cookies.join('; ');
		const text = await reply.text();
		if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${text.slice(0, 500)}`);
		return (JSON.parse(text) as { data: T }).data;
	}

	/** Activates a workflow: its triggers listen from then on. */
	async activate(id: string): Promise<void> {
		const { versionId } = await this.call<{ versionId: string }>('GET', `/workflows/${id}`);
		await this.switch(id, 'activate', { active: true, versionId });
	}

	/** Deactivates a workflow. */
	async deactivate(id: string): Promise<void> {
		await this.switch(id, 'deactivate', { active: false });
	}

	private async switch(id: string, verb: string, fields: { active: boolean; versionId?: string }) {
		try {
			await this.call('POST', `/workflows/${id}/${verb}`, fields);
		} catch (error) {
			if (!(error as Error).message.includes(': 404 ')) throw error;
			// n8n 1 has a field for it.
			await this.call('PATCH', `/workflows/${id}`, fields);
		}
	}

	/** Saves a workflow as a new one. */
	async create(workflow: WorkflowFile): Promise<{ id: string; versionId: string }> {
		return await this.call('POST', '/workflows', { ...workflow, active: false });
	}

	/** The executions of a workflow, the latest first. */
	async executions(workflowId: string): Promise<Execution[]> {
		const filter = encodeURIComponent(JSON.stringify({ workflowId }));
		const { results } = await this.call<{ results: Execution[] }>(
			'GET',
			`/executions?limit=100&filter=${filter}`,
		);
		return results;
	}

	/** One execution, with its data. */
	async execution(id: string): Promise<Execution> {
		return await this.call('GET', `/executions/${id}`);
	}
}
