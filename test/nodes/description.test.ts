import { NodeHelpers, type INode, type INodeProperties, type INodeType } from 'n8n-workflow';
import type { INodePropertyCollection, INodePropertyOptions } from 'n8n-workflow';
import { LmChatModelAccess } from '../../nodes/LmChatModelAccess/LmChatModelAccess.node';
import { create } from '../../nodes/ModelAccess/actions/response/create.operation';
import { ModelAccess } from '../../nodes/ModelAccess/ModelAccess.node';
import { ModelAccessImage } from '../../nodes/ModelAccessImage/ModelAccessImage.node';
import { searchImageModels, searchModels } from '../../nodes/shared/n8n/fields/model-picker';
import { prepareNode } from '../../scripts/engine/index';
import { byId } from './arrange';
import { OPERATIONS, TABLE } from './description.table';

const nodes: Array<[string, INodeType]> = [
	new LmChatModelAccess(),
	new ModelAccess(),
	new ModelAccessImage(),
].map((node) => [node.description.name, node]);

/** Properties by their path, with those in collections of every depth. */
function withInner(properties: INodeProperties[], above = ''): Array<[string, INodeProperties]> {
	return properties.flatMap((property): Array<[string, INodeProperties]> => {
		const { name, type, options: inner = [] } = property;
		const path = `${above}${name}`;
		const groups = type === 'fixedCollection' ? (inner as INodePropertyCollection[]) : [];
		return [
			[path, property],
			...groups.flatMap((group) => withInner(group.values, `${path}.${group.name}.`)),
			...(type === 'collection' ? withInner(inner as INodeProperties[], `${path}.`) : []),
		];
	});
}

const choicesOf = ({ options: choices = [] }: INodeProperties) => choices as INodePropertyOptions[];

/** Where a property is shown: `everywhere`, `resource`, or `resource: operation`. */
function placesOf({ displayOptions }: INodeProperties): string[] {
	const show = (displayOptions?.show ?? {}) as Record<string, string[] | undefined>;
	const { resource: resources, operation: operations } = show;
	if (!resources) return ['everywhere'];
	return resources.flatMap((resource) =>
		operations ? operations.map((operation) => `${resource}: ${operation}`) : [resource],
	);
}

function shownAt({ description }: INodeType, place: string) {
	return withInner(description.properties.filter((field) => placesOf(field).includes(place)));
}

