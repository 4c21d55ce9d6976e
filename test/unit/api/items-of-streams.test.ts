import fc from '../../support/fast-check';
import { bytes, completed, creating, event, inChunks, outcome } from './recorded-streams';
import { reply, succeed } from './arrange';

// Mutated code is slow.
jest.setTimeout(120_000);

type Fields = Record<string, unknown>;

const item = (kind: string, fields: object) => event(`response.output_item.${kind}`, fields);
/** How a gateway tells items apart, and what it leaves out. */
const manner = fc
	.record({
		numbers: fc.constantFrom('right', 'zero', 'none'),
		ids: fc.constantFrom('kept', 'changing', 'none'),
		/** Whether the events of items come mixed. */
		mixed: fc.boolean(),
		added: fc.boolean(),
		/** Whether the arguments stand whole in `added`, and again in the deltas. */
		wholeInAdded: fc.boolean(),
		/** What the ends of texts and items say. */
		ends: fc.constantFrom('all', 'nothing', 'no content'),
		final: fc.constantFrom('all', 'nothing', 'no output', 'no content'),
	} as const)
	.map((given) => ({
		...given,
		// Mixed events of items that neither a number nor an ID tells apart are told apart by nothing.
		mixed: given.mixed && (given.numbers === 'right' || given.ids === 'kept'),
		added: given.added || given.ids === 'changing',
	}));
type Manner = typeof manner extends fc.Arbitrary<infer M> ? M : never;

const words = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 });
const part = fc.oneof(
	words.map((said) => ({ type: 'output_text', text: said })),
	words.map((said) => ({ type: 'refusal', refusal: said })),
);
const anyItem: fc.Arbitrary<Fields> = fc.oneof(
	fc
		.array(part, { minLength: 1, maxLength: 3 })
		.map((content) => ({ type: 'message', role: 'assistant', content })),
	fc.array(words, { maxLength: 2 }).map((texts) => ({
		type: 'reasoning',
		summary: texts.map((said) => ({ type: 'summary_text', text: said })),
	})),
	fc.dictionary(words, fc.oneof(fc.integer(), words), { maxKeys: 3 }).map((given) => ({
		type: 'function_call',
		name: 'look',
		arguments: JSON.stringify(given),
	})),
	words.map((said) => ({ type: 'custom_tool_call', name: 'shell', input: said })),
);

/** A text in pieces. */
const cut = (whole: string, size: number) => whole.match(new RegExp(`[^]{1,${size}}`, 'gu')) ?? [];

const TEXT_EVENTS: Record<string, [event: string, field: string, index?: string]> = {
	output_text: ['output_text', 'text', 'content_index'],
	refusal: ['refusal', 'refusal', 'content_index'],
	summary_text: ['reasoning_summary_text', 'text', 'summary_index'],
	function_call: ['function_call_arguments', 'arguments'],
	custom_tool_call: ['custom_tool_call_input', 'input'],
};

const without = (fields: Fields, names: string[]) =>
	Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)));

const EMPTY: Fields = { content: [], summary: [], arguments: '', input: '' };

const isCall = ({ type }: Fields) => String(type).endsWith('_call');

/** The item with less in it. */
function lessened(given: Fields, how: Manner['ends'] | Manner['final']): Fields {
	if (how === 'all') return given;
	if (how === 'no content') return without(given, Object.keys(EMPTY));
	const fields = Object.entries(given).map(([name, value]) => [name, EMPTY[name] ?? value]);
	return Object.fromEntries(fields) as Fields;
}

/** The events of one item. */
function eventsOf(given: Fields, index: number, how: Manner, size: number): string[] {
	const numbers = { right: { output_index: index }, zero: { output_index: 0 }, none: {} };
	const number = numbers[how.numbers];
	let events = 0;
	const named = (name: string) =>
		'id' in given && { [name]: how.ids === 'changing' ? `other_${index}_${events++}` : given.id };
	const begun = lessened(given, isCall(given) && how.wholeInAdded ? 'all' : 'nothing');
	const texts = (given.content ?? given.summary ?? [given]) as Fields[];
	return [
		...(how.added ? [item('added', { ...number, item: { ...begun, ...named('id') } })] : []),
		...texts.flatMap((one, at) => {
			const [name, field, indexName] = TEXT_EVENTS[one.type as string]!;
			const said = one[field] as string;
			const of = (kind: string, more: object | false) =>
				event(`response.${name}.${kind}`, {
					...{ ...number, ...named('item_id'), ...(indexName && { [indexName]: at }), ...more },
				});
			const end = how.ends !== 'no content' && { [field]: how.ends === 'all' ? said : '' };
			return [...cut(said, size).map((delta) => of('delta', { delta })), of('done', end)];
		}),
		item('done', { ...number, item: { ...lessened(given, how.ends), ...named('id') } }),
	];
}

/** The events of all items: one item after the other, or mixed. */
function mix(lists: string[][], { mixed, numbers }: Manner, picks: number[]): string[] {
	if (!mixed) return lists.flat();
	const rests = lists.map((list) => [...list]);
	const all: string[] = [];
	for (let turn = 0; rests.some((rest) => rest.length > 0); turn++) {
		// Without numbers the items begin in their order.
		const untouched = rests.findIndex((rest, index) => rest.length === lists[index]!.length);
		const most = numbers === 'right' || untouched < 0 ? rests.length : untouched + 1;
		const open = rests.slice(0, most).filter((rest) => rest.length > 0);
		all.push(open[(picks[turn % picks.length] ?? 0) % open.length]!.shift()!);
	}
	return all;
}

test('a stream comes to the same as the answer without streaming, however its items are told', async () => {
	await fc.assert(
		fc.asyncProperty(
			fc.array(anyItem, { maxLength: 5 }),
			manner,
			fc.record({ size: fc.integer({ min: 1, max: 8 }), chunk: fc.integer({ min: 1, max: 400 }) }),
			fc.array(fc.nat(), { minLength: 1, maxLength: 20 }),
			async (given, how, { size, chunk }, picks) => {
				const items = given.map(
					(one, n): Fields => ({
						...{ ...one, ...(how.ids !== 'none' && { id: `i_${n}` }) },
						...(isCall(one) && { call_id: `c_${n}` }),
					}),
				);
				const lists = items.map((one, index) => eventsOf(one, index, how, size));
				const bare = items.map((one) => lessened(one, 'no content'));
				const outputs = { nothing: [], 'no output': undefined, all: items, 'no content': bare };
				const output = outputs[how.final];
				const stream = mix(lists, how, picks).join('') + completed({ output });
				const streamed = await outcome([...inChunks(bytes(stream), chunk)]);
				const answer = reply(200, { id: 'r1', status: 'completed', output: items });
				const plain = await succeed([answer], creating);
				const ids = how.ids === 'changing' ? ['id'] : [];
				// No summary is as good as an empty one.
				const kept = (all: unknown) =>
					(all as Fields[]).map((one) => ({ summary: [], ...without(one, ids) }));
				expect(kept(streamed.json.output)).toEqual(kept(plain.value.json.output));
			},
		),
		{ numRuns: 1000 },
	);
});
