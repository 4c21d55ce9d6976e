import { API_SITES, CALL_SITES, type CallSite } from '../test/faults/call-sites';
import { failureAt, sitesOf, type Failure, type Row } from '../test/faults/expected';
import { MATRIX } from '../test/faults/answers';
import { STATUSES } from '../test/faults/statuses';
import { TASK_END_ROWS } from '../test/faults/task-ends';

/** Longest text that a cell holds. */
const LONGEST = 160;

/** The page of all faults and what comes of them, in the form that Prettier gives it. */
export function faultsDocument(): string {
	const groups = [...new Set(MATRIX.map(({ group }) => group))];
	return [
		'# What comes of which fault',
		'`npm run docs:faults` writes this page from the table that the tests in `test/faults` run over real sockets. Each fault is tried at one request for each way to read or to retry. One fault for each row of the retry table is tried at every request, under each choice of On Error.',
		'## What the gateway’s statuses mean',
		table(
			['Status', 'What happened', 'What to do'],
			STATUSES.map(({ status, title, advice }) => [
				String(status),
				title,
				advice.map((each) => (typeof each === 'string' ? each : each.text)).join(' '),
			]),
		),
		'An error leaves out a sentence about an option that its operation does not have. It shows the gateway’s own words on one line, without control characters, and cut off after 500 characters. It names a web page and does not show it. The API key stands in no error.',
		'## How to read the tables',
		'**Sent** is how often the request is sent with Max Retries at 3 and Max Wait at 100 s. The column **Waits** has the seconds between, with the longest jitter. `{task}` and `{host}` stand for the task’s ID and the storage host. If a request that costs money may have been executed, the error says so. It names where to look before the request is sent again. From the accepted task on, every error carries the task’s ID.',
		...groups.flatMap((group) => [`## ${group}`, groupTable(group)]),
		'## Image tasks that end without an image',
		'The gateway accepted the submit of Image → Generate, and the task ended in this way: [docs/gateway.md](../docs/gateway.md#ends-of-tasks).',
		table(
			['End', 'Submits', 'Outcome'],
			TASK_END_ROWS.map(({ end, submits, message }) => [end, String(submits), shortened(message)]),
		),
	]
		.join('\n\n')
		.concat('\n');
}

const groupTable = (group: string) =>
	table(
		['Fault', 'Request', 'Sent', 'Waits', 'Outcome'],
		MATRIX.filter((row) => row.group === group).flatMap((row) =>
			alike(row).map(([outcome, sites], at) => [
				at === 0 ? row.name : '',
				namesOf(sites),
				...outcome,
			]),
		),
	);

/** How often the request is sent, the waits between, and what comes of it. */
function outcomeOf(callSite: CallSite, what: Failure | 'right'): string[] {
	if (what === 'right') return ['1', '', 'the right output'];
	const { sent, waits, message } = failureAt(callSite, what);
	return [String(sent), waits.join(', '), shortened(message)];
}

/** The call sites of a row, those with the same outcome together. */
function alike(row: Row): Array<[outcome: string[], sites: CallSite[]]> {
	const found = new Map<string, [string[], CallSite[]]>();
	for (const [callSite, what] of sitesOf(row)) {
		const outcome = outcomeOf(callSite, what);
		const [, sites] = found.get(outcome.join('|')) ?? [];
		if (sites) sites.push(callSite);
		else found.set(outcome.join('|'), [outcome, [callSite]]);
	}
	return [...found.values()];
}

function namesOf(sites: CallSite[]): string {
	if (API_SITES.every((callSite) => sites.includes(callSite))) {
		return sites.includes('download') ? 'all' : 'all but downloads';
	}
	return sites.map((callSite) => CALL_SITES[callSite].name).join(', ');
}

const shortened = (text: string) =>
	text.length > LONGEST ? `${text.slice(0, LONGEST - 1).trimEnd()}…` : text;

/** A table of Markdown, its columns as wide as Prettier makes them. */
function table(head: string[], rows: string[][]): string {
	const cells = [head, ...rows].map((row) => row.map(escaped));
	const widths = head.map((_title, column) =>
		Math.max(3, ...cells.map((row) => widthOf(row[column] ?? ''))),
	);
	const line = (row: string[], fill = ' ') =>
		`| ${widths.map((width, column) => padded(row[column] ?? '', width, fill)).join(' | ')} |`;
	const [titles = [], ...others] = cells;
	return [line(titles), line([], '-'), ...others.map((row) => line(row))].join('\n');
}

/** How wide a text is shown: Chinese characters take two columns. */
const widthOf = (text: string) => text.length + (text.match(/[\u2e80-\uffdc]/g)?.length ?? 0);

const padded = (text: string, width: number, fill: string) =>
	text + fill.repeat(width - widthOf(text));

/** Text as Markdown shows it unchanged. */
const escaped = (text: string) => text.replace(/[\\|<`]/g, (sign) => `\\${sign}`);
