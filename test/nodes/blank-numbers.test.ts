import type { IDataObject, INodeProperties } from 'n8n-workflow';
import { properties as chatProperties } from '../../nodes/LmChatModelAccess/fields';
import { resources as imageResources } from '../../nodes/ModelAccessImage/ModelAccessImage.node';
import { resources as textResources } from '../../nodes/ModelAccess/ModelAccess.node';
import { storeBinaryInMemory } from '../../scripts/engine/index';
import {
	createResponse,
	generateImage,
	getModels,
	startHarness,
	submitted,
	waitForTask,
	type Harness,
} from './arrange';
import { startChat } from './chat-model.arrange';

let harness: Harness;
beforeEach(async () => {
	await storeBinaryInMemory();
	harness = await startHarness({ defaultSize: '16x16' });
});
afterEach(async () => await harness.close());

const BLANKS = ['={{ " " }}', ' ', '={{ "\\n\\t" }}', '={{ "\u00a0" }}'];

/** A value for each number among the options of an operation. */
function numbersSetTo(value: string, properties: INodeProperties[] = []): IDataObject {
	const options = properties
		.filter(({ name }) => name === 'options' || name === 'advanced')
		.flatMap((collection) => collection.options as INodeProperties[]);
	const names = options.filter(({ type }) => type === 'number').map(({ name }) => name);
	expect(names.length).toBeGreaterThan(0);
	return Object.fromEntries(names.map((name) => [name, value]));
}

const propertiesOf = (resources: typeof textResources, resource: string, operation: string) =>
	resources
		.find(({ value }) => value === resource)
		?.operations.find(({ value }) => value === operation)?.properties;

/** The only body that was sent, without the waits of the clock. */
const bodies = () => harness.gateway.requests.map(({ body }) => body);

describe.each(BLANKS)('A number field that holds only blanks (%j) counts as not set', (blank) => {
	test('in Response → Create', async () => {
		const options = numbersSetTo(blank, propertiesOf(textResources, 'response', 'create'));
		await harness.text(createResponse({ options }));
		expect(bodies()).toEqual([{ model: 'aurora-text-1', input: 'Hello there' }]);
	});

	test('in Image → Generate: it waits, downloads and asks for one image as by default', async () => {
		const options = numbersSetTo(blank, propertiesOf(imageResources, 'image', 'generate'));
		const run = await harness.image(generateImage({ options }));
		expect(run.items[0]?.binary).toHaveProperty('data');
		expect(bodies()[0]).toEqual({ model: 'aurora-image-1', prompt: 'A boat' });
	});

	test('in Task → Wait', async () => {
		const { id } = await submitted(harness);
		const options = numbersSetTo(blank, propertiesOf(imageResources, 'task', 'wait'));
		const run = await harness.image(waitForTask(id, { options }));
		expect(run.items[0]?.json.status).toBe('completed');
	});

	test('in Model → Get Many', async () => {
		const { items } = await harness.text(getModels({ limit: blank }));
		expect(items.length).toBeGreaterThan(1);
	});

	test('in the chat model', async () => {
		const chat = await startChat();
		const { model } = await chat.supply({ options: numbersSetTo(blank, chatProperties) });
		await chat.drive(model.invoke('Hello'));
		expect(Object.keys(chat.bodies()[0] ?? {}).sort()).toEqual(['input', 'model']);
		await chat.close();
	});
});
