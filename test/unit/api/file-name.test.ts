import fc from '../../support/fast-check';
import { withExtension } from '../../../nodes/shared/api/file-name';
import { makeFileName } from '../../../nodes/shared/api/images/file-name';

const ONE = { taskId: 'imgtask_4b1d9e6c', index: 0, count: 1 };
const THIRD = { ...ONE, index: 2, count: 3 };

test.each([
	['after the task where only spaces are wanted', '  ', ONE, 'png', 'imgtask_4b1d9e6c.png'],
	['after a task whose ID is no name', '', { ...ONE, taskId: 'a/b:c' }, 'png', 'a_b_c.png'],
	['as wanted, the index where it is put', 'fox-{index}-red', THIRD, 'png', 'fox-2-red.png'],
	['with the index twice', '{index}_{index}', THIRD, 'png', '2_2.png'],
	['with the extension in its case', 'fox.PNG', ONE, 'png', 'fox.PNG'],
	['with another spelling of the type', 'fox.jpeg', ONE, 'jpg', 'fox.jpeg'],
	['by its bytes, not by its extension in capitals', 'fox.WEBP', ONE, 'gif', 'fox.gif'],
	['with the index before the extension', 'fox.png', THIRD, 'png', 'fox-2.png'],
	['with an index and an extension', '{index}.png', THIRD, 'webp', '2.webp'],
	['with dots that are no extension', 'v1.2', ONE, 'png', 'v1.2.png'],
	['without spaces around, and with those inside', '  red fox  ', ONE, 'png', 'red fox.png'],
	['without a way up', '../../etc/passwd', ONE, 'png', '_.._etc_passwd.png'],
	['without signs that no file may have', 'a<b>c"d|e?f*g:h', ONE, 'png', 'a_b_c_d_e_f_g_h.png'],
	['so that it is not hidden', '.fox', ONE, 'png', 'fox.png'],
	['image where only dots are left', '...', ONE, 'png', 'image.png'],
	['image and index where only dots are left', '..', THIRD, 'png', 'image-2.png'],
])('an image’s file is named %s: %j', (_, wanted, image, extension, name) => {
	expect(makeFileName(wanted, image, extension)).toBe(name);
});

test.each([
	['Brass desk lamp on a walnut table', 'brass-desk-lamp-on-a-walnut-table-9e6c.png'],
	['  A "red" fox,\n(small)! ', 'a-red-fox-small-9e6c.png'],
	['Don’t panic', 'dont-panic-9e6c.png'],
	['赤い狐、雪の中', '赤い狐-雪の中-9e6c.png'],
	['Cafe\u0301 №7', 'café-7-9e6c.png'],
	['हिन्दी में', 'हिन्दी-में-9e6c.png'],
	['../../{index}.png', 'index-png-9e6c.png'],
	// Whole words up to 40 characters; a longer first word is cut.
	[
		'one two three four five six seven 8 9 10 11',
		'one-two-three-four-five-six-seven-8-9-10-9e6c.png',
	],
	['狐'.repeat(50), `${'狐'.repeat(40)}-9e6c.png`],
	['𠮷'.repeat(50), `${'𠮷'.repeat(40)}-9e6c.png`],
	['', 'imgtask_4b1d9e6c.png'],
	[' … ', 'imgtask_4b1d9e6c.png'],
])('where no name is wanted, the prompt %j names the file %s', (prompt, name) => {
	expect(makeFileName('', { ...ONE, prompt }, 'png')).toBe(name);
	const third = makeFileName('', { ...THIRD, prompt }, 'png');
	expect(third).toBe(name.replace('.png', '-2.png'));
});

test('whatever is wanted, each image has a name of its own that every file system takes', () => {
	const pieces = fc.constantFrom('{index}', '.png', '.jpeg', '..', '/', ' ', 'fox', '狐', '🦊');
	const texts = fc.oneof(
		fc.string({ unit: 'binary', maxLength: 300 }),
		fc.string({ unit: 'grapheme', maxLength: 300 }),
		fc.array(pieces, { maxLength: 120 }).map((parts) => parts.join('')),
	);
	const extensions = fc.constantFrom('png', 'jpg', 'webp', 'gif', 'svg');
	const property = fc.property(texts, extensions, (text, extension) => {
		const given = [0, 1, 12].map((index) => ({ ...ONE, index, count: 13 }));
		const names = given.map((image) => makeFileName(text, image, extension));
		expect(new Set(names).size).toBe(3);
		for (const name of names) {
			// eslint-disable-next-line no-control-regex
			expect(name).not.toMatch(/^\.|[\u0000-\u001f\u007f<>:"/\\|?*]/);
			expect(name).toMatch(/.\.[a-z]{3,4}$/i);
			expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255);
		}
	});
	fc.assert(property, { numRuns: 500, examples: [[`${'x'.repeat(300)}{index}`, 'png']] });
});

test('a character is kept or left out, never cut in two', () => {
	for (const text of ['🦊'.repeat(200), 'x' + '🦊'.repeat(200), 'xx狐' + '🦊'.repeat(200)]) {
		const name = makeFileName(text, ONE, 'png');
		expect(Buffer.from(name).toString()).toBe(name);
		expect(name.length).toBeGreaterThan(50);
	}
});

test.each([
	['file', 'pdf', 'file.pdf'],
	['scan.PNG', 'jpg', 'scan.jpg'],
	['scan.jpeg', 'jpg', 'scan.jpeg'],
	['scan.JPG', 'jpg', 'scan.JPG'],
	['v1.2', 'png', 'v1.2.png'],
	['download.bin', 'pdf', 'download.pdf'],
])('the file %s with the bytes of a %s is sent as %s', (name, extension, sent) => {
	expect(withExtension(name, extension)).toBe(sent);
});
