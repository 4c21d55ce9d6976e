import * as faults from '../../gateway/faults/catalogue';
import { ALL_SITES, type CallSite } from './call-sites';
import { at, fails, rowsFor, type Expected, type Failure, type Row } from './expected';
import { MODES, type BadAddress } from './harness';
import { noImage, REQUEST, STORAGE_FAULT } from './statuses';

/** A call site for each way to read: a body as a whole (for free, and for money), a stream, a file. */
const READERS: CallSite[] = ['models', 'generate', 'stream', 'download'];

const right = at(READERS, 'right');

type Outcome = Failure | 'right';

/** The readers of a whole body, the reader of streams, and that of files. */
const read = (body: Outcome, stream: Outcome, file: Outcome): Expected => ({
	...at(['models', 'generate'], body),
	stream,
	download: file,
});

const LOST = 'The connection to the gateway was lost before its answer arrived';

const CHECK_NETWORK = ['Check the network and the proxies between n8n and the gateway.'];

const lost = (code: string) => fails('doubt', `${LOST} (${code})`, CHECK_NETWORK);

const lostFile = (code?: string) =>
	fails('doubt', `the connection was lost${code ? ` (${code})` : ''}`, [STORAGE_FAULT]);

const lostAtOnce = (code: string) => read(lost(code), lost(code), lostFile(code));

/** A stream that broke off, and what of it had arrived. */
const broken = (message: string, advice: string[], details: Record<string, unknown> = {}) =>
	fails('doubt', message, advice, { details });

const lostInStream = (details?: Record<string, unknown>, code = 'ECONNRESET') =>
	broken(`The connection was lost in the middle of the answer (${code})`, CHECK_NETWORK, details);

const endedEarly = (details?: Record<string, unknown>) =>
	broken('The answer ended before it was complete', [], details);

const SILENT = 'Nothing arrived for 60 s in the middle of the answer';
const RAISE_IDLE = ['Raise the Idle Timeout option if the model pauses for longer.'];

const silentStream = (details?: Record<string, unknown>) => broken(SILENT, RAISE_IDLE, details);

const HALF = { partial_text: 'You' };

const lostInBody = (stream: Outcome) =>
	read(lost('ERR_BAD_RESPONSE'), stream, lostFile('ECONNRESET'));

const PART = 'only a part of the png file arrived ({size} bytes, without its end)';
const TURN_OFF = 'turn Download Images off and use an HTTP Request node.';
const halfAnImage = fails('doubt', PART, [STORAGE_FAULT, TURN_OFF]);

const NOT_A_GATEWAY = ['The address may not belong to a gateway with the Model Access API.'];
const OK = { details: { http_status: 200 } };
const notJson = fails('unusable', 'The gateway’s answer is not JSON: {cut}', NOT_A_GATEWAY, OK);

/** A body that ends in its middle as if it were whole. A task's ID stands in `Location` as well. */
const cutOff = (details?: Record<string, unknown>): Expected => ({
	models: notJson,
	generate: 'right',
	stream: endedEarly(details),
	download: halfAnImage,
});

const timedOut = (option: string) =>
	fails('doubt', 'The gateway did not answer in time (ECONNABORTED)', [
		'The gateway, or a proxy in front of it, may be overloaded.',
		{ ifOption: option, text: `Raise the ${option} option if the request needs longer.` },
	]);

const NO_TIME = ['The time limit left no time for another attempt.', STORAGE_FAULT];

/** Two tries fit into the two minutes of a download. */
const silentFile = fails('doubt', 'nothing arrived for 60 s', NO_TIME, { sent: 2, waits: [61] });

const RAISE_TIMEOUT = ['Raise the Timeout option if answers take longer.'];
const tooSlow = broken('The answer was not complete within 300 s', RAISE_TIMEOUT);

const connectionRows = rowsFor('Connections', faults.CONNECTION_FAULTS, {
	'closed before the request was handled': lostAtOnce('ECONNRESET'),
	'closed before the reply': at(['response', 'edit', 'wait'], lost('ECONNRESET')),
	'half a header, then closed': lostAtOnce('ECONNRESET'),
	'headers, then closed': lostInBody(lostInStream()),
	'half a body, then closed': lostInBody(lostInStream(HALF)),
	// As HTTP has it such a reply is whole. An image's file tells that it is not.
	'half a body without a Content-Length': cutOff(HALF),
	'half a body in chunks, then closed': lostInBody(lostInStream(HALF)),
	'a whole reply, then closed': right,
	// A stream is over when its last event is here.
	'Content-Length is too large': lostInBody('right'),
	'Content-Length is too small': read(lost('HPE_INVALID_CONSTANT'), endedEarly(HALF), halfAnImage),
	// A submit that takes so long leaves no time for its task.
	'a reply of one byte a second': { models: 'right', stream: tooSlow, download: 'right' },
	'no HTTP at all': lostAtOnce('HPE_INVALID_CONSTANT'),
});

const silent = (stream: Failure) => read(timedOut('Timeout'), stream, silentFile);

const NEVER = 'never an answer';

