import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
	NodeHelpers,
	type INode,
	type INodeProperties,
	type INodePropertyCollection,
	type INodePropertyOptions,
	type INodeType,
} from 'n8n-workflow';
import { ModelAccessApi } from '../../credentials/ModelAccessApi.credentials';
import { ModelAccess } from '../../nodes/ModelAccess/ModelAccess.node';
import { ModelAccessImage } from '../../nodes/ModelAccessImage/ModelAccessImage.node';
import { prepareNode } from '../../scripts/engine/index';

/** Names and defaults of parameters: saved in people's workflows, they never change. */
interface Shape {
	parameters: Record<string, unknown>;
	options: Record<string, unknown>;
}

const PICKED = { mode: 'list', value: '' };

const waiting = { maxWait: 900, onTimeout: 'error', pollInterval: 3 };
const requests = { concurrency: 4, maxRetries: 3 };
const files = { fileName: '', maxFileSize: 64 };
const submission = {
	...waiting,
	...requests,
	...files,
	timeout: 60,
	background: 'auto',
	extraBody: '{}',
	n: 1,
	outputFormat: 'png',
	quality: 'auto',
	size: '1024x1024',
};
const delivery = { downloadImages: true, binaryPropertyName: 'data' };

const TABLE: Record<string, Record<string, Record<string, Shape>>> = {
	modelAccess: {
		model: {
			getAll: { parameters: { returnAll: false, limit: 50 }, options: { search: '' } },
		},
		response: {
			create: {
				parameters: { model: PICKED, prompt: '', simplify: true },
				options: {
					...requests,
					extraBody: '{}',
					instructions: '',
					maxOutputTokens: 1024,
					store: false,
					temperature: 1,
					timeout: 300,
				},
			},
		},
	},
	modelAccessImage: {
		image: {
			generate: {
				parameters: { model: PICKED, prompt: '', waitForCompletion: true, ...delivery },
				options: submission,
			},
			edit: {
				parameters: {
					model: PICKED,
					prompt: '',
					waitForCompletion: true,
					...delivery,
					imageSource: 'binary',
					imageBinaryPropertyNames: 'data',
					imageUrls: '',
				},
				options: { ...submission, maskBinaryPropertyName: '', maskUrl: '' },
			},
		},
		task: {
			get: {
				parameters: { taskId: '', ...delivery },
				options: { ...requests, ...files, timeout: 60 },
			},
			wait: {
				parameters: { taskId: '', ...delivery },
				options: { ...requests, ...files, ...waiting, timeout: 60 },
			},
		},
	},
};

/** What Response → Create has beside the table, by design; any other name is a slip. */
const MORE_OF_CREATE = {
	parameters: ['inputType', 'messages', 'inputJson', 'stream'],
	options: [
		'topP',
		'reasoningEffort',
		'reasoningSummary',
		'previousResponseId',
		'outputFormat',
		'tools',
		'toolChoice',
		'parallelToolCalls',
		'metadata',
		'include',
		'truncation',
		'serviceTier',
		'binaryPropertyName',
		'idleTimeout',
	],
};

const nodes: Array<[string, INodeType, string]> = [
	['modelAccess', new ModelAccess(), 'ModelAccess'],
	['modelAccessImage', new ModelAccessImage(), 'ModelAccessImage'],
];

const optionsOf = (property: INodeProperties | undefined): INodeProperties[] =>
	(property?.options ?? []) as INodeProperties[];

/** The properties that the panel shows for an operation, `resource` and `operation` left out. */
function shownFor(node: INodeType, resource: string, operation: string): INodeProperties[] {
	return node.description.properties.filter(
		({ name, displayOptions }) =>
			name !== 'resource' &&
			name !== 'operation' &&
			displayOptions?.show?.resource?.includes(resource) &&
			displayOptions.show.operation?.includes(operation),
	);
}

const defaultsOf = (properties: INodeProperties[]) =>
	Object.fromEntries(properties.map(({ name, default: value }) => [name, value]));

const cases = nodes.flatMap(([name, node]) =>
	Object.entries(TABLE[name]!).flatMap(([resource, operations]) =>
		Object.entries(operations).map(
			([operation, shape]): [string, INodeType, string, string, Shape] => [
				`${name}: ${resource}, ${operation}`,
				node,
				resource,
				operation,
				shape,
			],
		),
	),
);

