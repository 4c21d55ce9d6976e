import { check } from '../../scripts/prose/rules';
import { textsOfDocument, textsOfScript, type Text } from '../../scripts/prose/texts';

const problems = (text: string) =>
	check({ file: 'a.md', line: 1, kind: 'document', text }).map(({ problem }) => problem);

const words = (count: number) => Array.from({ length: count }, (_, n) => `word${n}`).join(' ');

const found = (texts: Text[]) => texts.map(({ line, kind, text }) => `${line} ${kind}: ${text}`);

test('a document is read as headings, paragraphs, list items and cells, each with its line', () => {
	const page = '# A `title`\n\nA *paragraph*.\n\n- One item\n\n| A head |\n| --- |\n| A cell |\n';
	const texts = ['1 A …', '3 A paragraph.', '5 One item', '7 A head', '7 A cell'];
	const expected = texts.map((text) => text.replace(' ', ' document: '));
	expect(found(textsOfDocument('a.md', page))).toEqual(expected);
});

test('a script is read as strings and comments, each tag without its name', () => {
	const script = [
		...["import { a } from 'the module a';", '/**', ' * Adds two numbers, see {@link sum}.'],
		...[' * - The first one.', ' * @param options.left the left number'],
		...[' * @throws {RangeError} the sum is too large', ' */'],
		...['// One comment', '// on two lines.', "const text = 'Two words';"],
		'const more = `${text} and more`;',
	].join('\n');
	expect(found(textsOfScript('a.ts', script))).toEqual([
		...['3 comment: Adds two numbers, see ….', '4 comment: The first one.'],
		...['5 comment: the left number', '6 comment: the sum is too large'],
		...['8 comment: One comment on two lines.', '10 string: Two words', '11 string: … and more'],
	]);
});

test.each([
	[words(21), '21 words'],
	['Whoever reads it knows.', '"Whoever" instead of'],
	['A picture of a boat.', '"image"'],
	['They did it in order to win.', '"in order to" is wordy'],
])('"%s" breaks a rule', (text, problem) => {
	expect(problems(text)).toEqual([expect.stringContaining(problem)]);
});

test('good sentences pass, and so do the words of n8n', () => {
	expect(problems(`${words(20)}. n8n ${words(19)}.`)).toEqual([]);
	expect(problems('Modify, add, or remove item fields')).toEqual([]);
});
