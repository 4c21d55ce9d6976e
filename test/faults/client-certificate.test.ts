import type { SecureVersion } from 'node:tls';
import { newAuthority, newCertificate, startTlsFront } from '../../gateway/faults/catalogue';
import type { TlsFront } from '../../gateway/faults/elsewhere';
import { storeBinaryInMemory, type FailedRun } from '../../scripts/engine/index';
import {
	createResponse,
	generateImage,
	getModels,
	getTask,
	shown,
	startHarness,
	submitted,
	type Harness,
} from '../nodes/arrange';
import { trust } from './harness';

const authority = newAuthority();
const certificate = newCertificate(['localhost'], { authority });

let harness: Harness;
let front: TlsFront | undefined;
let restoreTrust: () => void;
beforeEach(async () => {
	await storeBinaryInMemory();
	harness = await startHarness({ defaultSize: '16x16' });
	restoreTrust = trust(authority.cert);
});
afterEach(async () => {
	restoreTrust();
	await front?.close();
	await harness.close();
});

const portOf = (url: string) => Number(new URL(url).port);

/** A TLS server before the gateway, or its storage, that asks each client for a certificate. */
async function demandCertificate(maxVersion: SecureVersion, inFrontOf: string) {
	const demand = { requestCert: true, rejectUnauthorized: true, ca: authority.cert, maxVersion };
	front = await startTlsFront({ ...certificate, ...demand }, portOf(inFrontOf));
	return `https://localhost:${front.port}`;
}

const TOLD: Array<[SecureVersion, title: RegExp, advice: RegExp]> = [
	[
		'TLSv1.3',
		/^The gateway asks for a client certificate \(ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED\)$/,
		/^These nodes cannot send one\. Ask the gateway’s operator/,
	],
	[
		'TLSv1.2',
		// Older versions of OpenSSL say SSLV3.
		/^The gateway refuses the TLS handshake \(ERR_SSL_(SSLV3|SSL\/TLS)_ALERT_HANDSHAKE_FAILURE\)$/,
		/^It may require a client certificate, which these nodes cannot send/,
	],
];

type Access = { access: { baseUrl: string } };
const RUNS: Array<[string, (at: Access) => Promise<FailedRun>]> = [
	['a list', async (at) => await harness.textError(getModels(), at)],
	['a response', async (at) => await harness.textError(createResponse(), at)],
	['a stream', async (at) => await harness.textError(createResponse({ stream: true }), at)],
	['an image', async (at) => await harness.imageError(generateImage(), at)],
];

describe.each(TOLD)('A gateway that asks by %s for a client certificate', (...told) => {
	const [version, title, advice] = told;
	test.each(RUNS)('is told as what it is, and sent nothing again: %s', async (_, run) => {
		const baseUrl = `${await demandCertificate(version, harness.gateway.origin)}/v1`;
		const error = shown(await run({ access: { baseUrl } }));
		expect(error.message).toMatch(title);
		expect(error.description).toMatch(advice);
		expect(error.context.details).toMatchObject({ retryable: false });
		expect(front?.tried).toBe(1);
		expect(harness.gateway.count()).toBe(0);
	});
});

test('A storage host that asks for a client certificate is told as what it is', async () => {
	const task = await submitted(harness);
	await harness.time.advance(6000);
	const { storageUrl } = harness.gateway;
	const origin = await demandCertificate('TLSv1.3', storageUrl);
	harness.gateway.settings.intercept = ({ reply }) => {
		if (reply) reply.body = String(reply.body).replaceAll(storageUrl, origin);
		return undefined;
	};
	const error = shown(await harness.imageError(getTask(task.id)));
	expect(error.message).toMatch(
		/: it asks for a client certificate \(ERR_SSL_TLSV13_ALERT_CERT\w+\)$/,
	);
	expect(front?.tried).toBe(1);
});
