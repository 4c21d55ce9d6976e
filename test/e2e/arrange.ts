import { join } from 'node:path';
import { startGateway, type Gateway, type GatewayOptions } from '../../gateway';
import { dataFolder } from '../../scripts/n8n/folders';
import type { N8n, Running, StartOptions } from '../../scripts/n8n/n8n';
import { packPackage } from '../../scripts/n8n/package';
import { Rest } from '../../scripts/n8n/rest';
import * as server from '../../scripts/n8n/n8n-server';
import { posted } from '../../scripts/n8n/webhook';
import * as made from '../../scripts/n8n/workflows';

export { until } from '../../scripts/n8n/until';

type WorkflowFile = server.WorkflowFile;

interface Options extends server.N8nServerOptions {
	gateway?: GatewayOptions;
	workflows?: WorkflowFile[];
	credential?: boolean;
}

/** A gateway and an n8n with the package, a credential for that gateway and some workflows. */
export interface N8nServer {
	gateway: Gateway;
	n8n: N8n;
	tarball: string;
	/** The n8n that was started last, and its owner's session. */
	main: Running & { rest: Rest };
	start: (options?: Partial<StartOptions>) => Promise<void>;
	/** Calls a webhook of {@link main}, as the world outside does. */
	post: (path: string, body: object) => Promise<Response>;
}

/** Sets up a fresh n8n for the tests of a file, filled in before the first; n8n does not run yet. */
export function arrange(optionsOf: () => Promise<Options> | Options): N8nServer {
	const n8nServer = {} as N8nServer;
	beforeAll(async () => {
		const { workflows, credential = true, ...options } = await optionsOf();
		n8nServer.tarball =
			process.env.E2E_TARBALL ?? (await packPackage(join(await dataFolder(), 'packed')));
		n8nServer.n8n = await server.setUpN8n({ fresh: true, tarball: n8nServer.tarball, ...options });
		n8nServer.gateway = await startGateway({ taskSeconds: 4, ...options.gateway });
		if (credential) await server.importCredential(n8nServer.n8n, n8nServer.gateway);
		if (workflows) await server.importWorkflows(n8nServer.n8n, workflows);
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

/** A workflow with nodes that serve one of its nodes, by their connection, such as `ai_tool`. */
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
			Object.entries(servants).map(([kind, { name }]) => [name, made.serves(node, kind)]),
		),
	},
});

/** The path of the owner's data tables in n8n's own interface. */
export async function tablesPath(rest: Rest): Promise<string> {
	const { id } = await rest.call<{ id: string }>('GET', '/projects/personal');
	return `/projects/${id}/data-tables`;
}

/** Draws a prompt for its caller, and answers with the file. */
export const drawing = (prompt: string) =>
	made.inARow('draw', [
		made.webhook('Wish', 'draw', { responseMode: 'responseNode' }),
		made.image('Draw', prompt),
		made.respondedWithFile('Respond'),
	]);

/** Response → Create with a prompt. */
export function answering(prompt: string, more: object = {}) {
	const model = made.byId('aurora-text-1');
	const given = { resource: 'response', operation: 'create', model, prompt, ...more };
	return made.ours('Answer', 'modelAccess', given);
}
