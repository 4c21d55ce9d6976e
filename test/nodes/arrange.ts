import type { IDataObject, IExecuteFunctions, INodeExecutionData, INodeType } from 'n8n-workflow';
import { ModelAccessApi } from '../../credentials/ModelAccessApi.credentials';
import { ModelAccess, resources as textResources } from '../../nodes/ModelAccess/ModelAccess.node';
import {
	ModelAccessImage,
	resources as imageResources,
} from '../../nodes/ModelAccessImage/ModelAccessImage.node';
import type { Time } from '../../nodes/shared/client/time';
import { execute, type Resource } from '../../nodes/shared/n8n/operation';
import { startGateway, type Gateway, type GatewayOptions } from '../gateway';
import { runNode, runNodeToError, type RunNodeOptions } from '../support/engine';
import { VirtualTime } from '../support/virtual-time';

/** A node of ours, its waits on a clock that the test drives. */
function onTime(node: INodeType, resources: Resource[], time: Time): INodeType {
	return {
		description: node.description,
		methods: node.methods,
		async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
			return await execute(this, resources, time);
		},
	};
}

export const textNode = (time: Time) => onTime(new ModelAccess(), textResources, time);
export const imageNode = (time: Time) => onTime(new ModelAccessImage(), imageResources, time);

/** What the credential holds. */
export interface Access {
	baseUrl: string;
	apiKey: string;
}

export type StoryOptions = Omit<
	Partial<RunNodeOptions>,
	'node' | 'time' | 'credentials' | 'credentialTypes'
> & { access?: Partial<Access> };

/** A gateway and both nodes on one clock: the whole way from a parameter to a file. */
export interface Story {
	time: VirtualTime;
	gateway: Gateway;
	access: Access;
	/** Runs the text node. */
	text: (parameters: IDataObject, options?: StoryOptions) => ReturnType<typeof runNode>;
	textError: (parameters: IDataObject, options?: StoryOptions) => ReturnType<typeof runNodeToError>;
	/** Runs the image node. */
	image: (parameters: IDataObject, options?: StoryOptions) => ReturnType<typeof runNode>;
	imageError: (
		parameters: IDataObject,
		options?: StoryOptions,
	) => ReturnType<typeof runNodeToError>;
	close(): Promise<void>;
}

/** Starts a story. Its gateway's tasks take 6 s unless the options say otherwise. */
export async function startStory(options: GatewayOptions = {}): Promise<Story> {
	const time = new VirtualTime();
	const gateway = await startGateway({ taskSeconds: 6, time: time.gateway, ...options });
	const access = { baseUrl: gateway.baseUrl, apiKey: gateway.keys.active };
	const settings = (node: INodeType, parameters: IDataObject, given: StoryOptions = {}) => {
		const { access: other, ...rest } = given;
		return {
			node,
			parameters: parameters as RunNodeOptions['parameters'],
			time,
			credentials: { modelAccessApi: { ...access, ...other } },
			credentialTypes: [new ModelAccessApi()],
			...rest,
		} satisfies RunNodeOptions;
	};
	return {
		time,
		gateway,
		access,
		text: async (parameters, given) => await runNode(settings(textNode(time), parameters, given)),
		textError: async (parameters, given) =>
			await runNodeToError(settings(textNode(time), parameters, given)),
		image: async (parameters, given) => await runNode(settings(imageNode(time), parameters, given)),
		imageError: async (parameters, given) =>
			await runNodeToError(settings(imageNode(time), parameters, given)),
		close: async () => await gateway.close(),
	};
}

/** A resource locator as the editor saves it. */
export const byId = (id: string) => ({ __rl: true, mode: 'id', value: id });
