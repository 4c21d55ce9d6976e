import { findNotApplied } from '../../../nodes/shared/api/responses/not-applied';

const answer = { id: 'resp_1', status: 'completed', output: [] };
const find = (body: object, used: object) =>
	findNotApplied({ input: 'Hi', ...body }, { ...answer, ...used });

describe('Options that an answer contradicts', () => {
	const META = { metadata: { a: 'b' } };
	const [LOW, MEDIUM] = ['low', 'medium'].map((effort) => ({ reasoning: { effort } }));
	const [PARALLEL, ONE_BY_ONE] = [true, false].map((on) => ({ parallel_tool_calls: on }));
	const [FLEX, DEFAULT] = ['flex', 'default'].map((tier) => ({ service_tier: tier }));
	const [BOTH, NEITHER] = [
		{ top_p: 1, store: true },
		{ top_p: 0.5, store: false },
	];
	const [SHORT, LONG] = [9, null].map((most) => ({ max_output_tokens: most }));

	test.each([
		[{ temperature: 0 }, { temperature: 1 }, 'Temperature (asked 0, used 1)'],
		[SHORT, LONG, 'Max Output Tokens (asked 9, used none)'],
		[BOTH, NEITHER, 'Top P (asked 1, used 0.5), Store (asked on, used off)'],
		[META, { metadata: {} }, 'Metadata (asked {"a":"b"}, used none)'],
		[META, { metadata: null }, 'Metadata (asked {"a":"b"}, used none)'],
		[ONE_BY_ONE, PARALLEL, 'Parallel Tool Calls (asked off, used on)'],
		[LOW, MEDIUM, 'Reasoning Effort (asked low, used medium)'],
		[FLEX, DEFAULT, 'Service Tier (asked flex, used default)'],
	])('are told: %j against %j', (body, used, told) => {
		expect(find(body!, used!)).toEqual([`The gateway did not apply: ${told}.`]);
	});

	test.each<[string, object, object]>([
		['is the same', { temperature: 0.1 }, { temperature: 0.10000000149 }],
		['was not asked for', {}, { temperature: 1, store: false, metadata: {} }],
		['is not named', { temperature: 0.2, store: true, ...LOW }, {}],
		['is null', { temperature: 0.2, ...LOW }, { temperature: null, reasoning: { effort: null } }],
		['is left to the gateway', { service_tier: 'auto' }, { service_tier: 'default' }],
		['has more', META, { metadata: { a: 'b', c: 'd' } }],
	])('are not told where the value %s', (_name, body, used) => {
		expect(find(body, used)).toEqual([]);
	});
});

describe('Files', () => {
	const file = { type: 'input_file', file_data: 'data:application/pdf;base64,AA==' };
	const asked = (text: string, ...files: object[]) => ({
		input: [{ role: 'user', content: [{ type: 'input_text', text }, ...files] }],
	});
	const counted = (input_tokens?: number) => ({ usage: { input_tokens } });

	test.each<[string, object, number]>([
		['the file', asked('What is it?', file), 9],
		['the files', asked('What is it?', file, file), 150],
		['the file', asked('x'.repeat(4000), file), 1099],
		['the file', { instructions: 'x'.repeat(4000), ...asked('', file) }, 1099],
		['the file', { input: [{ type: 'function_call_output', output: [file] }] }, 99],
	])('may not have reached the model: %s', (name, body, tokens) => {
		expect(find(body, counted(tokens))).toEqual([
			`The gateway counted ${tokens.toLocaleString('en-US')} input tokens: ${name} may not have reached the model.`,
		]);
	});

	test.each<[string, object, number | undefined]>([
		['with tokens enough', asked('x'.repeat(4000), file), 1100],
		['with no tokens counted', asked('Hi', file), undefined],
		['without a file', asked('What is it?'), 1],
	])('are not told %s', (_name, body, tokens) => {
		expect(find(body, counted(tokens))).toEqual([]);
	});
});

test.each<[object, isTold: boolean]>([
	[{}, true],
	[{ previous_response_id: null }, true],
	[{ previous_response_id: 'resp_0' }, false],
])('A previous response that the answer names as %j is told: %p', (used, isTold) => {
	const told = find({ previous_response_id: 'resp_0' }, used).join();
	expect(told.includes('does not name the previous')).toBe(isTold);
});
