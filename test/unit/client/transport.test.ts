import { faultKind, header, TransportFault } from '../../../nodes/shared/client/transport';

describe('what an error code says about a request', () => {
	test.each([
		['ECONNREFUSED', 'unreached'],
		['ENOTFOUND', 'unreached'],
		['EAI_AGAIN', 'unreached'],
		['UND_ERR_CONNECT_TIMEOUT', 'unreached'],
		['ECONNABORTED', 'timeout'],
		['ETIMEDOUT', 'timeout'],
		['ESOCKETTIMEDOUT', 'timeout'],
		['CERT_HAS_EXPIRED', 'certificate'],
		['DEPTH_ZERO_SELF_SIGNED_CERT', 'certificate'],
		['SELF_SIGNED_CERT_IN_CHAIN', 'certificate'],
		['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'certificate'],
		['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'certificate'],
		['ERR_TLS_CERT_ALTNAME_INVALID', 'certificate'],
		['EPROTO', 'tls'],
		['ERR_CANCELED', 'cancelled'],
		['ECONNRESET', 'lost'],
		['EPIPE', 'lost'],
		['UND_ERR_SOCKET', 'lost'],
	])('%s: %s', (code, kind) => {
		expect(faultKind(code)).toBe(kind);
	});

	test.each(['EHOSTUNREACH', 'ENETUNREACH', 'EHOSTDOWN', 'EADDRNOTAVAIL'])(
		'%s: unreached while connecting, else lost: it also ends a connection that has sent',
		(code) => {
			expect(faultKind(code, 'connect')).toBe('unreached');
			expect(faultKind(code, 'read')).toBe('lost');
			expect(faultKind(code)).toBe('lost');
		},
	);

	test.each(['ESOMETHINGNEW', '', 'econnrefused', 'XCERT_', 'EPROTONOSUPPORT', undefined])(
		'%j, which is unknown, counts as lost: of what may have been executed nothing is sent again',
		(code) => {
			expect(faultKind(code)).toBe('lost');
		},
	);
});

test('a fault is named by its code, else by its kind', () => {
	expect(new TransportFault('lost', 'ECONNRESET').message).toBe('ECONNRESET');
	expect(new TransportFault('lost').message).toBe('lost');
	expect(new TransportFault('lost')).toBeInstanceOf(Error);
});

test('of a header that came several times the first counts', () => {
	const headers = { one: 'a', many: ['b', 'c'], none: [], gone: undefined };
	expect(['one', 'many', 'none', 'gone', 'absent'].map((name) => header(headers, name))).toEqual([
		'a',
		'b',
		undefined,
		undefined,
		undefined,
	]);
});
