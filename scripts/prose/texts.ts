import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { lexer, type Token, type Tokens } from 'marked';
import ts from 'typescript';

/** A text that a user or a maintainer reads. */
export interface Text {
	file: string;
	/** The line in the file, from 1 on. */
	line: number;
	kind: 'string' | 'comment' | 'document';
	/** Markdown's marks are left out; code and what a program fills in stand as `…`. */
	text: string;
}

const root = join(__dirname, '..', '..');

/** Where texts are. Tests are left out: their texts are titles and data. */
const SOURCES = ['credentials', 'nodes', 'gateway', 'bench', 'scripts'];
const DOCUMENTS = ['.', 'docs', 'examples', 'bench', 'gateway'];

/** All texts of the package, in the order of its files: documents, then strings and comments. */
export function readTexts(): Text[] {
	const documents = DOCUMENTS.flatMap((folder) =>
		readdirSync(join(root, folder))
			.filter((name) => name.endsWith('.md'))
			.map((name) => join(folder, name)),
	);
	const files = SOURCES.flatMap((folder) =>
		readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
			.filter((name) => !name.includes('node_modules'))
			.map((name) => join(folder, name))
			.sort(),
	);
	const read = (file: string) => readFileSync(join(root, file), 'utf8');
	return [
		...documents.flatMap((file) => textsOfDocument(file, read(file))),
		...files.filter(isScript).flatMap((file) => textsOfScript(file, read(file))),
		...files.filter(isCodex).flatMap((file) => textsOfCodex(file, read(file))),
	];
}

const isScript = (file: string) => /\.(ts|m?js)$/.test(file) && !file.endsWith('.d.ts');
const isCodex = (file: string) => file.endsWith('.node.json');

/** The paragraphs, headings, list items and cells of a page. */
export function textsOfDocument(file: string, source: string): Text[] {
	const texts: Text[] = [];
	let line = 1;
	for (const token of lexer(source)) {
		for (const text of textsOfToken(token)) texts.push({ file, line, kind: 'document', text });
		line += token.raw.split('\n').length - 1;
	}
	return texts;
}

function textsOfToken(token: Token): string[] {
	switch (token.type) {
		case 'heading':
		case 'paragraph':
		case 'text':
			return [inline(token)];
		case 'list':
			return (token as Tokens.List).items.flatMap((item) => item.tokens.flatMap(textsOfToken));
		case 'blockquote':
			return (token as Tokens.Blockquote).tokens.flatMap(textsOfToken);
		case 'table': {
			const { header, rows } = token as Tokens.Table;
			return [header, ...rows].flatMap((cells) => cells.map(inline));
		}
		default:
			return [];
	}
}

function inline(token: { tokens?: Token[]; text?: string }): string {
	const parts = (token.tokens ?? []).map((part) => {
		if (part.type === 'codespan') return '…';
		if (part.type === 'html' || part.type === 'image') return '';
		if (part.type === 'br') return ' ';
		return 'tokens' in part && part.tokens ? inline(part) : 'text' in part ? String(part.text) : '';
	});
	return clean(parts.join(''));
}

/** The strings of several words, and the comments, of a script. */
export function textsOfScript(file: string, source: string): Text[] {
	const script = ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true);
	const lineOf = (at: number) => script.getLineAndCharacterOfPosition(at).line + 1;
	const texts: Text[] = [];
	const visit = (node: ts.Node): void => {
		for (const text of linesOf(node).filter(isProse)) {
			texts.push({ file, line: lineOf(node.getStart(script)), kind: 'string', text });
		}
		ts.forEachChild(node, visit);
	};
	visit(script);
	for (const { at, text } of commentsOf(source)) {
		texts.push({ file, line: lineOf(at), kind: 'comment', text });
	}
	return texts.sort((a, b) => a.line - b.line);
}

/** The lines of a string or a template. */
function linesOf(node: ts.Node): string[] {
	const { parent } = node;
	if (parent && (ts.isImportDeclaration(parent) || ts.isLiteralTypeNode(parent))) return [];
	if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) {
		return node.text.split('\n').map(clean);
	}
	if (!ts.isTemplateExpression(node)) return [];
	const parts = node.templateSpans.map((span) => `…${span.literal.text}`);
	return [node.head.text, ...parts].join('').split('\n').map(clean);
}

/** Several words, not code, JSON, a header or a list of names. */
const isProse = (text: string) =>
	/[a-z]{2,} [a-z…]{1,}/i.test(text) &&
	!/^[[{<(|]|=>|===|^[\w-]+: \S+$|[;{]\s*$|\\b|\.\*|\[\^/.test(text);

function commentsOf(source: string): Array<{ at: number; text: string }> {
	const scanner = ts.createScanner(
		ts.ScriptTarget.Latest,
		false,
		ts.LanguageVariant.Standard,
		source,
	);
	/** `end` is absent for block comments, which no line continues. */
	const found: Array<{ at: number; end?: number; text: string }> = [];
	for (let kind = scanner.scan(); kind !== ts.SyntaxKind.EndOfFileToken; kind = scanner.scan()) {
		const [at, raw] = [scanner.getTokenStart(), scanner.getTokenText()];
		if (kind === ts.SyntaxKind.MultiLineCommentTrivia) {
			found.push(...blockComment(raw).map(({ offset, text }) => ({ at: at + offset, text })));
		}
		if (kind !== ts.SyntaxKind.SingleLineCommentTrivia) continue;
		const text = raw.replace(/^\/\/\s?/, '');
		const last = found.at(-1);
		const joins = last?.end !== undefined && /^\n\s*$/.test(source.slice(last.end, at));
		if (joins) Object.assign(last, { end: at + raw.length, text: `${last.text} ${text}` });
		else found.push({ at, end: at + raw.length, text });
	}
	return found
		.map(({ at, text }) => ({ at, text: clean(text) }))
		.filter(({ text }) => !/^(eslint|@ts-|prettier|Stryker)/.test(text));
}

/** The paragraphs, list items and tags of a block comment, each with the offset of its line. */
function blockComment(raw: string): Array<{ offset: number; text: string }> {
	const lines = raw.split('\n');
	const offsetOf = (line: number) => lines.slice(0, line).join('\n').length;
	const content = raw.replace(/^\/\*+[ \t]?|\*+\/$/g, '').replace(/^[ \t]*\* ?/gm, '');
	let start = 0;
	return content.split(/^(?=@\w)/m).flatMap((part) => {
		const first = start;
		start += part.split('\n').length - 1;
		return textsOfDocument('', part.replace(TAG, '').replace(/\{@link [^}]*\}/g, '`…`'))
			.filter(({ text }) => text !== '')
			.map(({ line, text }) => ({ offset: offsetOf(first + line - 1) + 1, text }));
	});
}

/** A tag with the type, the name or the error class behind it. */
const TAG =
	/^@\w+[ \t]*(\{[^}]*\}[ \t]*)?((?<=^@param[ \t]+)[\w.[\]]+|(?<=^@throws[ \t]+)[A-Z]\w+)?/;

function textsOfCodex(file: string, source: string): Text[] {
	const { alias = [] } = JSON.parse(source) as { alias?: string[] };
	return alias.map((text) => ({ file, line: 1, kind: 'string', text }));
}

const clean = (text: string) =>
	text
		.replace(/`[^`]*`|\{\{.*?\}\}|https?:\/\/\S+/g, '…')
		.replace(/<[^>]*>/g, ' ')
		.replace(/&quot;/g, '"')
		.replace(/&#39;/g, '’')
		.replace(/\s+/g, ' ')
		.trim();
