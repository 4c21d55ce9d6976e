import type { OptionName } from '../../nodes/shared/api/errors/advice';

const NAMES: Record<OptionName, true> = {
	Concurrency: true,
	'Idle Timeout': true,
	'Max File Size': true,
	'Max Wait': true,
	'Previous Response ID': true,
	Stream: true,
	Timeout: true,
};

/** All options that an advice may name, for a reader who has all of them. */
export const ALL_OPTION_NAMES: ReadonlySet<string> = new Set(Object.keys(NAMES));
