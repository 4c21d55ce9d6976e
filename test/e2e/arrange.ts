import { join } from 'node:path';
import { startGateway, type Gateway, type GatewayOptions } from '../../gateway';
import { dataFolder } from '../../scripts/n8n/folders';
import type { N8n, Running, StartOptions } from '../../scripts/n8n/n8n';
import { packPackage } from '../../scripts/n8n/package';
import { Rest } from '../../scripts/n8n/rest';
import {
	importCredential,
	importWorkflows,
	setStage,
	type StageOptions,
	type WorkflowFile,
} from '../../scripts/n8n/stage';
import { posted } from '../../scripts/n8n/webhook';
import { serves } from '../../scripts/n8n/workflows';

export { until } from '../../scripts/n8n/until';

interface Options extends StageOptions {
	gateway?: GatewayOptions;
	workflows?: WorkflowFile[];
	/** Whether n8n has a credential for the gateway. */
	credential?: boolean;
}

/** A gateway and an n8n with the package, a credential for that gateway and some workflows. */
export interface Stage {
	gateway: Gateway;
	n8n: N8n;
	/** The packed package that is installed in it. */
	tarball: string;
	/** The n8n that was started last, and its owner's session. */
	main: Running & { rest: Rest };
	/** Starts n8n and signs in. */
	start: (options?: Partial<StartOptions>) => Promise<void>;
	/** Calls a webhook of {@link main}, as the world outside does. */
	post: (path: string, body: object) => Promise<Response>;
}

/**
 * Sets a fresh stage for the tests of a file; nothing but the gateway runs yet. What runs ends with
 * the tests.
 * @returns the stage, filled in before the first test
 */
export function arrange(optionsOf: () => Promise<Options> | Options): Stage {
	const stage = {} as Stage;
	beforeAll(async () => {
		const { workflows, credential = true, ...options } = await optionsOf();
		stage.tarball =
			process.env.E2E_TARBALL ?? (await packPackage(join(await dataFolder(), 'packed')));
		stage.n8n = await setStage({ fresh: true, tarball: stage.tarball, ...options });
		stage.gateway = await startGateway({ taskSeconds: 4, ...options.gateway });
		if (credential) await importCredential(stage.n8n, stage.gateway);
		if (workflows) await importWorkflows(stage.n8n, workflows);
	}, 900_000);
	afterAll(async () => {
		await stage.n8n?.stopAll();
		await stage.gateway?.close();
	});
	stage.start = async (options) => {
		const running = await stage.n8n.start(options);
		stage.main = { ...running, rest: await Rest.signIn(running.address, stage.n8n.owner) };
	};
	stage.post = async (path, body) => await posted(`${stage.main.address}/webhook/${path}`, body);
	return stage;
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