describe.each(nodes)('the node %s', (name, node) => {
	const { description } = node;
	const { properties } = description;
	const places = Object.keys(TABLE[name]!);
	const operations = places.filter((place) => place.includes(': '));

	test.each(places)('has the fields of the table at "%s", each once', (place) => {
		const shown = shownAt(node, place);
		const fields = shown.map(([path, field]): [string, unknown] => {
			const { type, default: initial } = field;
			const isPlain = ['string', 'number', 'boolean'].includes(type) && typeof initial === type;
			const values = type === 'options' ? [choicesOf(field).map(({ value }) => value)] : [];
			return [path, isPlain ? initial : [type, initial, ...values]];
		});
		const table = TABLE[name]![place]!;
		expect(Object.fromEntries(fields)).toEqual(table);
		expect(fields).toHaveLength(Object.keys(table).length);
		const outside = (path: string) => !/^(options|advanced)\./.test(path);
		const order = fields.map(([path]) => path).filter(outside);
		expect(order).toEqual(Object.keys(table).filter(outside));
		const names: string[] = [];
		for (const isIn of [/^options\.\w+$/, /^advanced\.\w+$/]) {
			const own = shown.filter(([path]) => isIn.test(path)).map(([, field]) => field);
			const labels = own.map(({ displayName }) => displayName);
			expect(labels).toEqual([...labels].sort((a, b) => a.localeCompare(b)));
			names.push(...own.map((field) => field.name));
		}
		expect(names).toHaveLength(new Set(names).size);
	});

	test('lacks only what the user alone knows, and shows under its name what it is set to', () => {
		for (const place of operations.length > 0 ? operations : ['everywhere']) {
			const [resource, operation] = place.split(': ');
			const chosen = operation ? { resource, operation } : { model: byId('aurora-text-1') };
			const settings = (given: INode['parameters']) =>
				NodeHelpers.getNodeParameters(properties, given, true, false, null, description) ?? {};
			const parameters = settings(operation ? chosen : {});
			const placed = { ...prepareNode({ node }).node, parameters };
			const issues = NodeHelpers.getNodeParametersIssues(properties, placed, description);
			const missing = Object.keys(issues?.parameters ?? {}).sort();
			const given = { node, parameters: chosen as INode['parameters'] };
			const { workflow, node: set } = prepareNode(given);
			const { expression } = workflow;
			const under = expression.getSimpleParameterValue(set, description.subtitle, 'manual', {});
			const expected = OPERATIONS[place] ?? ['aurora-text-1', 'model'];
			expect([place, under, ...missing]).toEqual([place, ...expected]);
		}
	});

	test('needs the credential, is a tool or a model for agents, and shows no field elsewhere', () => {
		expect(new Set(properties.flatMap(placesOf))).toEqual(new Set(places));
		const isModel = name === 'lmChatModelAccess';
		expect(description).toMatchObject({
			version: 1,
			credentials: [{ name: 'modelAccessApi', required: true }],
			...(isModel
				? { inputs: [], outputs: ['ai_languageModel'] }
				: { inputs: ['main'], outputs: ['main'], usableAsTool: true }),
		});
		const search = name === 'modelAccessImage' ? searchImageModels : searchModels;
		expect(node.methods?.listSearch).toEqual({ searchModels: search });
	});

	test('names every operation for the nodes panel, with a verb first', () => {
		for (const field of properties.filter((property) => property.name === 'operation')) {
			for (const { action, description: says } of choicesOf(field)) {
				expect(action).toMatch(/^[A-Z][a-z]+ (for )?(a|an|many) [a-z]/);
				expect(says).toMatch(/^[A-Z]/);
			}
		}
	});

	const seconds = ['timeout', 'idleTimeout', 'maxWait', 'pollInterval'];
	const unitOf = (of: string) =>
		seconds.includes(of) ? '(Seconds)' : of === 'maxFileSize' ? '(MB)' : '';
	const silent = ['notice', 'resource', 'operation', 'options', 'advanced'];
	const RULES: Record<string, (field: INodeProperties) => boolean> = {
		'is explained': ({ name: of, type, description: says, hint }) =>
			silent.includes(of) || type === 'fixedCollection' || Boolean(says ?? hint),
		'is explained by one sentence without a full stop, or by several with': ({
			description: says = '',
		}) => /[.!?] /.test(says) === says.endsWith('.'),
		'is explained in sentences of at most 20 words': ({ description: says = '', hint = '' }) =>
			`${says}. ${hint}`.split('. ').every((sentence) => sentence.split(' ').length <= 20),
		'has no blank around its words, and no part left out': ({ description: says = '' }) =>
			says === says.trim() && !says.includes('undefined'),
		'begins with Whether, if it is on or off': ({ type, description: says = '' }) =>
			type !== 'boolean' || says.startsWith('Whether '),
		'has a name in title case, with its unit': ({ type, name: of, displayName }) =>
			type === 'notice' || (/^[A-Z]/.test(displayName) && displayName.endsWith(unitOf(of))),
		'is a list that can be searched or an ID, if it is a model': ({ type, modes = [] }) =>
			type !== 'resourceLocator' ||
			(modes.map(({ name: mode }) => mode).join() === 'list,id' &&
				modes[0]?.typeOptions?.searchListMethod === 'searchModels' &&
				modes[0].typeOptions.searchable === true),
		// n8n cuts one of 26 characters in a collection within a collection.
		'has a label that the panel shows in whole': ({ type, displayName }) =>
			type === 'notice' || displayName.length <= 24,
		// A line of the panel holds some 45 letters.
		'shows in whole a text that is there from the beginning': ({ type, typeOptions, ...field }) =>
			type !== 'string' || (field.default as string).length <= 45 * (typeOptions?.rows ?? 1),
	};
	test.each(Object.keys(RULES))('each field %s', (rule) => {
		const broken = withInner(properties).filter(([, field]) => !RULES[rule]!(field));
		expect(broken.map(([path]) => path)).toEqual([]);
	});
});

test('the chat model has its options from Response → Create, with the same words', () => {
	const { properties } = new LmChatModelAccess().description;
	for (const collection of ['options', 'advanced']) {
		const optionsOf = (fields: INodeProperties[]) =>
			choicesOf(fields.find(({ name }) => name === collection)!).map((option) => {
				return { ...option, displayOptions: undefined };
			});
		const shared = optionsOf(properties).filter(({ name }) => name !== 'responseFormat');
		expect(shared.length).toBeGreaterThan(5);
		expect(optionsOf(create.properties)).toEqual(expect.arrayContaining(shared));
	}
});
