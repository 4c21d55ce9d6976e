import { join } from 'node:path';
import { startGateway, type Gateway, type GatewayOptions } from '../../gateway';
import { dataFolder } from '../../scripts/n8n/folders';
import type { N8n, Running, StartOptions } from '../../scripts/n8n/n8n';
import { packPackage } from '../../scripts/n8n/package';
import { Rest } from '../../scripts/n8n/rest';
import {
	importCredential,
	importWorkflows,
	setUpN8n,
	type N8nServerOptions,
	type WorkflowFile,
} from '../../scripts/n8n/n8n-server';
import { posted } from '../../scripts/n8n/webhook';
import { serves } from '../../scripts/n8n/workflows';

export { until } from '../../scripts/n8n/until';

interface Options extends N8nServerOptions {
	gateway?: GatewayOptions;
	workflows?: WorkflowFile[];
	credential?: boolean;
}

/** A gateway and an n8n with the package, a credential for that gateway and some workflows. */
export interface N8nServer {
	gateway: Gateway;
	n8n: N8n;
	/** The packed package that is installed in it. */
	tarball: string;
	/** The n8n that was started last, and its owner's session. */
	main: Running & { rest: Rest };
	start: (options?: Partial<StartOptions>) => Promise<void>;
	/** Calls a webhook of {@link main}, as the world outside does. */
	post: (path: string, body: object) => Promise<Response>;
}

/**
 * Sets up a fresh n8n for the tests of a file. Only the gateway runs yet. Both end with the tests.
 * @returns the n8n server, filled in before the first test
 */
export function arrange(optionsOf: () => Promise<Options> | Options): N8nServer {
	const n8nServer = {} as N8nServer;
	beforeAll(async () => {
		const { workflows, credential = true, ...options } = await optionsOf();
		n8nServer.tarball =
			process.env.E2E_TARBALL ?? (await packPackage(join(await dataFolder(), 'packed')));
		n8nServer.n8n = await setUpN8n({ fresh: true, tarball: n8nServer.tarball, ...options });
		n8nServer.gateway = await startGateway({ taskSeconds: 4, ...options.gateway });
		if (credential) await importCredential(n8nServer.n8n, n8nServer.gateway);
		if (workflows) await importWorkflows(n8nServer.n8n, workflows);
	}, 900_000);
	afterAll(async () => {
		await n8nServer.n8n?.stopAll();
		await n8nServer.gateway?.close();
	});
	n8nServer.start = async (options) => {
		const running = await n8nServer.n8n.start(options);
		n8nServer.main = { ...running, rest: await Rest.signIn(running.address, n8nServer.n8n.owner) };
	};
	n8nServer.post = async (path, body) =>
		await posted(`${n8nServer.main.address}/webhook/${path}`, body);
	return n8nServer;
}

/**
 * A workflow with further nodes that serve one of its nodes.
 * @param servants by the kind of their connection, such as `ai_tool`
 */
export const servedBy = (
	workflow: WorkflowFile,
	node: string,
	servants: Record<string, WorkflowFile['nodes'][number]>,
): WorkflowFile => ({
	...workflow,
	nodes: [
		...workflow.nodes,
		...Object.entries(servants).map(([kind, servant]) => ({ id: `serves-${kind}`, ...servant })),
	],
	connections: {
		...workflow.connections,
		...Object.fromEntries(
			Object.entries(servants).map(([kind, { name }]) => [name, serves(node, kind)]),
		),
	},
});

/** Makes a data table of texts, and returns its path in n8n's own interface. */
export async function createTable(rest: Rest, name: string, columns: string[]): Promise<string> {
	const { id: project } = await rest.call<{ id: string }>('GET', '/projects/personal');
	const path = `/projects/${project}/data-tables`;
	const texts = columns.map((column) => ({ name: column, type: 'string' }));
	const { id } = await rest.call<{ id: string }>('POST', path, { name, columns: texts });
	return `${path}/${id}`;
}
