import type { INodeProperties } from 'n8n-workflow';
import { resources as textResources } from '../../nodes/ModelAccess/ModelAccess.node';
import { resources as imageResources } from '../../nodes/ModelAccessImage/ModelAccessImage.node';

/** What a request costs if it is sent twice: a column of the retry table. */
export type Kind = 'read' | 'response' | 'image' | 'download';

/** The requests of the nodes that a fault can meet, by names for the page of faults. */
// prettier-ignore
export const CALL_SITES = {
	models: { name: 'Model → Get Many', kind: 'read', route: 'models', operation: 'model, getAll' },
	response: { name: 'Response → Create', kind: 'response', route: 'responses', operation: 'response, create' },
	stream: { name: 'Response → Create, streamed', kind: 'response', route: 'responses', operation: 'response, create' },
	generate: { name: 'Image → Generate', kind: 'image', route: 'generations', operation: 'image, generate' },
	edit: { name: 'Image → Edit', kind: 'image', route: 'edits', operation: 'image, edit' },
	get: { name: 'Task → Get', kind: 'read', route: 'task', operation: 'task, get' },
	wait: { name: 'Task → Wait', kind: 'read', route: 'task', operation: 'task, wait' },
	download: { name: 'Download', kind: 'download', route: 'image', operation: 'task, get' },
} satisfies Record<string, { name: string; kind: Kind; route: string; operation: string }>;

export type CallSite = keyof typeof CALL_SITES;

export const ALL_SITES = Object.keys(CALL_SITES) as CallSite[];

/** The call sites at which the gateway itself answers. */
export const API_SITES = ALL_SITES.filter((callSite) => callSite !== 'download');

/** Whether an error at this call site is about a task whose ID is known. */
export const knowsTask = (callSite: CallSite) => ['get', 'wait', 'download'].includes(callSite);

const operations = () =>
	[...textResources, ...imageResources].flatMap((resource) =>
		resource.operations.map((each) => ({ ...each, name: `${resource.value}, ${each.value}` })),
	);

export const operationNames = () => operations().map(({ name }) => name);

/** The names of the fields and options of a call site's operation, as its panel shows them. */
export function optionNamesAt(callSite: CallSite): Set<string> {
	const own = operations().find(({ name }) => name === CALL_SITES[callSite].operation);
	const names = (properties: INodeProperties[] = []): string[] =>
		properties.flatMap(({ displayName, type, options }) => [
			displayName.replace(/ \([^)]*\)$/, ''),
			...(type === 'collection' ? names(options as INodeProperties[]) : []),
		]);
	return new Set(names(own?.properties));
}
