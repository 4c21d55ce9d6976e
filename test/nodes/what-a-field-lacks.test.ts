import type { IDataObject } from 'n8n-workflow';
import {
	createResponse,
	editImage,
	file,
	generateImage,
	getTask,
	itemsOf,
	shown,
	sourceFiles,
	sourceUrls,
	useHarness,
} from './arrange';

const harness = useHarness();

/** Message and advice of an error of the image node. */
async function imageError(parameters: IDataObject, binary = {}): Promise<[string, string]> {
	const given = { items: [{ json: { answer: '' }, binary }] };
	const { message, description } = shown(await harness.imageError(parameters, given));
	expect(harness.gateway.count()).toBe(0);
	return [message, description ?? ''];
}

const locator = (value: string) => ({ __rl: true, mode: 'id', value });

test.each([
	['Prompt', generateImage({ prompt: '={{ $json.prompt }}' })],
	['Prompt', generateImage({ prompt: '={{ $json.answer }}' })],
	['Prompt', generateImage({ prompt: '= {{ $json.answer }} ' })],
	['Model', generateImage({ model: locator('={{ $json.model }}') })],
	['Task ID', getTask('={{ $json.task_id }}')],
	['Image 2: URL', editImage(sourceUrls('https://a.example/1.png', '={{ $json.url }}'))],
	['Image 1: Input Binary Field', editImage(sourceFiles('={{ $json.field }}'))],
	[
		'Put Output File in Field',
		generateImage({ options: { binaryPropertyName: '={{ $json.answer }}' } }),
	],
])('An expression that gives nothing is told as that: %s', async (field, parameters) => {
	const [message, advice] = await imageError(parameters);
	expect(message).toBe(`The expression in ${field} gave nothing`);
	expect(advice).toMatch(/^Check the expression with the data of item 0\. \w+/);
});

test.each([
	['Prompt', generateImage({ prompt: '' })],
	['Prompt', generateImage({ prompt: ' ' })],
	['Model', generateImage({ model: locator('') })],
	['Task ID', getTask('')],
	// The field is filled; the extra body empties it.
	['Prompt', generateImage({ prompt: '={{ "A fox" }}', options: { extraBody: '{"prompt":""}' } })],
])('A field without an expression is told as empty: %s', async (field, parameters) => {
	expect((await imageError(parameters))[0]).toBe(`${field} is empty`);
});

test('Response → Create tells an expression that gives nothing, for each item', async () => {
	const messages = {
		message: [
			{ role: 'user', type: 'text', text: 'Look' },
			{ role: 'user', type: 'image', imageSource: 'url', imageUrl: '={{ $json.url }}' },
		],
	};
	const onError = 'continueRegularOutput';
	const texts = await harness.text(createResponse({ prompt: '={{ $json.text }}' }), {
		items: itemsOf({ text: 'Hello' }, {}),
		onError,
	});
	expect(texts.items[1]?.json.error).toBe('The expression in Prompt gave nothing');
	const rows = await harness.text(createResponse({ inputType: 'messages', messages }), { onError });
	expect(rows.items[0]?.json.error).toBe('The expression in Message 2: Image URL gave nothing');
});

test.each([
	[{}, /^The item has no file\. Check that the previous node passes one on\./],
	[{ photo: file('x') }, /^The item has "photo"\. Enter that name\./],
	[{ a: file('x'), b: file('y') }, /^The item has "a", "b"\. Enter one of these names\./],
	[
		Object.fromEntries(Array.from({ length: 12 }, (_unused, n) => [`f${n}`, file('x')])),
		/^The item has "f0", .*"f9", …\. Enter one/,
	],
])('A wrong name of a binary field is answered with those of the item', async (binary, advice) => {
	const error = await imageError(editImage(sourceFiles('data')), binary);
	expect(error[0]).toBe('Image 1: Input Binary Field "data" is not a binary field of the item');
	expect(error[1]).toMatch(advice);
});
