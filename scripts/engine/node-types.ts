import { NodeHelpers, UnexpectedError } from 'n8n-workflow';
import type {
	IDataObject,
	INode,
	INodeType,
	INodeTypes,
	IVersionedNodeType,
	Workflow,
} from 'n8n-workflow';

/** A node class, or an instance of it. */
export type NodeSource =
	| INodeType
	| IVersionedNodeType
	| (new () => INodeType | IVersionedNodeType);

/** An instance of the node. */
export const nodeInstance = (source: NodeSource): INodeType | IVersionedNodeType =>
	typeof source === 'function' ? new source() : source;

/** The node types of one workflow, by their full names in workflows. */
export class NodeTypesInMemory implements INodeTypes {
	constructor(private readonly types: Record<string, INodeType | IVersionedNodeType>) {}

	getByName(name: string): INodeType | IVersionedNodeType {
		const type = this.types[name];
		if (!type) throw new UnexpectedError(`Unknown node type "${name}"`);
		return type;
	}

	/** As in n8n, undefined for an unknown type. The engine reports it as an issue of the node. */
	getByNameAndVersion(name: string, version?: number): INodeType {
		const type = this.types[name];
		return (type && NodeHelpers.getVersionedNodeType(type, version)) as INodeType;
	}

	getKnownTypes(): IDataObject {
		return Object.fromEntries(Object.keys(this.types).map((name) => [name, { className: name }]));
	}
}

/** The newest version of a node, which a user gets from the panel. */
export function newestVersion(type: INodeType | IVersionedNodeType): number {
	if ('nodeVersions' in type) return type.currentVersion;
	const { version, defaultVersion } = type.description;
	return defaultVersion ?? (Array.isArray(version) ? Math.max(...version) : version);
}

/** The credential types that the node declares. */
export const declaredCredentials = (type: INodeType): string[] =>
	(type.description.credentials ?? []).map(({ name }) => name);

/** The node of `workflow` with this name. */
export function nodeNamed(workflow: Workflow, name: string): INode {
	const node = workflow.getNode(name);
	if (!node) throw new UnexpectedError(`The workflow has no node "${name}"`);
	return node;
}
