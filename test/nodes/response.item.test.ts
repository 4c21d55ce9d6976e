import type { IDataObject } from 'n8n-workflow';
import { sizeOf } from '../../gateway';
import createPreview from '../../nodes/ModelAccess/__schema__/v1.0.0/response/create.json';
import { readBinary } from '../../scripts/engine/index';
import { CONTINUE, createResponse, itemsOf, reply, useDisk, useHarness } from './arrange';
import { expectImages } from './image.arrange';

const harness = useHarness();

const DRAWING = '[{ "type": "image_generation", "size": "32x24" }]';
const jsonFormat = { outputFormat: { format: { type: 'json_object' } } };

describe('The item of a response', () => {
	test('is the simplified response', async () => {
		const { items } = await harness.text(createResponse());
		const json = {
			id: expect.stringMatching(/^resp_/) as string,
			status: 'completed',
			model: 'aurora-text-1',
			text: 'You said: Hello there',
			usage: expect.objectContaining({ input_tokens: 2, output_tokens: 4 }) as object,
			request_id: harness.gateway.requests[0]?.id,
		};
		expect(items).toEqual([{ json, pairedItem: { item: 0 } }]);
		expect(Object.keys(items[0]!.json)).toEqual(Object.keys(createPreview.properties));
	});

	test('is the gateway’s object to the letter where Simplify is off', async () => {
		const content = [{ type: 'output_text', text: '{ "no JSON": ' }];
		const output = [
			{ type: 'telemetry', beat: 1 },
			{ type: 'message', content },
		];
		const more = { unknown_field: { kept: ['as', 'it', 'is'] }, request_number: 1e21 };
		const whole = { output, usage: { input_tokens: 2, extra: null }, ...more };
		const response = { id: 'resp_1', object: 'response', status: 'completed', ...whole };
		harness.answer(reply(200, response));
		const given = createResponse({ simplify: false, options: jsonFormat });
		const { items } = await harness.text(given);
		expect(items).toEqual([{ json: response, pairedItem: { item: 0 } }]);
		expect(JSON.stringify(items[0]?.json)).toBe(JSON.stringify(response));
	});

	const schema = '{ "type": "object", "properties": { "answer": { "type": "string" } } }';
	test.each<[string, IDataObject]>([
		['Output Format', { outputFormat: { format: { schema } } }],
		['Extra Body', { extraBody: '{ "text": { "format": { "type": "json_object" } } }' }],
	])('has the JSON that %s asked for, parsed', async (_name, options) => {
		const { parsed, text } = (await harness.text(createResponse({ options }))).items[0]!.json;
		expect(parsed).toEqual({ answer: expect.any(String) as string });
		expect(parsed).toEqual(JSON.parse(text as string));
	});

	test('that was cut off says why, and the node points it out to the user', async () => {
		const given = { prompt: '={{ $json.say }}', options: { maxOutputTokens: 3 } };
		const said = itemsOf({ say: 'Hi' }, { say: 'A much longer text than that' });
		const { items, hints } = await harness.text(createResponse(given), { items: said });
		const incomplete_details = { reason: 'max_output_tokens' };
		expect(items.map(({ json }) => json)).toMatchObject([
			{ status: 'completed' },
			{ status: 'incomplete', text: 'You said: A', incomplete_details },
		]);
		expect(items[0]?.json).not.toHaveProperty('incomplete_details');
		const message = expect.stringMatching(/^Item 1: The model stopped at Max Output/) as string;
		expect(hints).toEqual([{ message, type: 'warning', location: 'outputPane' }]);
	});

	// What fails or does not fit is in test/unit/api/{response-request,simplified-response}.test.ts.
	test('that is of no use keeps its text where the node continues', async () => {
		const given = createResponse({ prompt: '[[bad-json]] Hi', options: jsonFormat });
		const { items } = await harness.text(given, CONTINUE);
		const error_details = { partial_text: '{ "answer": ', request_id: 'req_000001' };
		const error = 'The model’s answer is not JSON: { "answer":';
		expect(items[0]?.json).toMatchObject({ error, error_details });
	});
});

describe('Images that the model draws', () => {
	const PNG = Buffer.from('89504e470d0a1a0a', 'hex').toString('base64');
	const JPEG = Buffer.from('ffd8ffe000104a464946', 'hex').toString('base64');

	test.each([true, false])('are binary data, named and typed (simplify: %p)', async (simplify) => {
		const images = [
			{ id: 'ig_1', result: PNG },
			{ id: '../../etc/x', result: `data:image/jpeg;base64,${JPEG}` },
			{ result: 'AAAA' },
		];
		const output = images.map((image) => ({ type: 'image_generation_call', ...image }));
		harness.answer(reply(200, { id: 'r1', status: 'completed', output }));
		const { items } = await harness.text(createResponse({ simplify }));
		const { binary = {}, json } = items[0]!;
		expect(binary).toMatchObject({
			data: { fileName: 'ig_1.png', mimeType: 'image/png' },
			data_1: { fileName: 'image-1.jpg', mimeType: 'image/jpeg' },
			data_2: { fileName: 'image-2.bin', mimeType: 'application/octet-stream' },
		});
		expect((await readBinary(binary.data_1)).toString('base64')).toBe(JPEG);
		expect(JSON.stringify(json).includes(PNG)).toBe(!simplify);
	});

	test('go into the field that was asked for, and without any there is none', async () => {
		const options = { tools: '={{ $json.tools }}', binaryPropertyName: '={{ $json.field }}' };
		const named = { tools: DRAWING, field: ' drawing ' };
		const given = { items: itemsOf(named, { tools: DRAWING }, { tools: '' }) };
		const { items } = await harness.text(createResponse({ options }), given);
		const fields = items.map(({ binary }) => binary && Object.keys(binary));
		expect(fields).toEqual([['drawing'], ['data'], undefined]);
	});
});

useDisk();

test.each([true, false])('Drawn images go to n8n’s files on disk (stream: %p)', async (stream) => {
	const given = createResponse({ prompt: 'A red boat', stream, options: { tools: DRAWING } });
	const { items } = await harness.text(given);
	expect(items[0]?.binary?.data?.id).toMatch(/^filesystem/);
	const [png] = await expectImages(items, ['A red boat']);
	expect(sizeOf(png!)).toEqual({ width: 32, height: 24 });
	expect(items[0]?.json.text).toBe('You said: A red boat');
});
