import { EVERY_CONTROL } from '../../nodes/shared/client/advice';
import {
	storeBinaryInMemory,
	storeBinaryOnDisk,
	type BinaryStorage,
} from '../../scripts/engine/index';
import { MATRIX, type Expectation, type Row } from './matrix';
import { ALL_PLACES, factsOf, type Place } from './places';
import { Range, type Mode, type Outcome } from './range';

/** Milliseconds that a row may take: 50 MB, eight times, on a machine with other work to do. */
const LONGEST_ROW_MS = 120_000;

/** Tests that let each fault of the groups meet each of its places, in each way to go on. */
export function walkGroups(wanted: (group: string) => boolean) {
	const groups = [...new Set(MATRIX.map(({ group }) => group))].filter(wanted);
	const own = MATRIX.filter(({ group }) => wanted(group));
	let disk: BinaryStorage;
	let range: Range;
	/** One for each place, for faults that are waited for in real time: side by side. */
	const ranges = new Map<Place, Range>();
	beforeAll(async () => {
		disk = await storeBinaryOnDisk();
		range = await Range.open();
		if (!own.some(({ hurry }) => hurry)) return;
		for (const place of ALL_PLACES) ranges.set(place, await Range.open({ withTls: false }));
	});
	afterAll(async () => {
		for (const each of [range, ...ranges.values()]) await each.close();
		await disk.remove();
		await storeBinaryInMemory();
	});

	describe.each(groups)('%s', (group) => {
		const rows = own.filter((row) => row.group === group);
		test.each(rows.map((row): [string, Row] => [row.name, row]))(
			'%s',
			async (_name, row) => {
				const walk = row.hurry ? sideBySide : oneByOne;
				const met = placesOf(row);
				let before: Outcome[] = [];
				for (const mode of row.modes) {
					const outcomes = await walk(row, met, mode, before);
					const actual = met.map(([place, expectation], index) => [
						`${place}, ${mode}`,
						judged(place, outcomes[index]!, expectation),
					]);
					const wanted = met.map(([place, expectation]) => [
						`${place}, ${mode}`,
						rightly(expectation),
					]);
					expect(Object.fromEntries(actual)).toEqual(Object.fromEntries(wanted));
					if (before.length === 0) before = outcomes;
				}
			},
			LONGEST_ROW_MS,
		);
	});

	test('certificates that are not accepted let no byte through', () => {
		expect(range.receivedByImpostors).toBe(0);
	});

	test('prototype keys changed no object', () => {
		expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
	});

	async function oneByOne(row: Row, met: Met[], mode: Mode, before: Outcome[]) {
		const outcomes: Outcome[] = [];
		for (const [index, [place]] of met.entries()) {
			const again = before[index]?.recording;
			outcomes.push(await range.attack({ ...row, place, mode, again }));
		}
		return outcomes;
	}

	async function sideBySide(row: Row, met: Met[], mode: Mode, before: Outcome[]) {
		return await Promise.all(
			met.map(async ([place], index) => {
				const again = before[index]?.recording;
				return await ranges.get(place)!.attack({ ...row, place, mode, again });
			}),
		);
	}
}

type Met = [place: Place, expectation: Expectation];

const placesOf = ({ expected }: Row): Met[] =>
	ALL_PLACES.flatMap((place): Met[] => {
		const expectation = expected[place];
		return 'because' in expectation ? [] : [[place, expectation]];
	});

/** What {@link judged} says of an outcome that is as expected. */
const rightly = ({ requests, waits, message, details }: Expectation) => ({
	requests,
	waits,
	message,
	details,
	amiss: [],
	notAdvised: [],
	wronglyAdvised: [],
	unreadable: [],
});

/** An outcome beside what is amiss with its texts. */
function judged(
	place: Place,
	{ requests, waits, message, description, details, amiss }: Outcome,
	{ advice, absent }: Expectation,
) {
	const { advice: given, ...others } = details ?? {};
	const said = [typeof given === 'string' ? given : '', description].filter(
		(text) => text !== undefined,
	);
	const texts = [message ?? '', ...said];
	return {
		requests,
		waits,
		message: message
			?.replace(/(is not JSON: )\{"(id|object)":".*/, '$1{cut}')
			.replace(/\(\d+ bytes/, '({size} bytes'),
		details: details && others,
		amiss,
		notAdvised: [
			...advice.filter((sentence) => !said.every((text) => text.includes(sentence))),
			...(message !== undefined && said.includes('') ? ['anything'] : []),
		],
		wronglyAdvised: [
			...absent.filter((sentence) => said.some((text) => text.includes(sentence))),
			...controlsNamed(said).filter((name) => !factsOf(place).controls.includes(name as never)),
		],
		// eslint-disable-next-line no-control-regex
		unreadable: texts.filter((text) => text.length > 2000 || /[\u0000-\u001f\u007f<]/.test(text)),
	};
}

/** The fields and options that texts tell their reader to set. */
const controlsNamed = (texts: string[]) =>
	[...EVERY_CONTROL].filter((name) =>
		texts.some((text) => new RegExp(`(?<!Idle )${name} option|(option|on) ${name}\\b`).test(text)),
	);
