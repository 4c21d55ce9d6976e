/** Somebody who does the work of a case: ours, another way, or the limit. */
export interface Line {
	who: string;
	/** What was measured of it, a value for each run. */
	values: Record<string, number[]>;
}

/** What is to hold. */
export interface Goal {
	goal: string;
	/** What was found. */
	found: string;
	met: boolean;
}

/** What one case came to. */
export interface CaseResult {
	name: string;
	/** What nobody can be better than, and why. */
	limit: string;
	/** Ours is the first. */
	lines: Line[];
	goals: Goal[];
	/** Whether all lines are of the same work, so that their ratios to ours tell something: they are if absent. */
	alike?: boolean;
}

/** The middle value; of an even number the mean of the two in the middle. */
export function median(values: number[]): number {
	const sorted = [...values].sort((a, b) => a - b);
	const middle = sorted.length / 2;
	const [low, high] = [sorted[Math.ceil(middle) - 1], sorted[Math.floor(middle)]];
	if (low === undefined || high === undefined) throw new Error('Nothing was measured');
	return (low + high) / 2;
}

/** A number with as many digits as tell something. */
export function short(value: number): string {
	const size = Math.abs(value);
	if (size >= 1000) return Math.round(value).toLocaleString('en-US').replaceAll(',', ' ');
	if (Number.isInteger(value)) return String(value);
	return value.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : 2);
}

/** How many times as much. */
export const times = (value: number) => `${short(value)}×`;

/** The median of what was measured of somebody. */
export function middleOf({ lines }: Pick<CaseResult, 'lines'>, who: string, what: string): number {
	const found = lines.find((line) => line.who === who)?.values[what];
	if (!found) throw new Error(`Nobody measured "${what}" of "${who}"`);
	return median(found);
}

/** Median and spread, as the tables show them. */
function cell(values: number[] | undefined): string {
	if (!values || values.length === 0) return '';
	const [least, most] = [Math.min(...values), Math.max(...values)];
	const spread = values.length > 1 && least !== most ? ` (${short(least)}–${short(most)})` : '';
	return short(median(values)) + spread;
}

/** A case as a table of Markdown; ratios are to the first line, which is ours. */
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
