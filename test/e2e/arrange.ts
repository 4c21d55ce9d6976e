import { startGateway, type Gateway, type GatewayOptions } from '../gateway';
import type { N8n, Running, StartOptions } from './stage/n8n';
import { Rest } from './stage/rest';
import {
	importCredential,
	importWorkflows,
	setStage,
	type StageOptions,
	type WorkflowFile,
} from './stage/stage';

export { until } from './stage/until';

/** A gateway and an n8n with the package, a credential for that gateway and some workflows. */
export interface Stage {
	gateway: Gateway;
	n8n: N8n;
	/** Ends all that still runs. */
	close: () => Promise<void>;
	/** Starts n8n and signs in. */
	start: (options?: Partial<StartOptions>) => Promise<Running & { rest: Rest }>;
}

/** Sets a fresh stage; nothing but the gateway runs yet. */
export async function arrange(
	options: StageOptions & { gateway?: GatewayOptions; workflows?: WorkflowFile[] },
): Promise<Stage> {
	const tarball = process.env.E2E_TARBALL;
	const n8n = await setStage({ fresh: true, tarball, ...options });
	const gateway = await startGateway({ taskSeconds: 4, ...options.gateway });
	const all: Running[] = [];
	await importCredential(n8n, gateway);
	if (options.workflows) await importWorkflows(n8n, options.workflows);
	return {
		gateway,
		n8n,
		start: async (startOptions) => {
			const running = await n8n.start(startOptions);
			all.push(running);
			return { ...running, rest: await Rest.signIn(running.address, n8n.owner) };
		},
		close: async () => {
			await Promise.all(all.map(async ({ stop }) => await stop()));
			await gateway.close();
		},
	};
}
