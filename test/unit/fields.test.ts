import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { requestBodyOptions } from '../../nodes/ModelAccess/actions/response/request-options';
import { responseSchema } from '../../nodes/shared/client/schemas';

const ROOT = join(__dirname, '../..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

/** One line of a table of the list. */
interface Row {
	section: string;
	cells: string[];
	/** What stands in backticks in its first cell. */
	fields: string[];
	tests: Array<{ file: string; title: string }>;
}

const TEST = /([\w./-]+): "([^"]+)"/g;

function rows(): Row[] {
	let section = '';
	const found: Row[] = [];
	for (const line of read('test/FIELDS.md').split('\n')) {
		section = /^## (.*)$/.exec(line)?.[1] ?? section;
		if (!line.startsWith('|')) continue;
		const cells = line
			.split('|')
			.slice(1, -1)
			.map((cell) => cell.trim());
		if (/^-+$/.test(cells[0] ?? '') || cells.at(-1) === 'tests') continue;
		found.push({
			section,
			cells,
			fields: [...(cells[0] ?? '').matchAll(/`([^`]+)`/g)].map(([, field]) => field!),
			tests: [...(cells.at(-1) ?? '').matchAll(TEST)].map(([, file, title]) => ({
				file: `test/${file}.test.ts`,
				title: title!,
			})),
		});
	}
	return found;
}

/** The titles of the tests of a file, as they stand in its source. */
function titlesOf(path: string): Set<string> {
	const titles = new Set<string>();
	const visit = (node: ts.Node) => {
		if (ts.isCallExpression(node) && /^(test|it)\b/.test(node.expression.getText())) {
			const [title] = node.arguments;
			if (title && ts.isStringLiteralLike(title)) titles.add(title.text);
		}
		ts.forEachChild(node, visit);
	};
	visit(ts.createSourceFile(path, read(path), ts.ScriptTarget.Latest, true));
	return titles;
}

const listed = (section: string) =>
	rows()
		.filter((row) => row.section === section)
		.flatMap(({ fields }) => fields);

describe('The list of fields', () => {
	const all = rows();

	test.each(all.map((row) => [row.section, row.cells[0] ?? '', row] as const))(
		'%s, %s: its tests exist and speak of it',
		(_section, _field, { fields, tests }) => {
			expect(tests.length).toBeGreaterThan(0);
			const sources = tests.map(({ file, title }) => {
				expect([file, ...titlesOf(file)]).toContain(title);
				return read(file);
			});
			for (const field of fields) {
				const word = field.split('.').at(-1)!.toLowerCase();
				expect([field, sources.some((source) => source.toLowerCase().includes(word))]).toEqual([
					field,
					true,
				]);
			}
		},
	);

	test('names every option that goes into the body', () => {
		const options = all
			.filter(({ section }) => section === 'Request')
			.flatMap(({ cells }) => [...(cells[1] ?? '').matchAll(/`([^`]+)`/g)].map(([, name]) => name));
		for (const { name } of requestBodyOptions) expect(options).toContain(name);
		for (const name of ['model', 'prompt', 'messages', 'inputJson', 'stream']) {
			expect(options).toContain(name);
		}
	});

	test('names every field that the schema of a response knows', () => {
		const { shape } = responseSchema;
		for (const name of Object.keys(shape)) expect(listed('Response')).toContain(name);
		for (const name of Object.keys(shape.output.element.shape)) {
			expect(listed('Output items')).toContain(name);
		}
	});

	test('names every event that the client understands, and every type that it simplifies', () => {
		const assembly = read('nodes/shared/client/response-assembly.ts');
		const kinds = [...assembly.matchAll(/^\t*case '([a-z_.]+)':/gm)].map(([, kind]) => kind);
		expect(kinds.length).toBeGreaterThan(10);
		for (const kind of kinds) expect(listed('Events')).toContain(kind);

		const output = read('nodes/shared/client/response-output.ts');
		const types = [...output.matchAll(/type [!=]== '([a-z_]+)'/g)].map(([, type]) => type!);
		expect(types).toContain('function_call');
		const formats = ['json_object', 'json_schema'];
		for (const type of types.filter((one) => !formats.includes(one))) {
			expect(listed('Output items')).toContain(type);
		}
	});
});
