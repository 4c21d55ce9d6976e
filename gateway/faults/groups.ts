import { ANSWER_FAULTS, ERROR_ANSWER_FAULTS, EXTRA_FAULTS } from './answers';
import { ANSWER_FORM_FAULTS, LIMIT_FAULTS, QUOTED_FAULTS, STREAM_FORM_FAULTS } from './forms';
import type { NamedFault } from './named';
import {
	CONTRACT_STATUSES,
	ERROR_CONTENTS,
	REDIRECTS,
	redirectFault,
	RETRY_AFTERS,
	retryAfterFault,
	statusFault,
} from './statuses';
import { STREAM_FAULTS } from './streams';
import { CONNECTION_FAULTS, HEADER_FAULTS, SILENT_FAULTS } from './wire';

/** Statuses that ask a client to wait. */
const BUSY = [429, 503];

const REDIRECT_STATUSES = [301, 302, 303, 307, 308];

/** Each fault of the catalogue that needs nothing but its name, by group. */
export const FAULT_GROUPS: Record<string, readonly NamedFault[]> = {
	'Error statuses': ERROR_CONTENTS.flatMap((content) =>
		CONTRACT_STATUSES.map((status) => statusFault(status, content)),
	),
	'Retry-After': Object.keys(RETRY_AFTERS).flatMap((form) =>
		BUSY.map((status) => retryAfterFault(status, form)),
	),
	Redirects: Object.keys(REDIRECTS).flatMap((target) =>
		REDIRECT_STATUSES.map((status) => redirectFault(status, target)),
	),
	Connections: CONNECTION_FAULTS,
	Silence: SILENT_FAULTS,
	'Headers and encodings': HEADER_FAULTS,
	'Success replies with another body': ANSWER_FAULTS,
	'Errors in a success reply': ERROR_ANSWER_FAULTS,
	'Success replies with more fields': EXTRA_FAULTS,
	Streams: STREAM_FAULTS,
	'Answers in another form': ANSWER_FORM_FAULTS,
	'Streams in another form': STREAM_FORM_FAULTS,
	'Limits in a stream': LIMIT_FAULTS,
	'Errors that quote a provider’s': QUOTED_FAULTS,
};

/** The fault of this name, if the catalogue has one. */
export const findFault = (name: string): NamedFault | undefined =>
	Object.values(FAULT_GROUPS)
		.flat()
		.find((fault) => fault.name === name);
