import { createResponse, file, generateImage, useHarness } from './arrange';
import { runChecked, type Placed } from './image.arrange';

const harness = useHarness();

const ITEMS = [0, 1].map((n) => ({
	json: { n, customer: `C${n}` },
	binary: { photo: file(`photo ${n}`, `photo-${n}.png`) },
}));

/** A node of which item 1 fails, with a node behind each of its outputs. */
const failing = (onError: Placed['onError']): Placed[] => [
	{
		name: 'Ask',
		type: 'n8n-nodes-model-access.modelAccess',
		parameters: createResponse({ prompt: '={{ $json.n === 1 ? "[[status:403]] x" : "Hello" }}' }),
		onError,
	},
];

const error = expect.stringMatching(/^The gateway does not permit this/) as string;
const error_details = expect.objectContaining({ http_status: 403 }) as object;

test('an item on the error output keeps the fields and the files of its input item', async () => {
	const ended = await runChecked(harness, failing('continueErrorOutput'), { items: ITEMS });
	const [[done], failed] = ended.data.resultData.runData.Ask![0]!.data!.main as [
		[{ json: object; binary?: object }],
		object[],
	];
	expect(done.json).toMatchObject({ text: 'You said: Hello' });
	expect(done.binary).toBeUndefined();
	expect(failed).toEqual([
		expect.objectContaining({
			json: { n: 1, customer: 'C1', error, error_details },
			binary: { photo: expect.objectContaining({ fileName: 'photo-1.png' }) as object },
		}),
	]);
});

test('an error item on the regular output holds the error alone', async () => {
	const ended = await runChecked(harness, failing('continueRegularOutput'), { items: ITEMS });
	const failed = ended.items('Ask')[1]!;
	expect(failed.json).toEqual({ error, error_details });
	expect(failed.binary).toBeUndefined();
});

test('what fails for all items keeps the files of each on the error output', async () => {
	const { items } = await harness.image(generateImage(), {
		items: ITEMS,
		onError: 'continueErrorOutput',
		access: { apiKey: 'two words' },
	});
	expect(items.map(({ binary }) => binary?.photo?.fileName)).toEqual([
		'photo-0.png',
		'photo-1.png',
	]);
});
