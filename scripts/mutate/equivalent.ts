/** A mutant that no test can tell from the code. */
export interface EquivalentMutant {
	/** As in `files.ts`. */
	file: string;
	/** The line of the code on which the mutant begins, trimmed. */
	line: string;
	/** The replaced code and its replacement, with all white space as single spaces. */
	original: string;
	replacement: string;
	/** Why the behavior is the same. */
	reason: string;
}

/** These mutants do not count in the score. */
export const EQUIVALENT: EquivalentMutant[] = [
	...inFile('nodes/shared/api/credential/base-url', [
		{
			line: String.raw`const [, schemes = '', rest = ''] = /^((?:[a-z][a-z0-9+.-]*:\/\/)*)(.*)$/i.exec(text) ?? [];`,
			changes: [
				["''", '"Stryker was here!"'],
				['[]', '["Stryker was here"]'],
				[
					String.raw`/^((?:[a-z][a-z0-9+.-]*:\/\/)*)(.*)$/i`,
					String.raw`/^((?:[a-z][a-z0-9+.-]*:\/\/)*)(.*)/i`,
				],
				[
					String.raw`/^((?:[a-z][a-z0-9+.-]*:\/\/)*)(.*)$/i`,
					String.raw`/((?:[a-z][a-z0-9+.-]*:\/\/)*)(.*)$/i`,
				],
			],
			reason: 'The pattern matches every text without line breaks from its start to its end.',
		},
		{
			line: "const authority = rest.split('/')[0] ?? '';",
			changes: [["''", '"Stryker was here!"']],
			reason: 'split() gives one text at least.',
		},
		{
			line: String.raw`/^127(\.\d{1,3}){3}$/.test(hostname)`,
			changes: [[String.raw`/^127(\.\d{1,3}){3}$/`, String.raw`/127(\.\d{1,3}){3}$/`]],
			reason: 'URL refuses a host that ends in a number and is no IPv4 address.',
		},
		{
			line: String.raw`const isIpv4 = /^\d+(\.\d+){3}$/.test(hostname);`,
			changes: [[String.raw`/^\d+(\.\d+){3}$/`, String.raw`/\d+(\.\d+){3}$/`]],
			reason: 'URL refuses a host that ends in a number and is no IPv4 address.',
		},
		{
			line: String.raw`: authority.replace(/:\d*$/, '') !== '';`,
			changes: [[String.raw`/:\d*$/`, String.raw`/:\d*/`]],
			reason: 'Only a text that is a port from its start to its end becomes empty by either.',
		},
		{
			line: String.raw`return isIpv4 && authority.replace(/:\d*$/, '').replace(/\.$/, '') !== hostname;`,
			changes: [[String.raw`/:\d*$/`, String.raw`/:\d*/`]],
			reason: 'The authority of an IPv4 address has one colon at most.',
		},
	]),
	...inFile('nodes/shared/api/credential/private-host', [
		{
			line: String.raw`return /^\d+(\.\d+){3}$/.test(hostname) ? hostname.split('.').map(Number) : undefined;`,
			changes: [[String.raw`/^\d+(\.\d+){3}$/`, String.raw`/\d+(\.\d+){3}$/`]],
			reason: 'URL refuses a host that ends in a number and is no IPv4 address.',
		},
		{
			line: String.raw`const PRIVATE_IPV6 = /^\[f[cd][0-9a-f]{2}:/;`,
			changes: [[String.raw`/^\[f[cd][0-9a-f]{2}:/`, String.raw`/\[f[cd][0-9a-f]{2}:/`]],
			reason: 'A host has one bracket of each kind at most, at its ends.',
		},
		{
			line: String.raw`const MAPPED_IPV4 = /^\[::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})\]$/;`,
			changes: [
				[
					String.raw`/^\[::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})\]$/`,
					String.raw`/\[::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})\]$/`,
				],
				[
					String.raw`/^\[::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})\]$/`,
					String.raw`/^\[::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})\]/`,
				],
			],
			reason: 'A host has one bracket of each kind at most, at its ends.',
		},
	]),
	...inFile('nodes/shared/api/credential/api-key', [
		{
			line: "const bare = unquoted.text.replace(/^bearer\\s+/i, '').trim();",
			changes: [
				[
					"unquoted.text.replace(/^bearer\\s+/i, '').trim()",
					"unquoted.text.replace(/^bearer\\s+/i, '')",
				],
				['/^bearer\\s+/i', '/^bearer\\s/i'],
			],
			reason:
				'The text is trimmed before, so the pattern and trim() each take off all white space.',
		},
		{
			line: "if (key === '') return (text) => text;",
			changes: [
				["key === ''", 'false'],
				["''", '"Stryker was here!"'],
			],
			reason: 'No form of an empty key is long enough to be taken out.',
		},
		{
			line: '(form, index, all) => form.length > 3 && all.indexOf(form) === index,',
			changes: [['all.indexOf(form) === index', 'true']],
			reason: 'What is taken out once is not found a second time.',
		},
	]),
	...inFile('nodes/shared/api/http/retry-after', [
		{
			line: "if (value === undefined || value === '' || value.length > LONGEST) return undefined;",
			changes: [
				["value === ''", 'false'],
				["''", '"Stryker was here!"'],
			],
			reason: 'An empty text is neither a number nor a date.',
		},
		{
			line: "const date = (header(headers, 'date') ?? '').slice(0, LONGEST).trim();",
			changes: [["''", '"Stryker was here!"']],
			reason: 'Neither text is a date.',
		},
	]),
	...inFile('nodes/shared/api/images/task-id', [
		{
			line: '} catch {',
			changes: [['{ return undefined; }', '{}']],
			reason: 'A function without return gives undefined too.',
		},
	]),
	...inFile('nodes/shared/api/errors/error-body', [
		{
			line: 'if (code !== undefined && code !== null) return !ALL_IS_WELL.test(String(code));',
			changes: [['code !== null', 'true']],
			reason: 'A code that is null is read as none.',
		},
		{
			line: 'const row = text !== undefined && STATUSES.find(([pattern]) => pattern.test(text));',
			changes: [['text !== undefined', 'true']],
			reason: 'No pattern is found in "undefined".',
		},
	]),
	...inFile('nodes/shared/api/http/transport', [
		{
			line: "if (BEFORE_SENDING.test(syscall ?? '')) return 'unreached';",
			changes: [["''", '"Stryker was here!"']],
			reason: 'Neither text is a system call.',
		},
		{
			line: "if (code === undefined) return 'lost';",
			changes: [['code === undefined', 'false']],
			reason: 'No pattern is found in "undefined".',
		},
		{
			line: String.raw`const BROKEN_RECORD = /^ERR_SSL_\w*(BAD_RECORD_MAC|DECRYPT)/;`,
			changes: [
				[
					String.raw`/^ERR_SSL_\w*(BAD_RECORD_MAC|DECRYPT)/`,
					String.raw`/ERR_SSL_\w*(BAD_RECORD_MAC|DECRYPT)/`,
				],
			],
			reason: 'What begins in another way is lost as well.',
		},
	]),
	...inFile('nodes/shared/api/responses/reply-reader', [
		{
			line: "if (body !== '') yield body;",
			changes: [["body !== ''", 'true']],
			reason: 'An empty piece adds nothing.',
		},
		{
			line: "const isText = (pieces: readonly string[]) => (pieces.at(-1) ?? '').trimStart() !== '';",
			changes: [["(pieces.at(-1) ?? '').trimStart()", "(pieces.at(-1) ?? '').trimEnd()"]],
			reason: 'Both are empty only if all is white space.',
		},
		{
			line: "const contentType = header(this.reply.headers, 'content-type') ?? '';",
			changes: [["''", '"Stryker was here!"']],
			reason: 'Neither text names a type.',
		},
		{
			line: 'if (status === undefined || !NOTHING_MADE.includes(status)) return undefined;',
			changes: [['status === undefined', 'false']],
			reason: 'The list does not have undefined.',
		},
	]),
	...inFile('nodes/shared/api/images/task', [
		{
			line: String.raw`const word = task.status.toLowerCase().replace(/[\s_-]+/g, '');`,
			changes: [[String.raw`/[\s_-]+/g`, String.raw`/[\s_-]/g`]],
			reason: 'It replaces all of them, one by one or together.',
		},
		{
			line: 'return Boolean(image_url) || (result?.data ?? []).some(({ url }) => Boolean(url));',
			changes: [['[]', '["Stryker was here"]']],
			reason: 'A text has no url.',
		},
		{
			line: "return checked.success ? checked.data : { status: 'processing' };",
			changes: [
				["{ status: 'processing' }", '{}'],
				["'processing'", '""'],
			],
			reason:
				'Its callers give it a status, and the schema takes every other field as none if it does not fit.',
		},
	]),
	...inFile('nodes/shared/api/images/poll-task', [
		{
			line: "finding === 'path' && code === undefined && type === undefined;",
			changes: [
				['code === undefined', 'true'],
				['type === undefined', 'true'],
			],
			reason: 'A body that another server sends has neither.',
		},
		{
			line: 'if (error instanceof InvalidResponseError) return { error, mayRetry: true };',
			changes: [['true', 'false']],
			reason: 'The caller decides.',
		},
	]),
	...inFile('nodes/shared/api/images/submit-task', [
		{
			line: "const named = parseTaskPath(header(reply.headers, 'location') ?? '');",
			changes: [["''", '"Stryker was here!"']],
			reason: 'Neither text is the path of a task.',
		},
		{
			line: "return parseTaskPath(Object.values(holder ?? {}).find(isAddress) ?? '');",
			changes: [["''", '"Stryker was here!"']],
			reason: 'Neither text is the path of a task.',
		},
	]),
	...inFile('nodes/shared/api/images/download', [
		{
			line: 'return /^https?:$/.test(parsed.protocol) ? parsed : undefined;',
			changes: [['/^https?:$/', '/^https?:/']],
			reason: 'The protocol of a URL has one colon, at its end.',
		},
	]),
	...inFile('nodes/shared/api/images/download-failure', [
		{
			line: "const contentType = header(headers, 'content-type') ?? '';",
			changes: [["''", '"Stryker was here!"']],
			reason: 'Neither text names a type.',
		},
	]),
	...inFile('nodes/shared/api/errors/status-table', [
		{
			line: 'if (status < 400) {',
			changes: [['status < 400', 'status <= 400']],
			reason: 'The status 400 has a row of its own.',
		},
		{
			line: 'if (status < 500) {',
			changes: [['status < 500', 'status <= 500']],
			reason: 'The status 500 has a row of its own.',
		},
	]),
	...inFile('nodes/shared/api/images/task-images', [
		{
			line: 'const entries = (task.result?.data ?? []).filter(({ url }) => url);',
			changes: [['[]', '["Stryker was here"]']],
			reason: 'A text has no url.',
		},
	]),
	...inFile('nodes/shared/api/responses/streamed-items', [
		{
			line: 'while (waiting[0] && order.indexOf(waiting[0]) < place) output.push(waiting.shift()!.build());',
			changes: [['order.indexOf(waiting[0]) < place', 'order.indexOf(waiting[0]) <= place']],
			reason: 'The place is that of another item.',
		},
		{
			line: 'if (match) takeBefore(order.indexOf(match));',
			changes: [['match', 'true']],
			reason: 'What is not in the list has the place -1, and nothing stands before it.',
		},
		{
			line: 'if (index !== undefined) this.byIndex.set(index, item);',
			changes: [['index !== undefined', 'true']],
			reason: 'Nothing is looked up without a number.',
		},
	]),
	...inFile('nodes/shared/api/responses/tool-arguments', [
		{
			line: 'return parsed === undefined ? withoutEmptyObjects(given) : given;',
			changes: [['parsed === undefined', 'true']],
			reason: 'No JSON begins by two objects. It would be read twice.',
		},
	]),
	...inFile('nodes/shared/api/responses/chat-completion', [
		{
			line: '...[...readList(calls), ...(call ? [{ function: call }] : [])]',
			changes: [['[]', '["Stryker was here"]']],
			reason: 'A text is no call: nothing is read of it.',
		},
		{
			line: "return isText(name) ? [{ kind: 'arguments', item_id, item }, piece] : [piece];",
			changes: [["'arguments'", '""']],
			reason: 'The kind of an event that begins an item is not read.',
		},
	]),
	...inFile('nodes/shared/api/images/differences', [
		{
			line: "const asked = typeof request.n === 'number' ? request.n : 1;",
			changes: [["typeof request.n === 'number'", 'true']],
			reason: 'No number is less than undefined, and a task without images is an error before.',
		},
		{
			line: "const came = getTaskImages('', task).length;",
			changes: [["''", '"Stryker was here!"']],
			reason: 'The ID is for an error about a task without images, which comes before.',
		},
		{
			line: "const format = String(request.output_format ?? '').toLowerCase();",
			changes: [["''", '"Stryker was here!"']],
			reason: 'Neither text names a format.',
		},
		{
			line: String.raw`typeof value === 'string' && /^\d+x\d+$/.test(value);`,
			changes: [["typeof value === 'string'", 'true']],
			reason: '"undefined" is no size.',
		},
	]),
	...inFile('nodes/shared/api/errors/from-reply', [
		{
			line: String.raw`/\bhtml\b/i.test(header(reply.headers, 'content-type') ?? '') ||`,
			changes: [["''", '"Stryker was here!"']],
			reason: 'Neither text names HTML.',
		},
	]),
	...inFile('nodes/shared/api/errors/sanitize', [
		{
			line: String.raw`const paragraphs = new Set(read.split(/[\r\n]+/).map((paragraph) => paragraph.trim()));`,
			changes: [[String.raw`/[\r\n]+/`, String.raw`/[\r\n]/`]],
			reason: 'An empty paragraph more becomes a space that is removed afterwards.',
		},
		{
			line: String.raw`const words = text.split(/\s+/).filter(Boolean);`,
			changes: [
				[String.raw`/\s+/`, String.raw`/\s/`],
				[String.raw`text.split(/\s+/).filter(Boolean)`, String.raw`text.split(/\s+/)`],
			],
			reason: 'Paragraphs have no space at their ends, and empty words are left out.',
		},
		{
			line: String.raw`.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]+/g, ' ')`,
			changes: [
				[
					String.raw`/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]+/g`,
					String.raw`/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g`,
				],
			],
			reason: 'Several spaces become one afterwards.',
		},
	]),
	...inFile('nodes/shared/api/responses/response-stream', [
		{
			line: 'const close = () => reply.close();',
			changes: [['() => reply.close()', '() => undefined']],
			reason: 'The reading ends by the same signal, and the connection is closed then too.',
		},
		{
			line: "watch.signal.addEventListener('abort', close, { once: true });",
			changes: [
				["'abort'", '""'],
				['{ once: true }', '{}'],
				['true', 'false'],
			],
			reason: 'The reading ends by the same signal, and the connection is closed then too.',
		},
	]),
	...inFile('nodes/shared/api/responses/stream-errors', [
		{
			line: "if (watch.expired === 'idle') return silent(client, watch);",
			changes: [
				["watch.expired === 'idle'", 'false'],
				["'idle'", '""'],
			],
			reason:
				'The error is that of the time-out then, and isSilent says the same on the next line.',
		},
	]),
	...inFile('nodes/shared/api/responses/structured-output', [
		{
			line: '} catch {',
			changes: [
				[
					'{ // A reference that leads nowhere, or a pattern that is none: the answer is not at fault. return undefined; }',
					'{}',
				],
			],
			reason: 'A function without return gives undefined too.',
		},
		{
			line: "if (/draft-04/.test($schema ?? '')) return '4';",
			changes: [["''", '"Stryker was here!"']],
			reason: 'Neither text names a draft.',
		},
		{
			line: "return /draft-0[67]/.test($schema ?? '') ? '7' : '2020-12';",
			changes: [["''", '"Stryker was here!"']],
			reason: 'Neither text names a draft.',
		},
		{
			line: "return /draft-0[67]/.test($schema ?? '') ? '7' : '2020-12';",
			changes: [["'2020-12'", '""']],
			reason: 'The library knows the drafts 4 and 7, and takes every other name for a later one.',
		},
	]),
	...inFile('nodes/shared/api/responses/growing-text', [
		{
			line: 'if (this.pieces.length >= PIECES_AT_ONCE) this.join();',
			changes: [
				['this.pieces.length >= PIECES_AT_ONCE', 'true'],
				['this.pieces.length >= PIECES_AT_ONCE', 'false'],
				['this.pieces.length >= PIECES_AT_ONCE', 'this.pieces.length > PIECES_AT_ONCE'],
				['this.pieces.length >= PIECES_AT_ONCE', 'this.pieces.length < PIECES_AT_ONCE'],
			],
			reason: 'When pieces are joined is a matter of memory and time.',
		},
	]),
	...inFile('nodes/shared/n8n/http/transport-fault', [
		{
			line: 'const chain: Cause[] = [];',
			changes: [['[]', '["Stryker was here"]']],
			reason: 'A text has no fields.',
		},
		{
			line: 'const each = Array.isArray(errors) ? (errors as unknown[]) : [];',
			changes: [['[]', '["Stryker was here"]']],
			reason: 'A text is no error of an address.',
		},
		{
			line: "const getText = (value: unknown) => (typeof value === 'string' ? value : undefined);",
			changes: [["typeof value === 'string'", 'true']],
			reason: 'No pattern is found in what is no text.',
		},
	]),
	...inFile('nodes/shared/api/responses/response-accumulator', [
		{
			line: "const handler = ResponseAccumulator.HANDLERS.get(getKind(event, fields) ?? '');",
			changes: [["''", '"Stryker was here!"']],
			reason: 'Neither text is a kind of event.',
		},
		{
			line: "return { kind: 'response', response };",
			changes: [["'response'", '""']],
			reason: 'The reader looks for the kind "error" alone.',
		},
	]),
	...inFile('nodes/shared/n8n/runner/run-items', [
		{
			line: "this.executionCancel?.addEventListener('abort', this.cancel, { once: true });",
			changes: [
				['{ once: true }', '{}'],
				['true', 'false'],
			],
			reason: 'A signal is aborted once.',
		},
		{
			line: 'const item = { stop: () => stopping.abort(), cancel: () => canceling.abort() };',
			changes: [['() => canceling.abort()', '() => undefined']],
			reason: 'n8n ends a request under way by the same signal. This one names the reason.',
		},
		{
			line: 'this.active.forEach(({ cancel }) => cancel());',
			changes: [['({ cancel }) => cancel()', '() => undefined']],
			reason: 'n8n ends a request under way by the same signal. This one names the reason.',
		},
		{
			line: 'const forget = () => void this.active.delete(item);',
			changes: [['() => void this.active.delete(item)', '() => undefined']],
			reason: 'The signals of an item that is done have nothing left to end. They take memory.',
		},
		...['if (end.hasCome) return [];', 'return [];'].map(
			(line): Line => ({
				line,
				changes: [['[]', '["Stryker was here"]']],
				reason: 'A run that ends early ends in an error, and hands on nothing.',
			}),
		),
	]),
	...inFile('nodes/shared/api/http/retry', [
		{
			line: "return status > 500 ? 'inDoubt' : 'refused';",
			changes: [['status > 500', 'status >= 500']],
			reason: 'The status 500 has a case of its own.',
		},
		...[
			"{ outcome: 'internalError', read: 'once', response: 'once', image: 'never', executed: 'maybe' },",
			"{ outcome: 'inDoubt', read: 'bounded', response: 'never', image: 'never', executed: 'maybe' },",
		].map(
			(line): Line => ({
				line,
				changes: [["'never'", '""']],
				reason: 'What may have been executed is sent again by a rule that is known only.',
			}),
		),
	]),
];

interface Line extends Pick<EquivalentMutant, 'line' | 'reason'> {
	changes: Array<[original: string, replacement: string]>;
}

function inFile(file: string, lines: Line[]): EquivalentMutant[] {
	return lines.flatMap(({ line, changes, reason }) =>
		changes.map(([original, replacement]) => ({ file, line, original, replacement, reason })),
	);
}
