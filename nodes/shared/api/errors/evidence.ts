import type { Advice } from './advice';
import { FINDINGS, type FindingKind, type FindingRow, type ErrorSource } from './findings';
import { statusMeaning } from './status-table';

export type { FindingKind, ErrorSource } from './findings';

/** What is known of an error of the gateway, as it came. */
export interface Evidence {
	status?: number;
	code?: string;
	type?: string;
	message?: string;
	source: ErrorSource;
	/** Whether the gateway passes on an error of its provider. */
	fromProvider?: boolean;
	/** What the body is where it is no JSON; absent: JSON, or nothing. */
	body?: 'html' | 'text';
}

/** What the evidence says. */
export interface Finding {
	/** Absent: neither code nor message is known, and the status alone decides. */
	kind?: FindingKind;
	/** What happened, where this is more than the status says. */
	title?: string;
	advice: Advice;
}

/** What a web page instead of JSON means. */
export const HTML_ADVICE =
	'The Base URL may be wrong, or a login page or a firewall answered. Open the Base URL of the credential in a browser to see the page.';

/**
 * What to do about an error of the gateway: by its code and type. If these say nothing, its message
 * counts, then its status and source. The message may be in any language; the advice is in
 * English.
 * @see contract, "Errors"
 */
export function adviseOn(evidence: Evidence): Finding {
	if (evidence.status === 404 && evidence.body !== undefined) return wrongPath(evidence.body);
	const row = findByCode(evidence) ?? findByMessage(evidence);
	if (evidence.fromProvider && isAboutKey(evidence.status, row?.kind)) return PROVIDER_KEY;
	if (!row) return { advice: adviceOnStatus(evidence) };
	const advice = row.kind === 'address' ? adviseOnAddress(evidence) : row.advice;
	return { kind: row.kind, title: row.title, advice };
}

const isAboutKey = (status?: number, kind?: FindingKind) =>
	kind?.startsWith('key') ?? status === 401;

/**
 * Whether a quota, a budget or a balance is used up. A short wait helps against a limit of requests
 * a minute, not against this.
 */
export function isQuotaExhausted(evidence: Evidence): boolean {
	const { kind } = adviseOn(evidence);
	return kind === 'quota' || kind === 'balance';
}

/** A code or type in lower case with underscores. */
function normalize(code: string | undefined): string {
	return (code ?? '')
		.slice(0, 100)
		.trim()
		.replace(/([a-z])([A-Z])/g, '$1_$2')
		.replace(/[\s.-]+/g, '_')
		.toLowerCase();
}

function canBe({ statuses, sources }: FindingRow, { status, source }: Evidence): boolean {
	return (status === undefined || statuses(status)) && (sources?.includes(source) ?? true);
}

/** The code tells more than the type. */
function findByCode(evidence: Evidence): FindingRow | undefined {
	const rows = FINDINGS.filter((row) => canBe(row, evidence));
	for (const text of [normalize(evidence.code), normalize(evidence.type)]) {
		const row = rows.find(({ codes }) => codes?.test(text));
		if (row) return row;
	}
	return undefined;
}

/** Codes of limits that pass by themselves: a message about a quota does not change that. */
const RATE_LIMIT = /rate_limit|too_many|concurren|throttl/;

function findByMessage(evidence: Evidence): FindingRow | undefined {
	const isRateLimit = [evidence.code, evidence.type].some((text) =>
		RATE_LIMIT.test(normalize(text)),
	);
	return FINDINGS.find((row) => {
		const isUsedUp = row.kind === 'quota' || row.kind === 'balance';
		if (isRateLimit && isUsedUp) return false;
		return canBe(row, evidence) && row.messages?.test(evidence.message ?? '');
	});
}

function wrongPath(body: 'html' | 'text'): Finding {
	const { title, advice } = FINDINGS.find(({ kind }) => kind === 'path')!;
	return { kind: 'path', title, advice: body === 'html' ? [HTML_ADVICE] : advice };
}

/** The gateway's provider did not accept the gateway. */
const PROVIDER_KEY = {
	kind: 'providerKey',
	title: 'The model’s provider did not accept the gateway’s own API key',
	advice: [
		'The API key of the credential is fine: the model’s provider refused the gateway’s own key. Tell the gateway’s operator.',
	],
} satisfies Finding;

const ADDRESS = /\b\d{1,3}(\.\d{1,3}){3}\b|(?<![\w:])[0-9a-f]{0,4}(:[0-9a-f]{0,4}){2,7}(?![\w:])/i;

/** The gateway may name the address that it saw. */
function adviseOnAddress({ message }: Evidence): Advice {
	const [address] = ADDRESS.exec(message ?? '') ?? [];
	const which = address === undefined ? 'the address of this n8n' : `the address ${address}`;
	return [
		`The API key may not be used from ${which}. Allow ${address ? 'it' : 'that address'} for the key in the gateway’s console.`,
	];
}

const BASE_URL = 'Check the Base URL of the credential (it ends in /v1)';

/** The usual reasons of a 403 where it is not about images. */
const FORBIDDEN: Advice = [
	'The key or its group lacks this permission, or the balance is used up. Check both in the gateway’s console. Some gateways also refuse the address of this n8n.',
];

/** What a status means for its source, where neither code nor message tells more. */
const AT_SOURCE: Partial<Record<number, Partial<Record<ErrorSource, Advice>>>> = {
	401: {
		failedTask: PROVIDER_KEY.advice,
	},
	403: {
		modelList: FORBIDDEN,
		response: FORBIDDEN,
		taskPoll: FORBIDDEN,
		failedTask: [
			'The key’s group lacks this permission, or the balance is used up. Change that in the gateway’s console.',
		],
	},
	404: {
		modelList: [`${BASE_URL}.`],
		taskPoll: [`${BASE_URL}, and the task ID.`],
		response: [`${BASE_URL}, and that the key’s list has the model.`],
		failedTask: ['Check that the key’s list has the model, and that the model makes images.'],
	},
};

function adviceOnStatus({ status, source, body }: Evidence): Advice {
	if (status === undefined || status < 300) return [];
	const advice = AT_SOURCE[status]?.[source] ?? statusMeaning(status).advice;
	return body === 'html' ? [...advice, HTML_ADVICE] : advice;
}
