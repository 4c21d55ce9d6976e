import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import {
	byId,
	createResponse,
	editImage,
	generateImage,
	getModels,
	getTask,
	startHarness,
	submitted,
	waitForTask,
	type Harness,
} from '../nodes/arrange';
import { storeBinaryInMemory } from '../../scripts/engine/index';
import { examples, rows, section } from './readme';

let harness: Harness;
beforeEach(async () => {
	await storeBinaryInMemory();
	harness = await startHarness();
});
afterEach(async () => await harness.close());

/** Without what differs from run to run. */
const tidy = (json: unknown) =>
	JSON.parse(
		JSON.stringify(json, (key, value: unknown) =>
			['id', 'request_id', 'usage'].includes(key) ? '' : value,
		),
	) as IDataObject;

/** What a response gives is told by its request, but for IDs. */
const expectResponse = async (given: IDataObject, shown: unknown, items?: INodeExecutionData[]) => {
	const run = await harness.text(createResponse(given), items && { items });
	expect(tidy(run.items[0]?.json)).toEqual(tidy(shown));
	expect(run.items[0]?.json.usage).toMatchObject((shown as IDataObject).usage as IDataObject);
};

test('the README shows what comes of Response → Create: simplified and raw', async () => {
	const [simplified, raw] = examples(section('Response → Create'));
	await expectResponse({ prompt: 'Write an image prompt for a lighthouse at dusk' }, simplified);
	const run = await harness.text(createResponse({ simplify: false }));
	expect(tidy(run.items[0]?.json)).toMatchObject(tidy(raw));
});

test('the README shows what comes of each kind of input: a text, messages with a picture, JSON', async () => {
	const [item, ofText] = examples(section('Text'));
	const prompt = '=Summarize this in one sentence: {{ $json.text }}';
	expect(section('Text')).toContain(prompt.slice(1));
	await expectResponse({ prompt }, ofText, [{ json: item as IDataObject }]);

	const [conversation, picture] = examples(section('Messages'));
	const message = rows(section('Messages'))
		.filter((row) => row.Content === 'Text')
		.map((row) => ({ role: row.Role!.toLowerCase(), type: 'text', text: row.Text }));
	expect(message).toHaveLength(4);
	await expectResponse({ inputType: 'messages', messages: { message } }, conversation);
	const seen = [{ role: 'user', type: 'image', text: 'What is in this picture?' }];
	const given = { inputType: 'messages', messages: { message: seen } };
	await expectResponse(given, picture, (await harness.image(generateImage())).items);

	const [input, ofJson] = examples(section('JSON'));
	await expectResponse({ inputType: 'json', inputJson: JSON.stringify(input) }, ofJson);
});

test('the README shows what comes of structured output', async () => {
	const [schema, shown] = examples(section('Structured output'));
	const format = { type: 'json_schema', schema: JSON.stringify(schema) };
	const prompt = 'Classify as bug, wish or praise: The export button does nothing';
	expect(section('Structured output')).toContain(`\`${prompt}\``);
	await expectResponse({ prompt, options: { outputFormat: { format } } }, shown);
});

test('the README shows what comes of tools, of the turn after, and of pictures that a model draws while it answers', async () => {
	const [, tools, shown, next] = examples(section('Tools'));
	const options = { tools: JSON.stringify(tools) };
	await expectResponse({ prompt: 'Bergen', options }, shown);
	const inputJson = JSON.stringify(next);
	const run = await harness.text(createResponse({ inputType: 'json', inputJson, options }));
	expect(run.items[0]?.json.text).toContain('Rain, 9 degrees');

	const [, tool] = /`(\[\{ "type": "image_generation" \}\])`/.exec(section('Pictures out'))!;
	const drawing = { model: byId('aurora-omni-1'), options: { tools: tool } };
	const { items } = await harness.text(createResponse(drawing));
	expect(Object.keys(items[0]?.binary ?? {})).toEqual(['data']);
});

test('the README shows what comes of Model → Get Many', async () => {
	const run = await harness.text(getModels({ options: { search: 'image' } }));
	expect(run.items[0]?.json).toEqual(examples(section('Model → Get Many'))[0]);
});

test.each<[string, (taskId: string) => IDataObject[]]>([
	['Image → Generate', () => [generateImage(), generateImage({ waitForCompletion: false })]],
	['Image → Edit', () => [editImage({ options: { n: 2 } })]],
	['Task → Get', (taskId) => [getTask(taskId)]],
	['Task → Wait', (taskId) => [waitForTask(taskId)]],
])(
	'the README shows what comes of %s, by its fields: IDs and times differ from run to run',
	async (heading, given) => {
		const { id } = await submitted(harness);
		const fieldsOf = (json: unknown): string[] =>
			Object.entries(json as IDataObject).flatMap(([key, value]) => [
				key,
				...Object.keys(Object(value ?? {}) as object).filter((inner) => !/^\d+$/.test(inner)),
			]);
		for (const [index, parameters] of given(id).entries()) {
			const run = await harness.image(parameters);
			const shown = examples(section(heading))[index];
			expect(fieldsOf(shown)).toEqual(fieldsOf(run.items[0]?.json));
		}
	},
);

test('the README shows what comes of an item that failed', async () => {
	const run = await harness.image(generateImage(), {
		onError: 'continueRegularOutput',
		access: { apiKey: harness.gateway.keys.textOnly },
	});
	const [shown] = examples(section('The three choices')) as Array<{ error_details: object }>;
	expect(run.items[0]?.json).toEqual({
		...shown,
		error_details: { ...shown!.error_details, request_id: expect.any(String) as string },
	});
});
