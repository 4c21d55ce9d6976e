import { readFileSync } from 'node:fs';
import path from 'node:path';
import { project } from './built';

/** The text of a file of the project. */
export const read = (file: string) => readFileSync(path.join(project, file), 'utf8');
export const readme = read('README.md');
export const withoutCode = (text: string) => text.replace(/^```[^]*?^```$/gm, '');

/** The text from a heading to the next one of its level or above. */
export function section(heading: string): string {
	const lines = readme.split('\n');
	const start = lines.findIndex((line) => line.replace(/^#+ /, '') === heading);
	if (start < 0) throw new Error(`The README has no heading "${heading}"`);
	const level = /^#+/.exec(lines[start]!)![0].length;
	const length = lines
		.slice(start + 1)
		.findIndex((line) => new RegExp(`^#{1,${level}} `).test(line));
	return lines.slice(start, length < 0 ? undefined : start + 1 + length).join('\n');
}

export type Row = Record<string, string>;

/** All rows of the tables in a text, by the names of their columns. */
export function rows(text: string): Row[] {
	const tables = withoutCode(text).match(/(^\|.*\|\n?)+/gm) ?? [];
	return tables.flatMap((table) => {
		const [columns, , ...cells] = table.trim().split('\n').map(cellsOf);
		return cells.map((row) => Object.fromEntries(columns!.map((name, at) => [name, row[at]!])));
	});
}

const cellsOf = (line: string) => {
	const cells = line.split(/(?<!\\)\|/).slice(1, -1);
	return cells.map((cell) => cell.trim().replaceAll('\\|', '|'));
};
/** A cell without its emphasis. */
export const plain = (cell: string) => cell.replace(/^(\*\*|`)(.*)\1$/, '$2');

/** The JSON examples of a text, in order. */
export const examples = (text: string): unknown[] =>
	[...text.matchAll(/^```json\n([^]*?)^```$/gm)].map(([, json]) => JSON.parse(json!) as unknown);
