import { startGateway, type Gateway, type GatewayOptions } from '../../gateway';
import type { N8n, Running, StartOptions } from '../../scripts/n8n/n8n';
import { Rest } from '../../scripts/n8n/rest';
import {
	importCredential,
	importWorkflows,
	setStage,
	type StageOptions,
	type WorkflowFile,
} from '../../scripts/n8n/stage';

export { until } from '../../scripts/n8n/until';

/** A gateway and an n8n with the package, a credential for that gateway and some workflows. */
export interface Stage {
	gateway: Gateway;
	n8n: N8n;
	/** Ends all that still runs. */
	close: () => Promise<void>;
	/** Starts n8n and signs in. */
	start: (options?: Partial<StartOptions>) => Promise<Running & { rest: Rest }>;
}

/** Sets a fresh stage; nothing but the gateway runs yet. Where that fails, nothing is left running. */
export async function arrange(
	options: StageOptions & { gateway?: GatewayOptions; workflows?: WorkflowFile[] },
): Promise<Stage> {
	const tarball = process.env.E2E_TARBALL;
	const n8n = await setStage({ fresh: true, tarball, ...options });
	const gateway = await startGateway({ taskSeconds: 4, ...options.gateway });
	const close = async () => {
		await n8n.stopAll();
		await gateway.close();
	};
	try {
		await importCredential(n8n, gateway);
		if (options.workflows) await importWorkflows(n8n, options.workflows);
	} catch (error) {
		await close();
		throw error;
	}
	return {
		gateway,
		n8n,
		start: async (startOptions) => {
			const running = await n8n.start(startOptions);
			return { ...running, rest: await Rest.signIn(running.address, n8n.owner) };
		},
		close,
	};
}
