import { makeFileName } from '../../../nodes/shared/api/images/file-name';

const TASK = 'imgtask_4b1d9e6c';
const named = (prompt: string, more = {}) =>
	makeFileName('', { taskId: TASK, prompt, index: 0, count: 1, ...more }, 'png');

test.each([
	['Brass desk lamp on a walnut table', 'brass-desk-lamp-on-a-walnut-table-9e6c.png'],
	['  A "red" fox,\n(small)! ', 'a-red-fox-small-9e6c.png'],
	['Don’t panic', 'dont-panic-9e6c.png'],
	['Маяк в сумерках', 'маяк-в-сумерках-9e6c.png'],
	['赤い狐、雪の中', '赤い狐-雪の中-9e6c.png'],
	['Cafe\u0301 №7', 'café-7-9e6c.png'],
	['हिन्दी में', 'हिन्दी-में-9e6c.png'],
	['../../{index}.png', 'index-png-9e6c.png'],
])('the prompt %j names the file %s', (prompt, name) => {
	expect(named(prompt)).toBe(name);
});

test('whole words are kept up to 40 characters, and a longer first word is cut', () => {
	const words = 'one two three four five six seven eight nine ten';
	expect(named(words)).toBe('one-two-three-four-five-six-seven-eight-9e6c.png');
	expect(named('狐'.repeat(50))).toBe(`${'狐'.repeat(40)}-9e6c.png`);
	expect(named('𠮷'.repeat(50))).toBe(`${'𠮷'.repeat(40)}-9e6c.png`);
});

test('the task’s ID alone names the file if the prompt has no word, or is not known', () => {
	for (const prompt of ['', ' … ', '🦊🦊', undefined]) {
		expect(named('', { prompt })).toBe(`${TASK}.png`);
	}
});

test('several images of one prompt have their index behind it', () => {
	expect(named('A fox', { index: 2, count: 3 })).toBe('a-fox-9e6c-2.png');
});

test('a name that the user wants has nothing of the prompt', () => {
	const image = { taskId: TASK, prompt: 'A fox', index: 0, count: 1 };
	expect(makeFileName('boat', image, 'png')).toBe('boat.png');
});
