import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

const ROOT = join(__dirname, '..', '..');

/** The texts of a source file: whole literals, and the pieces of templates. */
function textsOf(name: string): string[] {
	const source = readFileSync(join(ROOT, name), 'utf8');
	const texts: string[] = [];
	const visit = (node: ts.Node) => {
		const isPiece = ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node);
		if (isPiece || ts.isStringLiteralLike(node)) texts.push(node.text);
		ts.forEachChild(node, visit);
	};
	visit(ts.createSourceFile(name, source, ts.ScriptTarget.Latest));
	return texts;
}

/** Names of groups in patterns, and what n8n draws: links of descriptions, line breaks of an error. */
const NO_MESSAGES = /\(\?<|data-action='openSelectiveNodeCreator'|<a href="https:|^<br>\n$/;

test('no text that the nodes show has angle brackets, which n8n takes for HTML and leaves out', () => {
	const files = ['nodes', 'credentials'].flatMap((folder) =>
		readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
			.filter((name) => name.endsWith('.ts'))
			.map((name) => join(folder, name)),
	);
	const texts = files.flatMap((name) => textsOf(name).map((text) => [name, text] as const));
	const bracketed = texts.filter(([, text]) => /[<>]/.test(text) && !NO_MESSAGES.test(text));
	expect(bracketed).toEqual([]);
	expect(texts.length).toBeGreaterThan(1000);
});