const silentRows = rowsFor('Connections', faults.SILENT_FAULTS, {
	[NEVER]: silent(timedOut('Timeout')),
	'headers, then silence': silent(silentStream()),
	'half a body, then silence': silent(silentStream(HALF)),
}).map((row): Row => ({ ...row, timeouts: row.name === NEVER ? 'all' : 'wholeBodies' }));

const address = (name: string, where: BadAddress, api: Outcome, file: Outcome): Row => ({
	name,
	group: 'Addresses and certificates',
	address: where,
	modes: ['throw'],
	expected: read(api, api, file),
});

/** A gateway and a storage host with which no TLS handshake succeeds. */
const tls = (
	[name, where, code]: [name: string, where: BadAddress, code: string],
	gateway: string,
	advice: string,
	storage: string,
) =>
	address(
		name,
		where,
		fails('refused', `The gateway${gateway} (${code})`, [advice]),
		fails('refused', `${storage} (${code})`, ['Ask the gateway’s operator.']),
	);

const certificate = (name: string, where: BadAddress, code: string) =>
	tls(
		[`a certificate ${name}`, where, code],
		'’s TLS certificate is not accepted',
		'Check the host in the Base URL: the gateway needs a valid certificate for it. The nodes always verify it, to protect the API key.',
		'its TLS certificate is not accepted',
	);

const ASKED = 'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED';
const HANDSHAKE = 'ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE';

const UNREACHED = fails('unreached', 'The gateway cannot be reached (ECONNREFUSED)', [
	'Check the Base URL of the credential, that the gateway is running, and that this machine may connect to it.',
]);

const CHECK_MACHINE = ['Check that this machine may connect to it.'];
const NO_HOST = 'the host cannot be reached (ECONNREFUSED)';
const UNREACHED_FILE = fails('unreached', NO_HOST, CHECK_MACHINE);

const addressRows: Row[] = [
	{
		...address('connection refused', 'refused', UNREACHED, UNREACHED_FILE),
		modes: MODES,
		expected: { ...at(ALL_SITES, UNREACHED), download: UNREACHED_FILE },
	},
	certificate('that is self-signed', 'self-signed', 'DEPTH_ZERO_SELF_SIGNED_CERT'),
	certificate('that is expired', 'expired', 'CERT_HAS_EXPIRED'),
	certificate('for another host', 'another host', 'ERR_TLS_CERT_ALTNAME_INVALID'),
	tls(
		['a client certificate that is missing', 'asks a client', ASKED],
		' asks for a client certificate',
		'These nodes cannot send one. Ask the gateway’s operator',
		'it asks for a client certificate',
	),
	tls(
		['a client certificate that is missing in TLS 1.2', 'asks a client by TLS 1.2', HANDSHAKE],
		' refuses the TLS handshake',
		'It may require a client certificate, which these nodes cannot send',
		'it refuses the TLS handshake',
	),
	address('a certificate as it should be', 'trusted', 'right', 'right'),
];

const Z = 'Z_DATA_ERROR';
const undecodable = read(lost(Z), lostInStream({}, Z), lostFile(Z));

const headerRows = rowsFor('Headers and encodings', faults.HEADER_FAULTS, {
	gzip: right,
	'gzip that is broken': undecodable,
	'gzip that is none': undecodable,
	'gzip that is cut off': cutOff(),
	'an unknown encoding': right,
	'the content type of a web page': right,
	'the content type of a file': right,
	'each header twice': right,
	'no headers': right,
	'a byte order mark': read('right', 'right', noImage('something else')),
});

const FAILED = 'The model’s response failed (gpu_on_fire): the model went away';

const BEGUN = { ...REQUEST, partial_text: 'You said:' };

const ON_FIRE = { ...BEGUN, code: 'gpu_on_fire' };

const STREAMS: Record<string, Outcome> = {
	'a stream that stalls': silentStream(BEGUN),
	'a stream that stalls before its first event': silentStream(REQUEST),
	'a stream that breaks': lostInStream(BEGUN),
	'a stream that ends early': endedEarly(BEGUN),
	'a stream without events': endedEarly(REQUEST),
	'a stream of [DONE] alone': endedEarly(REQUEST),
	// All items are done: an answer that is called incomplete.
	'a stream that ends in the middle of its last event': 'right',
	'a stream that says it failed': broken(FAILED, [], { ...ON_FIRE, type: 'server_error' }),
	'a stream with an error event': broken(FAILED, [], ON_FIRE),
	'JSON instead of a stream': 'right',
	'a stream with garbage between its events': 'right',
	'a stream that is sent twice': 'right',
	'a stream in pieces of one byte': 'right',
	'a stream with Windows line ends': 'right',
};

const ofStreams = Object.entries(STREAMS).map(([name, stream]) => [name, { stream }] as const);
const streamRows = rowsFor('Streams', faults.STREAM_FAULTS, Object.fromEntries(ofStreams));

const otherRows = [...addressRows, ...headerRows, ...streamRows];
export const NETWORK_ROWS: Row[] = [...connectionRows, ...silentRows, ...otherRows];
