import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { project } from './built';

export const read = (file: string) => readFileSync(path.join(project, file), 'utf8');

/** The pages for builders, beside the README. */
export const GUIDES = readdirSync(path.join(project, 'docs'))
	.filter((name) => name.endsWith('.md'))
	.map((name) => `docs/${name}`);

export const PAGES = ['README.md', ...GUIDES];

export const withoutCode = (text: string) => text.replace(/^```[^]*?^```$/gm, '');

/** The text from a heading of a page to the next one of its level or above. */
export function section(page: string, heading: string): string {
	const lines = read(page).split('\n');
	const start = lines.findIndex((line) => line.replace(/^#+ /, '') === heading);
	if (start < 0) throw new Error(`${page} has no heading "${heading}"`);
	const next = new RegExp(`^#{1,${lines[start]!.indexOf(' ')}} `);
	const end = lines.findIndex((line, index) => index > start && next.test(line));
	return lines.slice(start, end < 0 ? undefined : end).join('\n');
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

export interface CodeBlock {
	/** `<page>#<heading>`, of the nearest heading above. */
	place: string;
	language: string;
	text: string;
}

export function codeBlocks(page: string): CodeBlock[] {
	let heading = '';
	const found = read(page).matchAll(/^#+ (.*)$|^ *```(\w*)\n([^]*?)^ *```$/gm);
	return [...found].flatMap(([, title, language = '', text = '']) => {
		heading = title ?? heading;
		return title === undefined ? [{ place: `${page}#${heading}`, language, text }] : [];
	});
}

/** The anchors of a document's headings, as GitHub makes them. */
export function anchors(text: string): string[] {
	const seen = new Map<string, number>();
	return [...withoutCode(text).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => {
		const kept = heading.toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, '');
		const slug = kept.replaceAll(' ', '-');
		const count = seen.get(slug) ?? 0;
		seen.set(slug, count + 1);
		return count === 0 ? slug : `${slug}-${count}`;
	});
}
