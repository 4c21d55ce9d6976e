import type { Advice } from './advice';

/** What a status of the contract's table means and what its receiver can do. */
export interface StatusMeaning {
	/** What happened, in a few words, as the message begins. */
	title: string;
	/** What to do. */
	advice: Advice;
}

export const TRY_LATER = 'Try again later.';

/**
 * The contract's table "Errors", as what a user reads. The only place for the meaning of a status.
 * `retry.ts` says whether it is sent again.
 */
export const STATUS_TABLE: Record<number, StatusMeaning> = {
	400: {
		title: 'The gateway refused the request as invalid',
		advice: ['Fix the request: a field is missing, has the wrong type, or is not allowed here.'],
	},
	401: {
		title: 'The gateway did not accept the API key',
		advice: [
			'Fix the credential: copy the key again from the gateway’s console, or create a new one.',
			'Some gateways also answer this to a used-up key, a missing permission, or an address that they do not allow.',
		],
	},
	403: {
		title: 'The gateway does not permit this',
		advice: [
			'The key or its group lacks this permission (such as images), or the balance is used up. Check both in the gateway’s console. Some gateways also refuse the address of this n8n.',
		],
	},
	404: {
		title: 'The gateway does not know this address or model',
		advice: [
			'Check the Base URL of the credential (it ends in /v1), and that the key’s list has the model. For images, the gateway’s asynchronous tasks may be turned off.',
		],
	},
	408: {
		title: 'The request did not complete in time',
		advice: ['Check the time-outs on the way to the gateway.'],
	},
	413: {
		title: 'The request is too large for the gateway',
		advice: ['Shrink or split the input or the file.'],
	},
	429: {
		title: 'The gateway’s rate limit is reached',
		advice: [
			'Wait, or raise the limit in the gateway’s console.',
			{
				ifOption: 'Concurrency',
				text: 'Lower the Concurrency option to work on fewer items at once.',
			},
		],
	},
	499: {
		title: 'The connection was closed before the gateway answered',
		advice: ['Check the time-outs of proxies between n8n and the gateway.'],
	},
	500: {
		title: 'The gateway had an internal error',
		advice: ['If the error stays, report it to the gateway’s operator.'],
	},
	502: {
		title: 'The gateway got an invalid reply from the model’s provider',
		advice: ['Test the connection with a small request, such as Model → Get Many.'],
	},
	503: {
		title: 'The gateway is overloaded or partly unavailable',
		advice: [TRY_LATER],
	},
	// Not in the contract: the word of some providers for an overload.
	529: {
		title: 'The gateway is overloaded or partly unavailable',
		advice: [TRY_LATER],
	},
	504: {
		title: 'The gateway waited too long for the model',
		advice: [
			'Send a smaller request.',
			{ ifOption: 'Stream', text: 'Turn on Stream for long answers.' },
		],
	},
};

/**
 * The meaning of any status, also of those that the contract does not list.
 * @param status an HTTP status; below 300 the body is an error that names none
 */
export function statusMeaning(status: number): StatusMeaning {
	const known = STATUS_TABLE[status];
	if (known) return known;
	if (status < 300) {
		return { title: 'The gateway answered with an error', advice: [] };
	}
	if (status < 400) {
		return {
			title: 'The gateway’s address redirects to another one',
			advice: [
				'Check the Base URL of the credential. Usual causes are http instead of https, a missing path, or a login page. The nodes follow no redirect, because the key would go to the other address.',
			],
		};
	}
	if (status < 500) {
		return {
			title: 'The gateway refused the request',
			advice: ['Check the request and the credential.'],
		};
	}
	return {
		title: 'The gateway failed',
		advice: ['If the error stays, report it to the gateway’s operator.'],
	};
}