describe.each(cases)('%s', (_name, node, resource, operation, shape) => {
	const properties = shownFor(node, resource, operation);
	const options = optionsOf(properties.find(({ name }) => name === 'options'));
	const more = operation === 'create' ? MORE_OF_CREATE : { parameters: [], options: [] };

	test('has the parameters of the design with their defaults', () => {
		expect(defaultsOf(properties)).toMatchObject(shape.parameters);
	});

	test('has the options of the design with their defaults', () => {
		expect(defaultsOf(options)).toMatchObject(shape.options);
	});

	test('has no parameter and no option of another name', () => {
		const known = ['options', ...Object.keys(shape.parameters), ...more.parameters];
		expect(known).toEqual(expect.arrayContaining(properties.map(({ name }) => name)));
		const knownOptions = [...Object.keys(shape.options), ...more.options];
		expect(knownOptions).toEqual(expect.arrayContaining(options.map(({ name }) => name)));
	});

	test('names no parameter twice in one view', () => {
		const views = properties.map(({ name, displayOptions }) => {
			const show = { ...displayOptions?.show, resource: undefined, operation: undefined };
			return JSON.stringify([name, show]);
		});
		expect(new Set(views).size).toBe(views.length);
	});

	test('lists its options by name, none of them filled in at first', () => {
		const names = options.map(({ displayName }) => displayName);
		expect(names).toEqual([...names].sort((a, b) => a.localeCompare(b)));
		expect(properties.find(({ name }) => name === 'options')?.default).toEqual({});
	});
});

