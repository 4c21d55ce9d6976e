import { adviseOn } from '../../nodes/shared/api/errors/evidence';
import { FINDINGS, type ErrorSource } from '../../nodes/shared/api/errors/findings';
import { failureFromFault, MAYBE_EXECUTED_ADVICE } from '../../nodes/shared/api/errors/from-reply';
import { readErrorFields } from '../../nodes/shared/api/errors/gateway-error';
import { STATUS_TABLE } from '../../nodes/shared/api/errors/status-table';
import { RETRY_TABLE } from '../../nodes/shared/api/http/retry';
import { TransportFault, type FaultKind } from '../../nodes/shared/api/http/transport';
import { fromFault } from '../../nodes/shared/api/images/download-failure';
import { filesBelow } from './built';
import { PAGES, read, rows, section } from './pages';

const ERRORS = 'docs/errors.md';

const FAULT_KINDS: FaultKind[] = [
	...(['unreached', 'timeout', 'lost', 'blocked'] as const),
	...(['certificate', 'clientCertificate', 'handshake', 'tls'] as const),
];

const scriptsIn = async (folder: string) =>
	(await filesBelow(folder)).filter((file) => file.endsWith('.ts'));

test('each status is there, with what the error begins with', () => {
	expect(rows(section(ERRORS, 'Statuses'))).toEqual(
		Object.entries(STATUS_TABLE).map(([status, { title }]) => ({
			Status: status,
			'The error begins with': title,
			'What to do': expect.stringMatching(/\w{3}.*\.$/) as string,
		})),
	);
});

test('what an error says if something may be charged is there', () => {
	const said = rows(section(ERRORS, 'What an error tells you'));
	const { response, image } = MAYBE_EXECUTED_ADVICE;
	expect(said.map((row) => row['The advice begins with'])).toEqual([response, image]);
});

test('each error that a page quotes is found in the sources, apart from what is filled in', async () => {
	const files = [...(await scriptsIn('nodes')), ...(await scriptsIn('credentials'))];
	const source = files.map(read).join('\n');
	const quoted = PAGES.flatMap((page) =>
		rows(read(page)).flatMap((row) => row['The error says'] || []),
	);
	expect(quoted.length).toBeGreaterThan(40);
	const texts = quoted
		.flatMap((text) => text.split('…'))
		.filter((piece) => /\w{2}/.test(piece))
		.map((piece) => piece.trim().replace(/^[:,] | \(HTTP$|:$/g, ''));
	expect(texts.filter((text) => !source.includes(text))).toEqual([]);
});

test('each fault of the network and of a download is there', () => {
	const said = (place: string) => rows(section(ERRORS, place)).map((row) => row['The error says']);
	const more = { advice: '', retryable: false };
	for (const fault of FAULT_KINDS.map((kind) => new TransportFault(kind))) {
		expect(said('Network')).toContain(failureFromFault(fault, 'Timeout').toError(more).message);
		expect(said('Downloads')).toContain(fromFault(fault).message);
	}
});

test('the README has the retry table, row by row', () => {
	const words = {
		...{ bounded: 'up to Max Retries', ifAsked: 'if the gateway says when' },
		...{ once: 'once more', queued: 'in the queue', never: 'never' },
	};
	const said = rows(section('README.md', 'What is sent again, and what never'));
	const columns = ['Lists and polls', 'Response → Create, Chat Model', 'Image → Generate, Edit'];
	expect(said.map((row) => columns.map((column) => row[column]))).toEqual(
		RETRY_TABLE.map(({ read, response, image }) => [words[read], words[response], words[image]]),
	);
});

const PLACES: ErrorSource[] = ['modelList', 'response', 'imageSubmit', 'taskPoll', 'failedTask'];
const STATUSES = [400, 401, 403, 404, 429, 500, 503];

/** What the nodes make of a code (`like_this`) or of words ("like this") of a page. */
function findingsOf(example: string) {
	const text = example.slice(1, -1);
	const said = example.startsWith('`')
		? { code: text }
		: (readErrorFields({ error: { message: text } }) as { message?: string });
	return PLACES.flatMap((place) =>
		STATUSES.map((status) => adviseOn({ ...said, status, source: place })),
	);
}

test('each reason that the nodes tell apart is there, with codes or words that they know', () => {
	const told = new Set<string>();
	const reasons = rows(section(ERRORS, "The gateway's reasons"));
	for (const row of reasons) {
		for (const [example] of (row['Codes and words, such as'] ?? '').matchAll(/`[^`]+`|"[^"]+"/g)) {
			const kinds = [...new Set(findingsOf(example).flatMap(({ kind }) => kind ?? []))];
			expect([row.Reason, example, kinds]).toEqual([row.Reason, example, [expect.anything()]]);
			told.add(kinds[0]!);
		}
	}
	const known = [...FINDINGS.map(({ kind }) => kind), 'providerKey'];
	expect([...told].sort()).toEqual([...new Set(known)].sort());
	// A reason with a title of its own stands there by that title.
	const titles = FINDINGS.flatMap(({ title }) => title ?? []);
	const statuses = Object.values(STATUS_TABLE).map(({ title }) => title);
	expect([...reasons.map((row) => row.Reason), ...statuses]).toEqual(
		expect.arrayContaining(titles),
	);
});

/** What a reader finds an error by: the first three words or more without a gap, else the longest. */
function telling(text: string): string {
	const pieces = text.split(/\$\{[^}]*\}|[.:()]/).map((piece) => piece.trim());
	const isPhrase = (piece: string) => piece.split(' ').length > 2;
	return pieces.find(isPhrase) ?? pieces.sort((a, b) => b.length - a.length)[0]!;
}

test('each error that the nodes make is there', async () => {
	// Errors of "Your own fields" begin with the name of the field.
	const made = /new (?!Validation|NodeOperation)\w*(?:Error|Failure)\(\s*(['`])(.*?)\1/g;
	const source = (await scriptsIn('nodes')).map(read).join('\n');
	const texts = [...source.matchAll(made)].map(([, , text]) => telling(text!));
	const told = texts.filter((text) => /\w{3,}/.test(text));
	expect(told.length).toBeGreaterThan(20);
	expect(told.filter((text) => !read(ERRORS).includes(text))).toEqual([]);
});
