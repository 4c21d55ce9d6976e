import * as engine from '../../scripts/engine/index';
import { optionNamesAt, type CallSite } from './call-sites';
import { adviceAt, failureAt, sitesOf, type Failure, type Row } from './expected';
import { openFaultHarness, type FaultHarness, type Mode, type Seen } from './harness';

export function runRows(rows: Row[]) {
	let disk: engine.BinaryStorage;
	let harness: FaultHarness;
	beforeAll(async () => {
		disk = await engine.storeBinaryOnDisk();
		harness = await openFaultHarness();
	});
	afterAll(async () => {
		await harness.close();
		await disk.remove();
		await engine.storeBinaryInMemory();
	});

	const groups = [...new Set(rows.map(({ group }) => group))];
	describe.each(groups)('%s', (group) => {
		const own = rows.filter((row) => row.group === group);
		test.each(own.map((row): [string, Row] => [row.name, row]))('%s', async (_name, row) => {
			const actual: Record<string, unknown> = {};
			const expected: Record<string, unknown> = {};
			for (const mode of row.modes) {
				for (const [callSite, what] of sitesOf(row)) {
					const name = `${callSite}, ${mode}`;
					actual[name] = seen(callSite, await harness.run(row, callSite, mode), what);
					expected[name] = wanted(callSite, what, mode);
				}
			}
			expect(actual).toEqual(expected);
		});
	});

	test('a server with which the handshake fails gets no byte', () => {
		expect(harness.receivedByImpostors()).toBe(0);
	});
}

/** What {@link seen} is where all is as expected. */
function wanted(callSite: CallSite, what: Failure | 'right', mode: Mode) {
	const right = { missing: [], wronglySaid: [], unreadable: [] };
	if (what === 'right') return { ...right, sent: 1, waits: [] };
	const goesToErrorOutput = mode === 'continueErrorOutput';
	const place = { items: mode === 'throw' ? 0 : 1, of: 0, goesToErrorOutput, isReplaced: false };
	return { ...right, ...failureAt(callSite, what), place };
}

/** What came of a run, beside what is wrong with its texts. */
function seen(callSite: CallSite, { description, details, ...run }: Seen, what: Failure | 'right') {
	const { advice, ...others } = details ?? {};
	const texts = [advice, description].filter((text) => typeof text === 'string');
	const { said, unsaid } = what === 'right' ? { said: [], unsaid: [] } : adviceAt(callSite, what);
	return {
		...run,
		...(details && { details: others }),
		missing: [
			...said.filter((sentence) => !texts.every((text) => text.includes(sentence))),
			...(run.message !== undefined && texts.includes('') ? ['any advice'] : []),
		],
		wronglySaid: [
			...unsaid.filter((sentence) => texts.some((text) => text.includes(sentence))),
			...texts.flatMap(optionsNamed).filter((name) => !optionNamesAt(callSite).has(name)),
		],
		unreadable: [run.message ?? '', ...texts].filter(
			// eslint-disable-next-line no-control-regex
			(text) => text.length > 2000 || /[\u0000-\u001f\u007f<]/.test(text),
		),
	};
}

/** The options that a text tells its reader to set: "the Idle Timeout option", "turn on Stream". */
const optionsNamed = (text: string) =>
	[
		...text.matchAll(
			/\b(?:the ((?:[A-Z]\w+ ?)+) option|(?:the option|[Tt]urn on) ((?:[A-Z]\w+ ?)+))/g,
		),
	].map(([, before, after]) => (before ?? after ?? '').trim());
