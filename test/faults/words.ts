import type { Advice, Control } from '../../nodes/shared/client/advice';
import { STATUS_TABLE, statusMeaning } from '../../nodes/shared/client/status-table';
import { factsOf, type Kind, type Place } from './places';

/** What a user reads of a failure: what happened, and what to do. */
export interface Words {
	title: string;
	advice: Advice;
}

/** The sentences of an advice: those that are said at a place, and those that must not be. */
export function sentencesAt(place: Place, advice: Advice): { said: string[]; unsaid: string[] } {
	const { controls } = factsOf(place);
	const said: string[] = [];
	const unsaid: string[] = [];
	for (const sentence of advice) {
		if (typeof sentence === 'string') said.push(sentence);
		else (controls.includes(sentence.having) ? said : unsaid).push(sentence.say);
	}
	return { said, unsaid };
}

/** The contract's table of statuses (Errors), as users read it. */
export const STATUS_WORDS: Record<number, Words> = STATUS_TABLE;

/** Redirects of the gateway. */
export const REDIRECT: Words = statusMeaning(302);

export const UNKNOWN_TASK: Words = {
	title: 'The gateway knows no image task "{task}"',
	advice: [
		'The task ID is wrong, the task has expired, or it was submitted with another API key: the gateway answers the same for all three. Use the credential that submitted it, and collect pictures before expires_at.',
	],
};

export const UNREACHED: Words = {
	title: 'The gateway cannot be reached',
	advice: [
		'Check the Base URL of the credential, that the gateway is running, and that this machine may connect to it.',
	],
};

export const LOST: Words = {
	title: 'The connection to the gateway was lost before its answer was here',
	advice: ['Check the network and the proxies between n8n and the gateway.'],
};

export const LOST_IN_ANSWER: Words = {
	title: 'The connection was lost in the middle of the answer',
	advice: LOST.advice,
};

/** @param limit what bounds the time */
export const timedOutBy = (limit: Control): Words => ({
	title: 'The gateway did not answer in time',
	advice: [
		'It may be overloaded, or something on the way to it slow.',
		{ having: limit, say: `Raise the ${limit} option if the request needs longer.` },
	],
});

export const CERTIFICATE: Words = {
	title: 'The gateway’s TLS certificate is not accepted',
	advice: [
		'Check the host in the Base URL. The gateway needs a valid certificate for it; verification is not switched off, since the key would be readable on the way.',
	],
};

export const WEB_PAGE = 'a web page (HTML) in place of JSON';

export const WEB_PAGE_ADVICE =
	'A web page in place of JSON points to a wrong Base URL, a login page of a proxy, or a firewall in front of the gateway. Open the Base URL of the credential in a browser to see the page.';

/** What else there is to say where the request may have been carried out. */
export const DOUBT: Record<Kind, string> = {
	read: '',
	response:
		'The request may have been executed and charged. Check the usage in the gateway’s console before you send it again.',
	image:
		'An image task may exist and be charged although no task ID arrived. Check the usage in the gateway’s console before you submit it again.',
	download: '',
};

export const NOT_A_GATEWAY = 'The address may not be that of a gateway with the Model Access API.';

export const DOWNLOAD = 'The image could not be downloaded from {host}: ';

export const PAID_FOR =
	'The image is done and paid for: fetch it with Task → Get and its task ID, without submitting it again.';

export const STORAGE_FAULT = 'This is a fault of the storage host or the network.';

export const ASK_OPERATOR = 'Ask the gateway’s operator.';

export const LOOK_AT_STORAGE =
	'Open the image_url of the task in a browser to see what the storage host answers.';
