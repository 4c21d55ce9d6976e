import { createRequire } from 'node:module';
import { join } from 'node:path';
import type {
	ICredentialType,
	IExecuteFunctions,
	INodeExecutionData,
	INodeType,
} from 'n8n-workflow';
import { ModelAccessApi } from '../credentials/ModelAccessApi.credentials';
import { ModelAccess, resources as textResources } from '../nodes/ModelAccess/ModelAccess.node.js';
import {
	ModelAccessImage,
	resources as imageResources,
} from '../nodes/ModelAccessImage/ModelAccessImage.node.js';
import type { Clock } from '../nodes/shared/api/http/clock';
import type { Resource } from '../nodes/shared/n8n/runner/operation';
import { execute } from '../nodes/shared/n8n/runner/run-items';

/** Our nodes and the credential that they use. */
export interface OwnNodes {
	text: INodeType;
	image: INodeType;
	credential: ICredentialType;
}

/** Our nodes from the unpacked package, as a host gets them. */
export function packedNodes(folder: string): OwnNodes {
	const built = createRequire(__filename)(join(folder, 'index.js')) as {
		ModelAccess: new () => INodeType;
		ModelAccessImage: new () => INodeType;
		ModelAccessApi: new () => ICredentialType;
	};
	return {
		text: new built.ModelAccess(),
		image: new built.ModelAccessImage(),
		credential: new built.ModelAccessApi(),
	};
}

/** Our nodes from the sources, with their waits on another clock. */
export function nodesOnTime(time: Clock): OwnNodes {
	const onTime = ({ description, methods }: INodeType, resources: Resource[]): INodeType => ({
		description,
		methods,
		async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
			return await execute(this, resources, time);
		},
	});
	return {
		text: onTime(new ModelAccess(), textResources),
		image: onTime(new ModelAccessImage(), imageResources),
		credential: new ModelAccessApi(),
	};
}
