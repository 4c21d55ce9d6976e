import type { IDataObject } from 'n8n-workflow';
import * as nodes from '../nodes/arrange';
import { codeBlocks, PAGES, rows, section } from './pages';

const harness = nodes.useHarness();

/** The JSON blocks of a place in a page, in order; who reads one takes it away. */
type Shown = IterableIterator<IDataObject>;

const changed = (json: unknown, change: (key: string, value: unknown) => unknown) =>
	JSON.parse(JSON.stringify(json, change)) as IDataObject;

/** Without what differs from run to run. */
const tidy = (json: unknown) =>
	changed(json, (key, value) => (['id', 'request_id', 'usage'].includes(key) ? '' : value));

type Items = nodes.RunOptions['items'];

/** What a response gives is told by its request, but for IDs; its fields come in this order. */
async function expectResponse(given: IDataObject, shown?: IDataObject, items?: Items) {
	const run = await harness.text(nodes.createResponse(given), items && { items });
	const json = run.items[0]!.json;
	expect(tidy(json)).toEqual(tidy(shown));
	expect(json.usage).toMatchObject(shown?.usage as IDataObject);
	expect(Object.keys(shown ?? {})).toEqual(Object.keys(json));
}

/** Without what IDs, ports, times, signatures and sizes of files differ in from run to run. */
const tidyImage = (json: unknown) =>
	changed(json, (key, value) => {
		if (typeof value === 'string') return shapeOf(value);
		return /_at$|^size$/.test(key) && typeof value === 'number' ? 0 : value;
	});

const shapeOf = (value: string) =>
	value
		.replace(/imgtask_[0-9a-f]{24}/, 'ID')
		.replace(/-[0-9a-f]{4}(?=[-.]\w)/, '-ID')
		.replace(/:\d+\//, ':PORT/')
		.replace(/(expires=)\d+/, '$1TIME')
		.replace(/(signature=)[0-9a-f]+…?$/, '$1SIGNATURE')
		.replace(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/, 'TIME');

const expectImage = async (parameters: IDataObject, shown?: IDataObject) =>
	expect(tidyImage(shown)).toEqual(tidyImage((await harness.image(parameters)).items[0]?.json));

function quoted(place: string, prompt: string): string {
	const [page, heading] = place.split('#') as [string, string];
	expect(section(page, heading)).toContain(`\`${prompt}\``);
	return prompt;
}

/** Each place of a page that shows JSON, and the runs that make it; input stands beside its output. */
const PLACES: Record<string, (shown: Shown, place: string) => Promise<void>> = {
	'README.md#What an error item looks like': async ([shown]) => {
		const access = { apiKey: harness.gateway.keys.textOnly };
		const run = await harness.image(nodes.generateImage(), { ...nodes.CONTINUE, access });
		const request_id = expect.anything() as string;
		const error_details = { ...(shown?.error_details as IDataObject), request_id };
		expect(run.items[0]?.json).toEqual({ ...shown, error_details });
	},
	'docs/responses.md#Response → Create': async ([simplified, raw]) => {
		await expectResponse({ prompt: 'Write an image prompt for a lighthouse at dusk' }, simplified);
		const run = await harness.text(nodes.createResponse({ simplify: false }));
		expect(tidy(run.items[0]?.json)).toMatchObject(tidy(raw));
	},
	'docs/responses.md#Text': async ([item, ofText], place) => {
		const blocks = codeBlocks('docs/responses.md').filter((block) => block.place === place);
		const prompt = blocks.find(({ language }) => language === 'text')!.text;
		await expectResponse({ prompt: `=${prompt.trim()}` }, ofText, [{ json: item! }]);
	},
	'docs/responses.md#Messages': async ([conversation, ofImage]) => {
		const message = rows(section('docs/responses.md', 'Messages'))
			.filter((row) => row.Type === 'Text')
			.map((row) => ({ role: row.Role!.toLowerCase(), type: 'text', text: row.Prompt }));
		expect(message).toHaveLength(4);
		await expectResponse({ inputType: 'messages', messages: { message } }, conversation);
		const seen = [{ role: 'user', type: 'image', text: 'What is in this image?' }];
		const given = { inputType: 'messages', messages: { message: seen } };
		await expectResponse(given, ofImage, (await harness.image(nodes.generateImage())).items);
	},
	'docs/responses.md#JSON': async ([input, ofJson]) => {
		await expectResponse({ inputType: 'json', inputJson: JSON.stringify(input) }, ofJson);
	},
	'docs/responses.md#Structured output': async ([schema, shown], place) => {
		const format = { type: 'json_schema', schema: JSON.stringify(schema) };
		const prompt = quoted(place, 'Classify as bug, wish or praise: The export button does nothing');
		await expectResponse({ prompt, options: { outputFormat: { format } } }, shown);
	},
	'docs/responses.md#Tools': async ([builtIn, tools, shown, next], place) => {
		const search = { options: { tools: JSON.stringify(builtIn) } };
		const [searched] = (await harness.text(nodes.createResponse(search))).items;
		expect(searched?.json.citations).toHaveLength(1);
		const options = { tools: JSON.stringify(tools) };
		await expectResponse({ prompt: quoted(place, 'Bergen'), options }, shown);
		const inputJson = JSON.stringify(next);
		const run = await harness.text(nodes.createResponse({ inputType: 'json', inputJson, options }));
		expect(run.items[0]?.json.text).toContain('Rain, 9 degrees');
	},
	'docs/responses.md#Images in an answer': async ([tool]) => {
		const options = { tools: JSON.stringify(tool) };
		const given = nodes.createResponse({ model: nodes.byId('aurora-omni-1'), options });
		expect(Object.keys((await harness.text(given)).items[0]?.binary ?? {})).toEqual(['data']);
	},
	'docs/responses.md#Model → Get Many': async ([shown]) => {
		const run = await harness.text(nodes.getModels({ options: { search: 'image' } }));
		expect(shown).toEqual(run.items[0]?.json);
	},
	'docs/images.md#Image → Generate': async ([shown, running]) => {
		await expectImage(nodes.generateImage({ prompt: shown?.prompt }), shown);
		await expectImage(nodes.generateImage({ waitForCompletion: false }), running);
	},
	'docs/images.md#Image → Edit': async ([shown]) =>
		await expectImage(nodes.editImage({ prompt: shown?.prompt, options: { n: 2 } }), shown),
	'docs/images.md#Task → Get': async ([shown]) =>
		await expectImage(nodes.getTask((await nodes.submitted(harness)).id), shown),
	'docs/images.md#Task → Wait': async ([shown]) =>
		await expectImage(nodes.waitForTask((await nodes.submitted(harness)).id), shown),
};

const shownAt = new Map<string, IDataObject[]>();
for (const { place, language, text } of PAGES.flatMap(codeBlocks)) {
	if (language !== 'json') continue;
	shownAt.set(place, [...(shownAt.get(place) ?? []), JSON.parse(text) as IDataObject]);
}

test('each JSON of a page has the run that makes it', () => {
	expect([...shownAt.keys()].sort()).toEqual(Object.keys(PLACES).sort());
});

test.each([...shownAt])('what %s shows is what comes', async (place, shown) => {
	const left = shown.values();
	await PLACES[place]?.(left, place);
	expect([...left]).toEqual([]);
});
