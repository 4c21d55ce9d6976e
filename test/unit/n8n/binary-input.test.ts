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
	const assertBinaryData = (_item: number, name: string) => {
		if (!files[name]) throw new Error('n8n knows no such field');
		return files[name];
	};
	const helpers = {
		assertBinaryData,
		getBinaryDataBuffer: async (item: number, name: string) =>
			await Promise.resolve(Buffer.from(assertBinaryData(item, name).data, 'base64')),
		getBinaryStream: async (id: string, chunkSize?: number) => {
			chunkSizes.push(chunkSize);
			return await Promise.resolve(Readable.from([...inChunks(stored[id]!, 100)]));
		},
	};
	const getInputData = () => [{ json: {}, binary: files }];
	return { context: { helpers, getInputData } as unknown as IExecuteFunctions, chunkSizes };
}

const inMemory = (bytes: Buffer, given: Partial<IBinaryData> = {}): IBinaryData => {
	return { data: bytes.toString('base64'), mimeType: 'image/png', ...given };
};

/** Reads the field `data`, which holds these bytes. */
const read = async (bytes: Buffer, given: Partial<IBinaryData> = {}, name = 'data') =>
	await readInputFile(contextWith({ data: inMemory(bytes, given) }).context, 0, name, FIELD);

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
		const file = await read(PNG, { fileName: 'a.txt', mimeType: 'text/plain' });
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
		expect(await read(Buffer.from(bytes), given)).toMatchObject({ name, mimeType });
	});

	test('is told from another one without its bytes being kept', async () => {
		const [one, same, other] = [
			await read(PNG),
			await read(PNG, { fileName: 'b.png' }),
			await read(Buffer.concat([PNG, PNG])),
		];
		expect(same.identity).toBe(one.identity);
		expect(other.identity).not.toBe(one.identity);
		expect(one.identity.length).toBeLessThan(100);
	});

	test.each([
		['that is not there', 'photo', `${FIELD} "photo" is not a binary field of the item`],
		['that is empty', 'data', `${FIELD} "data" is empty`],
	])('%s is refused by name', async (_, name, message) => {
		const advice = expect.stringMatching(/\.$/) as string;
		const refusal = { message, details: { retryable: false, advice } };
		await expect(read(Buffer.alloc(0), {}, name)).rejects.toMatchObject(refusal);
	});
});
