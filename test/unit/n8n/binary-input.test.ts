import type { IBinaryData, IExecuteFunctions } from 'n8n-workflow';
import { Readable } from 'node:stream';
import { inChunks } from '../api/recorded-streams';
import { dataUrl, readInputFile } from '../../../nodes/shared/n8n/fields/binary-input';
import { binaryReferences, referenceName } from '../../../nodes/shared/n8n/fields/binary-reference';

const FIELD = 'Input Binary Field';
const PNG = Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), Buffer.alloc(300, 1)]);

/** n8n's helpers over files: those in memory have `data`, those in its storage an ID. */
function contextWith(files: Record<string, IBinaryData>, stored: Record<string, Buffer> = {}) {
	const chunkSizes: Array<number | undefined> = [];
	const helpers = {
		assertBinaryData(_item: number, reference: string | IBinaryData) {
			const file = typeof reference === 'string' ? files[reference] : reference;
			if (!file) throw new Error('n8n knows no such field');
			return file;
		},
		async getBinaryDataBuffer(_item: number, reference: string | IBinaryData) {
			const file = typeof reference === 'string' ? files[reference] : reference;
			return Buffer.from(file?.data ?? '', 'base64');
		},
		async getBinaryStream(id: string, chunkSize?: number) {
			chunkSizes.push(chunkSize);
			return Readable.from([...inChunks(stored[id]!, 100)]);
		},
	};
	const getInputData = () => [{ json: {}, binary: files }];
	return { context: { helpers, getInputData } as unknown as IExecuteFunctions, chunkSizes };
}

const inMemory = (bytes: Buffer, given: Partial<IBinaryData> = {}): IBinaryData => {
	return { data: bytes.toString('base64'), mimeType: 'image/png', ...given };
};

const bytesOf = async (blob: Blob) => Buffer.from(await blob.arrayBuffer());

describe('The files that a parameter names', () => {
	const file = inMemory(PNG, { fileName: 'a.png' });

	test.each<[string, unknown, unknown[]]>([
		['one name', 'data', ['data']],
		['names separated by commas', ' a, b ,,c, ', ['a', 'b', 'c']],
		['a number', 7, ['7']],
		['a list of names', ['a', 'b,c'], ['a', 'b', 'c']],
		['a file', file, [file]],
		['a list of files and names', [file, 'b'], [file, 'b']],
	])('may be %s', (_name, value, expected) => {
		expect(binaryReferences(value, FIELD)).toEqual(expected);
	});

	test('are not nothing', () => {
		for (const value of ['', ' ', [], [null, ''], null, undefined])
			expect(() => binaryReferences(value, FIELD)).toThrow(`${FIELD} is empty`);
		expect(() => binaryReferences(' , ', FIELD)).toThrow(`${FIELD} names no binary field`);
	});

	test('are called by their field, else by their file', () => {
		const names = ['data', file, inMemory(PNG)].map(referenceName);
		expect(names).toEqual(['data', 'a.png', 'binary data']);
	});
});

describe('A file of an item', () => {
	test('in memory is read whole, its type by its bytes', async () => {
		const data = inMemory(PNG, { fileName: 'a.txt', mimeType: 'text/plain' });
		const file = await readInputFile(contextWith({ data }).context, 0, 'data', FIELD);
		expect(file).toMatchObject({ name: 'a.png', mimeType: 'image/png' });
		expect(file.bytes.type).toBe('image/png');
		expect(await bytesOf(file.bytes)).toEqual(PNG);
		expect(await dataUrl(file)).toBe(`data:image/png;base64,${PNG.toString('base64')}`);
	});

	test('in the storage is read piece by piece, by its ID', async () => {
		const { context, chunkSizes } = contextWith(
			{ data: { id: 'filesystem-v2:1', data: 'filesystem-v2', mimeType: 'image/png' } },
			{ 'filesystem-v2:1': PNG },
		);
		const file = await readInputFile(context, 0, 'data', FIELD);
		expect(await bytesOf(file.bytes)).toEqual(PNG);
		expect(chunkSizes).toEqual([1024 * 1024]);
	});

	const TEXT = { mimeType: 'text/plain' };
	const CSV = { fileExtension: 'csv', mimeType: 'text/csv' };
	const UNKNOWN = { mimeType: '' };

	test.each<[string, Partial<IBinaryData>, string | Buffer, name: string, type: string]>([
		['its own', { fileName: 'boat.png' }, PNG, 'boat.png', 'image/png'],
		['that of its bytes', { fileExtension: 'txt' }, PNG, 'file.png', 'image/png'],
		['that of its extension', CSV, 'a,b', 'file.csv', 'text/csv'],
		['a general one', UNKNOWN, '??', 'file.bin', 'application/octet-stream'],
		['that of its bytes, which are no image', TEXT, '%PDF-1.7', 'file.pdf', 'application/pdf'],
	])('has a name: %s', async (_name, given, bytes, name, mimeType) => {
		const { context } = contextWith({ data: inMemory(Buffer.from(bytes), given) });
		expect(await readInputFile(context, 0, 'data', FIELD)).toMatchObject({ name, mimeType });
	});

	test('is told from another one without its bytes being kept', async () => {
		const { context } = contextWith({
			a: inMemory(PNG),
			same: inMemory(PNG, { fileName: 'b.png' }),
			other: inMemory(Buffer.concat([PNG, PNG])),
		});
		const [a, same, other] = await Promise.all(
			['a', 'same', 'other'].map(async (name) => await readInputFile(context, 0, name, FIELD)),
		);
		expect(same?.identity).toBe(a?.identity);
		expect(other?.identity).not.toBe(a?.identity);
		expect(a?.identity.length).toBeLessThan(100);
	});

	test.each<[string, string | IBinaryData, string]>([
		['that is not there', 'photo', `${FIELD} "photo" is not a binary field of the item`],
		['that is empty', 'none', `${FIELD} "none" is empty`],
	])('%s is refused by name', async (_name, reference, message) => {
		const { context } = contextWith({ none: inMemory(Buffer.alloc(0)) });
		await expect(readInputFile(context, 0, reference, FIELD)).rejects.toMatchObject({
			message,
			details: { retryable: false, advice: expect.stringMatching(/\.$/) as string },
		});
	});
});
