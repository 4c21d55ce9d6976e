import { createRequire } from 'node:module';
import {
	NodeHelpers,
	type INode,
	type INodeParameters,
	type INodeType,
	type INodeTypeDescription,
} from 'n8n-workflow';
import { ModelAccess } from '../../nodes/ModelAccess/ModelAccess.node';
import { ModelAccessImage } from '../../nodes/ModelAccessImage/ModelAccessImage.node';
import { prepareNode } from '../../scripts/engine/index';

const { createNodeAsTool } = createRequire(require.resolve('n8n-core'))(
	'./execution-engine/node-execution-context/utils/create-node-as-tool.js',
) as {
	createNodeAsTool: (options: {
		node: INode;
		nodeType: INodeType;
		handleToolInvocation: () => Promise<void>;
	}) => { response: { description: string } };
};

/** A node as n8n gives it to an agent: it adds its own field for a node that has none. */
function toTool(node: INodeType): INodeType {
	const description: INodeTypeDescription = {
		...node.description,
		name: `${node.description.name}Tool`,
		outputs: ['ai_tool'],
		inputs: [],
	};
	return { ...node, description };
}

/** What the agent's model reads. */
function describedTo(nodeType: INodeType, parameters: INodeParameters): string {
	const { node } = prepareNode({ node: nodeType, parameters });
	const handleToolInvocation = async () => await Promise.resolve();
	return createNodeAsTool({ node, nodeType, handleToolInvocation }).response.description;
}

const OPERATIONS: Array<[string, INodeType, INodeParameters, RegExp]> = [
	['Image → Generate', new ModelAccessImage(), {}, /^Generates an image .*image_url.*task_id/],
	['Image → Edit', new ModelAccessImage(), { operation: 'edit' }, /^Edits images .*image_url/],
	['Task → Get', new ModelAccessImage(), { resource: 'task' }, /^Looks .* once.*status/],
	[
		'Task → Wait',
		new ModelAccessImage(),
		{ resource: 'task', operation: 'wait' },
		/^Waits until .*image_url/,
	],
	['Response → Create', new ModelAccess(), {}, /^Asks an AI model .*text/],
	['Model → Get Many', new ModelAccess(), { resource: 'model' }, /^Lists the AI models .*\(id\)/],
];

test.each(OPERATIONS)(
	'%s tells an agent what it does and gives back',
	(_name, node, given, says) => {
		expect(describedTo(toTool(node), given)).toMatch(says);
	},
);

test('what the user wrote about a tool counts, also by an expression', () => {
	const tool = toTool(new ModelAccessImage());
	expect(describedTo(tool, { toolDescription: 'Draws cats' })).toBe('Draws cats');
});

test.each(OPERATIONS)(
	'%s has one description as a tool, and none on the canvas',
	(_name, node, given) => {
		const shown = ({ description }: INodeType) => {
			const { properties } = description;
			const parameters = NodeHelpers.getNodeParameters(
				properties,
				given,
				true,
				false,
				null,
				description,
			)!;
			return properties.filter(
				(field) =>
					field.name === 'toolDescription' &&
					NodeHelpers.displayParameter(parameters, field, null, description),
			);
		};
		expect(shown(toTool(node))).toHaveLength(1);
		expect(shown(node)).toEqual([]);
	},
);

test('another operation brings its own description, unless the user has written one', () => {
	const { description } = toTool(new ModelAccessImage());
	const { properties } = description;
	/** As the editor does: what equals a default goes, and comes back with the new choice. */
	const changed = (before: INodeParameters, change: INodeParameters) => {
		const set = NodeHelpers.getNodeParameters(properties, before, true, false, null, description)!;
		const own = NodeHelpers.getNodeParameters(properties, set, false, false, null, description)!;
		const next = { ...own, ...change };
		return NodeHelpers.getNodeParameters(properties, next, true, false, null, description)!
			.toolDescription;
	};
	expect(changed({}, { operation: 'edit' })).toMatch(/^Edits images/);
	expect(changed({}, { resource: 'task', operation: 'wait' })).toMatch(/^Waits until/);
	expect(changed({ toolDescription: 'Draws' }, { operation: 'edit' })).toBe('Draws');
});
