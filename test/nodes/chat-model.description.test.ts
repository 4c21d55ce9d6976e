import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { NodeHelpers, type INode, type INodeProperties } from 'n8n-workflow';
import { LmChatModelAccess } from '../../nodes/LmChatModelAccess/LmChatModelAccess.node';
import { create } from '../../nodes/ModelAccess/actions/response/create.operation';
import { prepareNode } from '../../scripts/engine/index';
import { byId } from './arrange';

const node = new LmChatModelAccess();
const { description } = node;
const optionsIn = (properties: INodeProperties[]) =>
	(properties.find(({ name }) => name === 'options')?.options ?? []) as INodeProperties[];

describe('the chat model in n8n’s editor', () => {
	test('has a language model to give, and needs nothing but the credential', () => {
		expect(description).toMatchObject({
			name: 'lmChatModelAccess',
			displayName: 'Model Access Chat Model',
			version: 1,
			inputs: [],
			outputs: ['ai_languageModel'],
			credentials: [{ name: 'modelAccessApi', required: true }],
		});
	});

	test('has the options of Response → Create, under the same names and with the same words', () => {
		const known = new Map(optionsIn(create.properties).map((option) => [option.name, option]));
		const options = optionsIn(description.properties);
		expect(options.map(({ displayName }) => displayName)).toEqual(
			options.map(({ displayName }) => displayName).sort((a, b) => a.localeCompare(b)),
		);
		for (const option of options) expect(option).toEqual(known.get(option.name));
	});

	test('shows under its name which model it is', () => {
		const { workflow, node: placed } = prepareNode({
			node,
			parameters: { model: byId('aurora-text-1') },
		});
		const { expression } = workflow;
		const subtitle = expression.getSimpleParameterValue(placed, description.subtitle, 'manual', {});
		expect(subtitle).toBe('aurora-text-1');
	});

	test('lacks nothing but the model when it comes from the panel', () => {
		const { properties } = description;
		const parameters =
			NodeHelpers.getNodeParameters(properties, {}, true, false, null, description) ?? {};
		const placed = { ...prepareNode({ node }).node, parameters } as INode;
		const issues = NodeHelpers.getNodeParametersIssues(properties, placed, description);
		expect(Object.keys(issues?.parameters ?? {})).toEqual(['model']);
	});

	test('has icons for both themes', () => {
		const here = join(__dirname, '../../nodes/LmChatModelAccess');
		const { light, dark } = description.icon as { light: string; dark: string };
		for (const file of [light, dark]) {
			expect(readFileSync(join(here, file.replace('file:', '')), 'utf8')).toContain('<svg');
		}
	});
});
