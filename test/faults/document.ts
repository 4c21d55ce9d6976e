import { adviceFor, EVERY_CONTROL } from '../../nodes/shared/client/advice';
import { CONTRACT_STATUSES } from '../../gateway/faults/catalogue';
import { MATRIX, type Expectation, type Impossible, type Row } from './matrix';
import { ALL_PLACES, API_PLACES, PLACES, type Place } from './places';
import { STATUS_WORDS } from './words';

/** Longest text that a cell holds. */
const LONGEST = 160;

/** The page of all faults and what comes of them, in the form that Prettier gives it. */
export function faultsDocument(): string {
	const groups = [...new Set(MATRIX.map(({ group }) => group))];
	return (
		[
			'# What comes of which fault',
			'This page is made by `npm run docs:faults` from the table that the tests walk (`test/faults/matrix.ts`): each line is tried over real sockets where the node stops at an error, and with the same outcome where it goes on, and where it goes on at its error output; the tests fail where this page says something else.',
			'## What the gateway’s statuses mean',
			table(
				['Status', 'What happened', 'What to do'],
				CONTRACT_STATUSES.map((status) => {
					const { title, advice } = STATUS_WORDS[status]!;
					return [String(status), title, adviceFor(advice, EVERY_CONTROL)];
				}),
			),
			'A sentence about an option is left out where the operation has no such option. An error shows the gateway’s own words behind what happened, on one line, without control characters, and cut off after 500 characters. A web page is named, not shown. The API key is taken out wherever it stands.',
			'## How to read the tables',
			'**Sent** is how often the request goes out, with Max Retries at 3; **Waits** is what lies between, in seconds, chance at its longest. `{task}`, `{host}` and `{end}` stand for the task’s ID, the storage host and the end of the link. A download belongs to Image → Generate, Image → Edit, Task → Get and Task → Wait alike. Where a request that costs money may have been carried out, the error says so and tells where to look before it is sent again; once a task is accepted, every error carries its ID.',
			...groups.flatMap((group) => [`## ${group}`, groupTable(group)]),
			'',
		]
			.join('\n\n')
			.trimEnd() + '\n'
	);
}

function groupTable(group: string): string {
	const rows = MATRIX.filter((row) => row.group === group);
	return table(
		['Fault', 'Request', 'Sent', 'Waits', 'Outcome'],
		rows.flatMap((row) =>
			alike(row).map(({ places, expectation }, index) => [
				index === 0 ? row.name : '',
				placesOf(places),
				...outcomeOf(expectation),
			]),
		),
	);
}

interface Alike {
	places: Place[];
	expectation: Expectation | Impossible;
}

/** How often it is sent, the waits between, and what comes of it. */
function outcomeOf(expectation: Expectation | Impossible): [string, string, string] {
	if ('because' in expectation) return ['', '', `cannot happen: ${expectation.because}`];
	const { requests, waits, message } = expectation;
	const outcome = message === undefined ? 'the right output' : quoted(message);
	return [String(requests), waits.join(', '), outcome];
}

/** The places of a row, those with the same outcome together. */
function alike({ expected }: Row): Alike[] {
	const found = new Map<string, Alike>();
	for (const place of ALL_PLACES) {
		const expectation = expected[place];
		const key = JSON.stringify(outcomeOf(expectation));
		const known = found.get(key);
		if (known) known.places.push(place);
		else found.set(key, { places: [place], expectation });
	}
	return [...found.values()];
}

function placesOf(places: Place[]): string {
	if (places.length === ALL_PLACES.length) return 'all';
	if (API_PLACES.length > 2 && API_PLACES.every((place) => places.includes(place))) {
		return 'all but downloads';
	}
	return ALL_PLACES.filter((place) => places.includes(place))
		.map((place) => PLACES[place].name)
		.join(', ');
}

const quoted = (text: string) =>
	text.length > LONGEST ? `${text.slice(0, LONGEST - 1).trimEnd()}…` : text;

/** A table of Markdown, its columns as wide as Prettier makes them. */
function table(head: string[], rows: string[][]): string {
	const cells = [head, ...rows].map((row) => row.map(escaped));
	const widths = head.map((_title, column) =>
		Math.max(3, ...cells.map((row) => row[column]?.length ?? 0)),
	);
	const line = (row: string[], fill = ' ') =>
		`| ${widths.map((width, column) => (row[column] ?? '').padEnd(width, fill)).join(' | ')} |`;
	const [titles = [], ...others] = cells;
	return [line(titles), line([], '-'), ...others.map((row) => line(row))].join('\n');
}

/** Text as Markdown shows it unchanged. */
const escaped = (text: string) => text.replace(/[\\|<`]/g, (sign) => `\\${sign}`);
