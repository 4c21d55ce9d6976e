/** Header names in lower case. A header that came several times may be a list. */
export type Headers = Record<string, string | string[] | undefined>;

/** A request of one of the contract's endpoints. */
export interface GatewayRequest {
	method: 'GET' | 'POST';
	/** Path behind the base address, such as `/models`. */
	path: string;
	/** An object is sent as JSON, a form as multipart. */
	body?: Record<string, unknown> | FormData;
	/** Headers beside those that the transport sets. */
	headers?: Record<string, string>;
	/** Milliseconds until the whole reply has to be here. */
	timeoutMs: number;
}

/** A reply of any status, its body read to the end and not interpreted. */
export interface GatewayReply {
	status: number;
	headers: Headers;
	body: string;
	/** The request ID that the client had sent. */
	sentId?: string;
}

/** A reply of any status whose headers are here, and its body on the way. */
export interface OpenReply {
	status: number;
	headers: Headers;
	/** The request ID that the client had sent. */
	sentId?: string;
	/** The body as it comes. @throws {TransportFault} the connection failed */
	chunks: AsyncIterable<Uint8Array>;
	/** Reads the body to the end. @throws {TransportFault} */
	whole(): Promise<GatewayReply>;
	/** Ends the connection, whether the body was read or not. */
	close(): void;
}

/**
 * Sends HTTP requests for the client. It adds the base address and the key, follows no redirect,
 * sends exactly once, and resolves for every status.
 */
export interface Transport {
	/**
	 * @throws {TransportFault} no reply came
	 * @throws {RequestAborted} the request was canceled
	 */
	send(request: GatewayRequest): Promise<GatewayReply>;
	/**
	 * The same, as soon as the headers are here, where its time-out ends.
	 * @throws {TransportFault} no reply came
	 * @throws {RequestAborted} the request was canceled
	 */
	open(request: GatewayRequest): Promise<OpenReply>;
}

/** How far a request got that has no reply. */
export type FaultKind =
	/** Nothing can have reached the gateway: refused connection, unknown host, no route. */
	| 'unreached'
	/** No answer within the time allowed; it may have been executed. */
	| 'timeout'
	/** The connection ended after the request may have been sent. */
	| 'lost'
	/** The other side's certificate was not accepted. */
	| 'certificate'
	/** The other side accepts no connection without a certificate of the client, or another one. */
	| 'clientCertificate'
	/** The other side ended the handshake without saying why. */
	| 'handshake'
	/** The other side does not speak TLS, or not this one. */
	| 'tls'
	/** The host's own policy forbade the address. */
	| 'blocked';

/** No reply: what the transport throws. `detail` is free of secrets. */
export class TransportFault extends Error {
	constructor(
		readonly kind: FaultKind,
		/** The code that names the fault, such as `ECONNREFUSED`. */
		readonly code?: string,
		readonly detail?: string,
	) {
		super(code ?? kind);
		this.name = 'TransportFault';
	}
}

/** System calls before anything is sent: the look-up of the host, and the connection. */
const BEFORE_SENDING = /^(connect|getaddrinfo|query[A-Z]\w*)$/;

const UNREACHED = [
	'ECONNREFUSED',
	'ENOTFOUND',
	'EAI_AGAIN',
	'EAI_NODATA',
	'EAI_NONAME',
	'ERR_INVALID_URL',
	'ERR_SOCKET_CONNECTION_TIMEOUT',
	'UND_ERR_CONNECT_TIMEOUT',
];
const TIMEOUT = ['ECONNABORTED', 'ETIMEDOUT', 'ESOCKETTIMEDOUT', 'UND_ERR_HEADERS_TIMEOUT'];
const CERTIFICATE =
	/^(CERT_|ERR_TLS_CERT|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|HOSTNAME_MISMATCH|CRL_)/;

/**
 * OpenSSL's codes for the alerts by which a server refuses the client's certificate, or asks for one.
 * Newer versions write a slash in them.
 */
const CLIENT_CERTIFICATE =
	/^ERR_SSL_[\w/]*ALERT_(NO_CERTIFICATE|BAD_CERTIFICATE|UNSUPPORTED_CERTIFICATE|CERTIFICATE_\w+|UNKNOWN_CA)$/;
const HANDSHAKE = /^ERR_SSL_[\w/]*ALERT_HANDSHAKE_FAILURE$/;
/** These come after the handshake too, when the request was sent. */
const BROKEN_RECORD = /^ERR_SSL_\w*(BAD_RECORD_MAC|DECRYPT)/;
const TLS = /^(EPROTO$|ERR_SSL_|ERR_TLS_)/;

const KINDS: Array<[RegExp, FaultKind]> = [
	[CERTIFICATE, 'certificate'],
	[CLIENT_CERTIFICATE, 'clientCertificate'],
	[HANDSHAKE, 'handshake'],
	[BROKEN_RECORD, 'lost'],
	[TLS, 'tls'],
];

/**
 * What a system's or HTTP library's error code says about the request. An unknown code counts as
 * lost: of what may have been executed, nothing is sent again.
 * @param syscall the system call that failed, such as `connect`
 */
export function faultKind(code: string | undefined, syscall?: string): FaultKind {
	if (BEFORE_SENDING.test(syscall ?? '')) return 'unreached';
	if (code === undefined) return 'lost';
	if (UNREACHED.includes(code)) return 'unreached';
	if (TIMEOUT.includes(code)) return 'timeout';
	return KINDS.find(([pattern]) => pattern.test(code))?.[1] ?? 'lost';
}

/** The first value of a header, or undefined. */
export function header(headers: Headers, name: string): string | undefined {
	const value = headers[name];
	return Array.isArray(value) ? value[0] : value;
}
