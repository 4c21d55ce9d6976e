import path from 'node:path';
import { failureFromFault, MAYBE_EXECUTED_ADVICE } from '../../nodes/shared/api/errors/from-reply';
import { STATUS_TABLE } from '../../nodes/shared/api/errors/status-table';
import { RETRY_TABLE } from '../../nodes/shared/api/http/retry';
import { TransportFault, type FaultKind } from '../../nodes/shared/api/http/transport';
import { filesBelow, project } from './built';
import { PAGES, read, rows, section, type Row } from './pages';

const ERRORS = 'docs/errors.md';

const filesIn = async (folder: string) =>
	(await filesBelow(path.join(project, folder))).map((file) => `${folder}/${file}`);

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
	expect(said.map((row) => row['The advice begins with'])).toEqual([
		MAYBE_EXECUTED_ADVICE.response,
		MAYBE_EXECUTED_ADVICE.image,
	]);
});

test('each error that a page quotes is found in the sources, apart from what is filled in', async () => {
	const files = [...(await filesIn('nodes')), ...(await filesIn('credentials'))];
	const source = files
		.filter((file) => file.endsWith('.ts'))
		.map(read)
		.join('\n');
	const quoted = PAGES.flatMap((page) => rows(read(page))).flatMap(
		(row) => row['The error says'] ?? [],
	);
	expect(quoted.length).toBeGreaterThan(40);
	const texts = quoted
		.flatMap((text) => text.split('…'))
		.filter((piece) => /\w{2}/.test(piece))
		.map((piece) => piece.trim().replace(/^[:,] | \(HTTP$|:$/g, ''));
	expect(texts.filter((text) => !source.includes(text))).toEqual([]);
});

test('each fault of the network is there', () => {
	const kinds: FaultKind[] = [
		'unreached',
		'timeout',
		'lost',
		'certificate',
		'clientCertificate',
		'handshake',
		'tls',
		'blocked',
	];
	const said = rows(section(ERRORS, 'Network')).map((row) => row['The error says']);
	for (const kind of kinds) {
		const failure = failureFromFault(new TransportFault(kind), 'Timeout');
		expect(said).toContain(failure.toError({ advice: '', retryable: false }).message);
	}
});

test('the README has the retry table, row by row', () => {
	const words = {
		bounded: 'up to Max Retries',
		ifAsked: 'if the gateway says when',
		once: 'once more',
		queued: 'in the queue',
		never: 'never',
	};
	expect(rows(section('README.md', 'What is sent again, and what never'))).toEqual(
		RETRY_TABLE.map(
			({ read: polls, response, image }) =>
				expect.objectContaining({
					'Lists and polls': words[polls],
					'Response → Create, Chat Model': words[response],
					'Image → Generate, Edit': words[image],
				}) as Row,
		),
	);
});
