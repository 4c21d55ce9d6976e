import type { Advice } from './advice';

/** What a status of the contract's table means and what its receiver can do. */
export interface StatusMeaning {
	/** What happened, in a few words, as the message begins. */
	title: string;
	/** What to do. */
	advice: Advice;
}

/**
 * The contract's table "Errors", as what a user reads. The one home of what a status means;
 * whether it is sent again stands in `retry.ts`.
 */
export const STATUS_TABLE: Record<number, StatusMeaning> = {
	400: {
		title: 'The gateway refused the request as invalid',
		advice: [
			'Fix the request: a field is missing, has the wrong type, or is not allowed here. It is not sent again unchanged.',
		],
	},
	401: {
		title: 'The gateway did not accept the API key',
		advice: [
			'Fix the credential: the key is incomplete, revoked, expired or disabled. Copy it again from the gateway’s console or create a new one.',
			'Some gateways answer so as well if the key is used up, its group lacks a permission, or the address of this n8n is not allowed.',
		],
	},
	403: {
		title: 'The gateway does not permit this',
		advice: [
			'The key is expired, disabled or used up, its account, its group or the capability (such as images) is not permitted, the balance is used up, or the address of this n8n is not allowed. Change that in the gateway’s console; trying again at once does not help.',
		],
	},
	404: {
		title: 'The gateway does not know this address or model',
		advice: [
			'Check the Base URL of the credential (it ends in /v1), and that the model is in the list of this key. For images the gateway may have its asynchronous tasks switched off.',
		],
	},
	408: {
		title: 'The request did not complete in time',
		advice: ['Check the time-outs on the way to the gateway.'],
	},
	413: {
		title: 'The request is too large for the gateway',
		advice: ['Shrink or split the input or the file. It is not sent again unchanged.'],
	},
	429: {
		title: 'The gateway asks to slow down',
		advice: [
			'A queue, concurrency, rate or quota limit is reached. Wait, or raise the limit in the gateway’s console.',
			{ ifOption: 'Concurrency', text: 'Work on fewer items at once by the option Concurrency.' },
		],
	},
	499: {
		title: 'The connection was closed before the gateway answered',
		advice: ['Check the time-outs of proxies between n8n and the gateway.'],
	},
	500: {
		title: 'The gateway had an internal error',
		advice: ['Report it to the gateway’s operator if it stays.'],
	},
	502: {
		title: 'The gateway got an abnormal reply from the model’s provider',
		advice: ['Confirm with a minimal request, such as Model → Get Many.'],
	},
	503: {
		title: 'The gateway is overloaded or a part of it is unavailable',
		advice: ['Wait a while, then try again.'],
	},
	// Not in the contract: the word of some providers for an overload.
	529: {
		title: 'The gateway is overloaded or a part of it is unavailable',
		advice: ['Wait a while, then try again.'],
	},
	504: {
		title: 'The gateway waited too long for the model',
		advice: ['Shorten the task.', { ifOption: 'Stream', text: 'Turn on Stream for long answers.' }],
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
				'Redirects are not followed, since the key would go to the other address. Check the Base URL of the credential: http in place of https, a missing path or a login page are usual causes.',
			],
		};
	}
	if (status < 500) {
		return {
			title: 'The gateway refused the request',
			advice: ['Check the request and the credential. It is not sent again unchanged.'],
		};
	}
	return {
		title: 'The gateway failed',
		advice: ['Report it to the gateway’s operator if it stays.'],
	};
}
