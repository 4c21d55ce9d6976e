import type { IDataObject } from 'n8n-workflow';

import { drawImage, type FormRecord } from '../../gateway';
import { editImage, file, shown, sourceFiles, sourceUrls, useHarness } from './arrange';

const harness = useHarness();

const picture = (prompt: string) =>
	file(drawImage({ prompt, index: 0, width: 24, height: 16 }), `${prompt}.png`);
const items = [{ json: {}, binary: { a: picture('boat'), b: picture('tree'), c: picture('sun') } }];

const URL = 'https://a.example/1.png';
const byFile = { source: 'binary', binaryPropertyName: 'a' };
const byUrl = { source: 'url', url: URL };
const rows = (...image: IDataObject[]) => editImage({ images: { image } });

/** The body of the edit that was sent. */
async function sent(parameters: IDataObject): Promise<IDataObject> {
	await harness.image({ ...parameters, waitForCompletion: false }, { items });
	expect(harness.gateway.count()).toBe(1);
	return harness.bodies('edits')[0]!;
}

test('Files are uploaded in the order of their rows', async () => {
	const { files } = (await sent(editImage(sourceFiles('c', 'a', 'b')))) as unknown as FormRecord;
	expect(files.map(({ fileName }) => fileName)).toEqual(['sun.png', 'boat.png', 'tree.png']);
});

test('One row takes all files of an item by an expression', async () => {
	const all = editImage(sourceFiles('={{ Object.keys($binary) }}'));
	const { files } = (await sent(all)) as unknown as FormRecord;
	expect(files.map(({ fileName }) => fileName)).toEqual(['boat.png', 'tree.png', 'sun.png']);
});

test('Addresses are named in the order of their rows, also those of a list from an expression', async () => {
	const { images } = await sent(editImage(sourceUrls(URL, `={{ ["${URL}?2", "${URL}?3"] }}`)));
	expect(images).toEqual([URL, `${URL}?2`, `${URL}?3`].map((image_url) => ({ image_url })));
});

const OTHER_SOURCE = /^The images are .*, or remove the option\.$/;

test.each<[string, IDataObject, RegExp]>([
	['Images mix binary files and URLs', rows(byFile, byUrl), /^An edit takes either files or URLs/],
	['Images mix binary files and URLs', rows(byUrl, byFile), /the same source for all images/],
	['Images holds no image', rows(), /^Add an image/],
	['Images holds no image', editImage({ images: {} }), /^Add an image/],
	[
		'Image 2: Input Binary Field is empty',
		rows(byFile, { source: 'binary', binaryPropertyName: '' }),
		/^Enter/,
	],
	['Image 2: URL is empty', rows(byUrl, { source: 'url', url: '' }), /^Enter the URL/],
	[
		'Image 1: URL is an object, not a text',
		rows({ source: 'url', url: '={{ ({ a: 1 }) }}' }),
		/^Write/,
	],
	['Image 1: Source is a list, not a text', rows({ source: '={{ [1] }}' }), /^Write/],
	[
		'Mask URL does not have the same source as Images',
		{ ...rows(byFile), options: { maskUrl: URL } },
		OTHER_SOURCE,
	],
	[
		'Mask Binary Field does not have the same source as Images',
		{ ...rows(byUrl), options: { maskBinaryPropertyName: 'a' } },
		OTHER_SOURCE,
	],
])('%s: nothing is sent', async (message, parameters, advice) => {
	const error = shown(await harness.imageError(parameters, { items }));
	expect([error.message, error.description]).toEqual([message, expect.stringMatching(advice)]);
	expect(harness.gateway.count()).toBe(0);
});
