import fc from '../../support/fast-check';
import { makeFileName } from '../../../nodes/shared/api/images/file-name';

const ONE = { taskId: 'task_1', index: 0, count: 1 };
const THIRD = { taskId: 'task_1', index: 2, count: 3 };

describe('an image’s file is named', () => {
	test.each([
		['after the task where nothing is wanted', '', ONE, 'png', 'task_1.png'],
		['after the task where only spaces are wanted', '  ', ONE, 'png', 'task_1.png'],
		['after a task whose ID is no name', '', { ...ONE, taskId: 'a/b:c' }, 'png', 'a_b_c.png'],
		['after the task and its index among several', '', THIRD, 'png', 'task_1-2.png'],
		['as wanted', 'fox', ONE, 'png', 'fox.png'],
		['as wanted, with the index among several', 'fox', THIRD, 'png', 'fox-2.png'],
		['as wanted, the index where it is put', 'fox-{index}-red', THIRD, 'png', 'fox-2-red.png'],
		['with the index of one image', 'fox-{index}', ONE, 'png', 'fox-0.png'],
		['with the index twice', '{index}_{index}', THIRD, 'png', '2_2.png'],
		['with the extension once', 'fox.png', ONE, 'png', 'fox.png'],
		['with the extension in its case', 'fox.PNG', ONE, 'png', 'fox.PNG'],
		['with another spelling of the type', 'fox.jpeg', ONE, 'jpg', 'fox.jpeg'],
		['by its bytes, not by its extension', 'fox.png', ONE, 'jpg', 'fox.jpg'],
		['by its bytes, not by its extension in capitals', 'fox.WEBP', ONE, 'gif', 'fox.gif'],
		['with the index before the extension', 'fox.png', THIRD, 'png', 'fox-2.png'],
		['with an index and an extension', '{index}.png', THIRD, 'webp', '2.webp'],
		['with dots that are no extension', 'v1.2', ONE, 'png', 'v1.2.png'],
		['with an extension of no image', 'archive.tar', ONE, 'png', 'archive.tar.png'],
		['without spaces around', '  fox  ', ONE, 'png', 'fox.png'],
		['with spaces inside', 'red fox', ONE, 'png', 'red fox.png'],
		['in any script', '赤い狐', ONE, 'png', '赤い狐.png'],
		['without folders', 'a/b\\c', ONE, 'png', 'a_b_c.png'],
		['without a way up', '../../etc/passwd', ONE, 'png', '_.._etc_passwd.png'],
		['without a drive', 'C:fox', ONE, 'png', 'C_fox.png'],
		['without signs that a file system refuses', 'a<b>c"d|e?f*g', ONE, 'png', 'a_b_c_d_e_f_g.png'],
		['without control characters', 'a\u0000b\nc', ONE, 'png', 'a_b_c.png'],
		['so that it is not hidden', '.fox', ONE, 'png', 'fox.png'],
		['image where only dots are left', '...', ONE, 'png', 'image.png'],
		['image and index where only dots are left', '..', THIRD, 'png', 'image-2.png'],
	])('%s: %j', (_, wanted, picture, extension, name) => {
		expect(makeFileName(wanted, picture, extension)).toBe(name);
	});
});

describe('whatever is wanted', () => {
	const pieces = fc.constantFrom('{index}', '.png', '.jpeg', '..', '/', ' ', 'fox', '狐', '🦊');
	const wanted = fc.oneof(
		fc.string({ unit: 'binary', maxLength: 300 }),
		fc.string({ unit: 'grapheme', maxLength: 300 }),
		fc.array(pieces, { maxLength: 120 }).map((parts) => parts.join('')),
	);
	const extension = fc.constantFrom('png', 'jpg', 'webp', 'gif', 'svg');

	test('the name is one that every file system takes', () => {
		fc.assert(
			fc.property(wanted, fc.nat(12), extension, (text, index, type) => {
				const name = makeFileName(text, { taskId: 'task_1', index, count: 13 }, type);
				// eslint-disable-next-line no-control-regex
				expect(name).not.toMatch(/[\u0000-\u001f\u007f<>:"/\\|?*]/);
				expect(name).not.toMatch(/^\./);
				expect(name).toMatch(/.\.[a-z]{3,4}$/i);
				expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255);
			}),
			{ numRuns: 500 },
		);
	});

	test('a character is kept or left out, never cut in two', () => {
		for (const text of ['🦊'.repeat(200), 'x' + '🦊'.repeat(200), 'xx狐' + '🦊'.repeat(200)]) {
			const name = makeFileName(text, ONE, 'png');
			expect(Buffer.from(name).toString()).toBe(name);
			expect(name.length).toBeGreaterThan(50);
		}
	});

	test('several images have several names', () => {
		const namesOf = (text: string, type: string) =>
			[0, 1, 2].map((index) => makeFileName(text, { ...THIRD, index }, type));
		fc.assert(
			fc.property(wanted, extension, (text, type) => {
				expect(new Set(namesOf(text, type)).size).toBe(3);
			}),
			{ numRuns: 500 },
		);
		expect(new Set(namesOf(`${'x'.repeat(300)}{index}`, 'png')).size).toBe(3);
	});
});
