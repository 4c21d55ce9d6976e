import type { INodeType } from 'n8n-workflow';
import type { Time } from '../../nodes/shared/client/time';

type Exchange = { reply: unknown } | { error: unknown };

/**
 * What n8n's request helper brought a node, reply by reply and error by error. Whether the node
 * then stops or goes on is decided when all of it is here: so the other ways to go on are tried
 * with the same exchanges, without sockets.
 */
export class Recording {
	private readonly exchanges: Exchange[] = [];
	/** When each request was sent, by the driven time. */
	readonly starts: number[] = [];
	/** The IDs that the gateway gave the requests. */
	requestIds: string[] = [];

	constructor(private readonly time: Pick<Time, 'now'>) {}

	/** The node; what its requests bring is taken down. */
	taking(node: INodeType): INodeType {
		return withHelper(node, async (send) => {
			try {
				const reply = await send();
				this.exchanges.push({ reply });
				return reply;
			} catch (error) {
				this.exchanges.push({ error });
				throw error;
			}
		});
	}

	/** The node; its requests bring the same once more. */
	playing(node: INodeType): INodeType {
		const left = [...this.exchanges];
		this.starts.length = 0;
		return withHelper(node, async () => {
			this.starts.push(this.time.now());
			const exchange = left.shift();
			if (!exchange) throw new Error('A request was sent that another way to go on did not need');
			if ('error' in exchange) throw exchange.error;
			return exchange.reply;
		});
	}
}

/** The node, its requests to the gateway in other hands. */
function withHelper(
	node: INodeType,
	handle: (send: () => Promise<unknown>) => Promise<unknown>,
): INodeType {
	return {
		...node,
		async execute() {
			const { helpers } = this;
			// eslint-disable-next-line @typescript-eslint/unbound-method
			const send = helpers.httpRequestWithAuthentication;
			helpers.httpRequestWithAuthentication = async function (...args) {
				return await handle(async () => (await send.apply(this, args)) as unknown);
			};
			return (await node.execute?.call(this)) ?? [];
		},
	};
}