describe.each(nodes)('The node %s', (name, node, folder) => {
	const { description } = node;
	const all = everyProperty(description.properties);

	test('has no resource or operation beside the design’s', () => {
		const resources = description.properties.find((property) => property.name === 'resource');
		const found = (resources?.options as INodePropertyOptions[]).map(({ value }) => value);
		expect([...found].sort()).toEqual(Object.keys(TABLE[name]!).sort());
		for (const resource of found) {
			const operations = description.properties.find(
				(property) =>
					property.name === 'operation' &&
					property.displayOptions?.show?.resource?.includes(resource as string),
			);
			const values = (operations?.options as INodePropertyOptions[]).map(({ value }) => value);
			expect([...values].sort()).toEqual(Object.keys(TABLE[name]![resource as string]!).sort());
		}
	});

	test('names every operation for the nodes panel, with a verb first', () => {
		for (const property of description.properties.filter(({ name: of }) => of === 'operation')) {
			for (const { action, description: says } of property.options as INodePropertyOptions[]) {
				expect(action).toMatch(/^[A-Z][a-z]+ (for )?(a|an|many) [a-z]/);
				expect(says).toMatch(/^[A-Z]/);
			}
		}
	});

	test('explains every parameter and option', () => {
		const silent = all.filter(
			({ name: of, description: says, hint, type }) =>
				!['resource', 'operation', 'options'].includes(of) &&
				type !== 'fixedCollection' &&
				!(says ?? hint),
		);
		expect(silent.map(({ name: of }) => of)).toEqual([]);
	});

	test('writes descriptions as sentences and booleans as questions', () => {
		for (const { description: says, type, displayName } of all) {
			if (says === undefined) continue;
			expect(says).toMatch(/^\S/);
			expect(says).not.toMatch(/\s$|undefined/);
			// One sentence has no full stop, several have.
			if (!/[.!?] /.test(says)) expect(says).not.toMatch(/\.$/);
			else expect(says).toMatch(/\.$/);
			if (type === 'boolean') expect(says).toMatch(/^Whether /);
			expect(displayName).toMatch(/^[A-Z]/);
		}
	});

	test('makes the unit part of the name of each option that has one', () => {
		for (const { name: of, displayName } of all) {
			if (['timeout', 'idleTimeout', 'maxWait', 'pollInterval'].includes(of)) {
				expect(displayName).toMatch(/\(Seconds\)$/);
			}
			if (of === 'maxFileSize') expect(displayName).toMatch(/\(MB\)$/);
		}
	});

	test('lets each model be picked from a searchable list or given by its ID', () => {
		const pickers = all.filter(({ type }) => type === 'resourceLocator');
		expect(pickers.length).toBeGreaterThan(0);
		for (const { modes } of pickers) {
			expect(modes?.map((mode) => mode.name)).toEqual(['list', 'id']);
			expect(modes?.[0]?.typeOptions).toEqual({
				searchListMethod: 'searchModels',
				searchable: true,
			});
		}
		expect(node.methods?.listSearch?.searchModels).toEqual(expect.any(Function));
	});

	test('needs the credential, is a tool for agents, and has one input and one output', () => {
		expect(description.credentials).toEqual([{ name: 'modelAccessApi', required: true }]);
		expect(description.usableAsTool).toBe(true);
		expect(description.inputs).toEqual(['main']);
		expect(description.outputs).toEqual(['main']);
		expect(description.version).toBe(1);
		expect(description.name).toBe(name);
	});

	test.each(
		Object.entries(TABLE[name]!).flatMap(([resource, operations]) =>
			Object.keys(operations).map((operation): [string, string] => [resource, operation]),
		),
	)('shows under its name what it is set to: %s, %s', (resource, operation) => {
		const { workflow, node: placed } = prepareNode({ node, parameters: { resource, operation } });
		const subtitle = workflow.expression.getSimpleParameterValue(
			placed,
			description.subtitle,
			'manual',
			{},
		);
		expect(subtitle).toBe(`${operation}: ${resource}`);
	});

	test('has its icons, light and dark, and its codex beside it', () => {
		const here = join(__dirname, '../../nodes', folder);
		const icon = description.icon as { light: string; dark: string };
		for (const file of [icon.light, icon.dark]) {
			expect(readFileSync(join(here, file.replace('file:', '')), 'utf8')).toContain('<svg');
		}
		const codex = JSON.parse(readFileSync(join(here, `${folder}.node.json`), 'utf8')) as {
			node: string;
			categories: string[];
			alias: string[];
		};
		expect(codex.node).toBe(`n8n-nodes-model-access.${name}`);
		expect(codex.categories).toEqual(['AI']);
		expect(codex.alias.length).toBeGreaterThan(5);
	});

	test('has an output preview for each operation', () => {
		const here = join(__dirname, '../../nodes', folder, '__schema__/v1.0.0');
		for (const [resource, operations] of Object.entries(TABLE[name]!)) {
			for (const operation of Object.keys(operations)) {
				const file = join(here, resource, `${operation}.json`);
				expect([file, existsSync(file)]).toEqual([file, true]);
				const schema = JSON.parse(readFileSync(file, 'utf8')) as { type: string };
				expect(schema.type).toBe('object');
			}
		}
	});

	test('is complete as it comes from the panel, but for what only the user knows', () => {
		const missing: Record<string, string[]> = {};
		for (const [resource, operations] of Object.entries(TABLE[name]!)) {
			for (const operation of Object.keys(operations)) {
				const parameters =
					NodeHelpers.getNodeParameters(
						description.properties,
						{ resource, operation },
						true,
						false,
						null,
						description,
					) ?? {};
				const placed = { ...prepareNode({ node }).node, parameters } as INode;
				const issues = NodeHelpers.getNodeParametersIssues(
					description.properties,
					placed,
					description,
				);
				missing[operation] = Object.keys(issues?.parameters ?? {}).sort();
			}
		}
		expect(missing).toEqual(
			name === 'modelAccess'
				? { getAll: [], create: ['model', 'prompt'] }
				: {
						generate: ['model', 'prompt'],
						edit: ['model', 'prompt'],
						get: ['taskId'],
						wait: ['taskId'],
					},
		);
	});
});

test('the credential hides the key and shows what an address looks like', () => {
	const { name, properties, test: check, documentationUrl, icon } = new ModelAccessApi();
	expect(name).toBe('modelAccessApi');
	expect(properties.map((property) => property.name)).toEqual(['apiKey', 'baseUrl']);
	expect(properties[0]).toMatchObject({
		type: 'string',
		typeOptions: { password: true },
		required: true,
		default: '',
	});
	expect(properties[1]).toMatchObject({
		type: 'string',
		required: true,
		default: '',
		placeholder: 'https://api.example.com/v1',
	});
	expect(check.request).toMatchObject({ url: '/models' });
	expect(documentationUrl).toMatch(/^https:\/\//);
	for (const file of Object.values(icon)) {
		const path = join(__dirname, '../../credentials', file.replace('file:', ''));
		expect(readFileSync(path, 'utf8')).toContain('<svg');
	}
});

/** Properties of every depth: those in collections as well. */
function everyProperty(properties: INodeProperties[]): INodeProperties[] {
	return properties.flatMap((property) => {
		if (property.type === 'collection') return [property, ...everyProperty(optionsOf(property))];
		if (property.type === 'fixedCollection') {
			const groups = (property.options ?? []) as INodePropertyCollection[];
			return [property, ...groups.flatMap(({ values }) => everyProperty(values))];
		}
		return [property];
	});
}
