import { faultKind, header, TransportFault } from '../../../nodes/shared/api/http/transport';

const AT_CONNECT = 'EHOSTUNREACH ENETUNREACH EADDRNOTAVAIL EHOSTDOWN ENETDOWN EACCES'.split(' ');

/** What each code says of a request, whatever failed by it. */
const CODES: Array<[ReturnType<typeof faultKind>, codes: string]> = [
	['unreached', 'ECONNREFUSED ENOTFOUND EAI_AGAIN EAI_NODATA EAI_NONAME ERR_INVALID_URL'],
	['unreached', 'UND_ERR_CONNECT_TIMEOUT'],
	['timeout', 'ECONNABORTED ETIMEDOUT ESOCKETTIMEDOUT UND_ERR_HEADERS_TIMEOUT'],
	['certificate', 'CERT_HAS_EXPIRED DEPTH_ZERO_SELF_SIGNED_CERT SELF_SIGNED_CERT_IN_CHAIN'],
	['certificate', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE UNABLE_TO_GET_ISSUER_CERT_LOCALLY'],
	['certificate', 'ERR_TLS_CERT_ALTNAME_INVALID HOSTNAME_MISMATCH CRL_HAS_EXPIRED'],
	['tls', 'EPROTO ERR_TLS_X ERR_SSL_ALERT_HANDSHAKE_FAILURES ERR_SSL_ALERT_BAD_CERTIFICATE_X'],
	['clientCertificate', 'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED'],
	['clientCertificate', 'ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE ERR_SSL_TLSV1_ALERT_UNKNOWN_CA'],
	['handshake', 'ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE'],
	['lost', 'ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC ERR_SSL_X_BAD_RECORD_MAC'],
	['lost', 'ECONNRESET EPIPE UND_ERR_SOCKET XERR_SSL_ALERT_HANDSHAKE_FAILURE'],
	// Unknown: of what may have been executed nothing is sent again.
	['lost', 'ESOMETHINGNEW econnrefused XCERT_ EPROTONOSUPPORT XERR_SSL_ALERT_UNKNOWN_CA'],
];

test.each(CODES)('a request that fails is %s by %s', (kind, codes) => {
	for (const code of codes.split(' ')) expect([code, faultKind(code)]).toEqual([code, kind]);
});

test.each(AT_CONNECT)('%s: unreached while connecting, else lost: it may be sent', (code) => {
	const calls = ['connect', 'getaddrinfo', 'queryAaaa', 'read', 'reconnect', 'connecting', 'query'];
	const kinds = [...calls, undefined].map((call) => faultKind(code, call));
	expect(kinds).toEqual([...Array<string>(3).fill('unreached'), ...Array<string>(5).fill('lost')]);
});

test('a request that fails without a code is lost; a fault is named by its code, else by its kind', () => {
	expect([faultKind(''), faultKind(undefined)]).toEqual(['lost', 'lost']);
	const fault = new TransportFault('lost', 'ECONNRESET');
	expect([fault.name, fault.message]).toEqual(['TransportFault', 'ECONNRESET']);
	expect(new TransportFault('lost').message).toBe('lost');
});

test('of a header that came several times the first counts', () => {
	const headers = { one: 'a', many: ['b', 'c'], none: [], gone: undefined };
	const read = ['one', 'many', 'none', 'gone', 'absent'].map((name) => header(headers, name));
	expect(read).toEqual(['a', 'b', undefined, undefined, undefined]);
});
