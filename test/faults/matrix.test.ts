import { storeBinaryInMemory, storeBinaryOnDisk, type BinaryStorage } from '../support/engine';
import { MATRIX, type Expectation, type Row } from './matrix';
import type { Place } from './places';
import { Range, type Mode, type Outcome } from './range';

let disk: BinaryStorage;
let range: Range;
beforeAll(async () => {
	disk = await storeBinaryOnDisk();
	range = await Range.open();
});
afterAll(async () => {
	await range.close();
	await disk.remove();
	await storeBinaryInMemory();
});

const CONTINUED: Mode[] = ['continueRegularOutput', 'continueErrorOutput'];

describe.each([...new Set(MATRIX.map(({ group }) => group))])('%s', (group) => {
	const rows = MATRIX.filter((row) => row.group === group);

	test.each(rows.map((row): [string, Row] => [row.name, row]))('%s', async (_name, row) => {
		await walk(row, 'throw');
	});

	const sample = rows.filter(({ modes }) => modes).map((row): [string, Row] => [row.name, row]);
	if (sample.length > 0) {
		test.each(sample)('%s, under Continue and with the error output', async (_name, row) => {
			for (const mode of CONTINUED) await walk(row, mode);
		});
	}
});

test('certificates that are not accepted let no byte through', () => {
	expect(range.receivedByImpostors).toBe(0);
});

test('prototype keys changed no object', () => {
	expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
});

/** Lets the fault of a row meet each of its places. */
async function walk({ expected, ...row }: Row, mode: Mode) {
	const actual: Record<string, unknown> = {};
	const wanted: Record<string, unknown> = {};
	for (const [place, expectation] of Object.entries(expected) as Array<[Place, Expectation]>) {
		const outcome = await range.attack({ place, mode, ...row });
		actual[place] = judged(outcome, expectation);
		wanted[place] = {
			requests: expectation.requests,
			waits: expectation.waits,
			message: expectation.message,
			details: expectation.details,
			...IN_ORDER,
		};
	}
	expect(actual).toEqual(wanted);
}

const IN_ORDER = { notAdvised: [], wronglyAdvised: [], unreadable: [] };

/** An outcome beside what is amiss with its texts. */
function judged(
	{ requests, waits, message, description, details }: Outcome,
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
		message: message?.replace(/(is not JSON: )\{"(id|object)":".*/, '$1{cut}'),
		details: details && others,
		notAdvised: advice.filter((sentence) => !said.every((text) => text.includes(sentence))),
		wronglyAdvised: absent.filter((sentence) => said.some((text) => text.includes(sentence))),
		// eslint-disable-next-line no-control-regex
		unreadable: texts.filter((text) => text.length > 2000 || /[\u0000-\u001f\u007f<]/.test(text)),
	};
}
