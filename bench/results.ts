/** A contender that does the work of a case: ours, another way, or the limit. */
export interface Line {
	who: string;
	/** Its measured values, one for each run. */
	values: Record<string, number[]>;
}

/** A goal. */
export interface Goal {
	goal: string;
	/** The measured result. */
	found: string;
	met: boolean;
}

/** The result of one case. */
export interface CaseResult {
	name: string;
	/** The limit that no contender can pass, and its reason. */
	limit: string;
	/** Ours is the first. */
	lines: Line[];
	goals: Goal[];
	/**
	 * Whether all lines do the same work, so that their ratios to ours are meaningful; true if
	 * absent.
	 */
	alike?: boolean;
}

/** The median. */
export function median(values: number[]): number {
	const sorted = [...values].sort((a, b) => a - b);
	const middle = sorted.length / 2;
	const [low, high] = [sorted[Math.ceil(middle) - 1], sorted[Math.floor(middle)]];
	if (low === undefined || high === undefined) throw new Error('No values to summarize');
	return (low + high) / 2;
}

/** Formats a number with its significant digits. */
export function short(value: number): string {
	const size = Math.abs(value);
	if (size >= 1000) return Math.round(value).toLocaleString('en-US').replaceAll(',', ' ');
	if (Number.isInteger(value)) return String(value);
	return value.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : 2);
}

/** Formats a ratio. */
export const times = (value: number) => `${short(value)}×`;

/** The median of a contender's values. */
export function middleOf({ lines }: Pick<CaseResult, 'lines'>, who: string, what: string): number {
	const found = lines.find((line) => line.who === who)?.values[what];
	if (!found) throw new Error(`No contender measured "${what}" of "${who}"`);
	return median(found);
}

/** Median and spread, as the tables show them. */
function cell(values: number[] | undefined): string {
	if (!values || values.length === 0) return '';
	const [least, most] = [Math.min(...values), Math.max(...values)];
	const spread = values.length > 1 && least !== most ? ` (${short(least)}–${short(most)})` : '';
	return short(median(values)) + spread;
}

/** A case as a Markdown table. Ratios are to the first line, which is ours. */
export function asMarkdown(result: CaseResult): string {
	const { name, limit, lines, goals, alike = true } = result;
	const columns = [...new Set(lines.flatMap(({ values }) => Object.keys(values)))];
	const first = lines[0];
	const ratio = (line: Line, column: string) => {
		const [theirs, ours] = [line.values[column], first?.values[column]];
		if (!alike || line === first || !theirs?.length || !ours?.length || median(ours) === 0)
			return '';
		return ` · ${times(median(theirs) / median(ours))}`;
	};
	const table = [
		['', ...columns],
		columns.map(() => '---').toSpliced(0, 0, '---'),
		...lines.map((line) => [
			line.who,
			...columns.map((column) => cell(line.values[column]) + ratio(line, column)),
		]),
	];
	const marks = goals.map(
		({ goal, found, met }) => `- ${met ? 'met' : '**not met**'}: ${goal} (${found})`,
	);
	return [
		`### ${name}`,
		'',
		...table.map((row) => `| ${row.join(' | ')} |`),
		'',
		`Limit: ${limit}`,
		...(marks.length > 0 ? ['', ...marks] : []),
		'',
	].join('\n');
}
