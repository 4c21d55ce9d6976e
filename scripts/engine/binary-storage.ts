import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { BinaryDataConfig, BinaryDataService, ErrorReporter } from 'n8n-core';
import type { IBinaryData } from 'n8n-workflow';

import { Container, Logger } from './core-modules';
import { prepareHost } from './host';

/** The place where n8n keeps binary data in this process. */
export interface BinaryStorage {
	/** The folder on disk; empty in memory mode. */
	folder: string;
	/** The sorted paths of all files in the folder, relative to it: data and `.metadata`. */
	files: () => Promise<string[]>;
	/** Removes the folder and returns to memory mode. */
	remove: () => Promise<void>;
}

/** Keeps binary data in files of a new temporary folder, as n8n does by default. */
export async function storeBinaryOnDisk(): Promise<BinaryStorage> {
	const folder = await mkdtemp(join(tmpdir(), 'n8n-binary-'));
	await startService('filesystem', folder);
	return {
		folder,
		files: async () => await filesIn(folder),
		remove: async () => {
			await storeBinaryInMemory();
			await rm(folder, { recursive: true, force: true });
		},
	};
}

/** Keeps binary data inside the items, base64-encoded: n8n's mode called "default". */
export async function storeBinaryInMemory(): Promise<BinaryStorage> {
	// This mode stores nothing on disk, but n8n opens its folder anyway.
	const folder = await mkdtemp(join(tmpdir(), 'n8n-binary-'));
	await startService('default', folder);
	await rm(folder, { recursive: true, force: true });
	return { folder: '', files: async () => [], remove: async () => undefined };
}

async function startService(mode: BinaryDataConfig['mode'], folder: string) {
	prepareHost();
	const config = Container.get(BinaryDataConfig);
	Object.assign(config, { mode, localStoragePath: folder });
	const service = new BinaryDataService(
		config,
		Container.get(ErrorReporter),
		Container.get(Logger),
	);
	await service.init();
	Container.set(BinaryDataService, service);
}

/** The bytes of an entry of an item's `binary`, in either mode. */
export async function readBinary(entry: IBinaryData | undefined): Promise<Buffer> {
	if (!entry) throw new Error('The item has no such file');
	prepareHost();
	return await Container.get(BinaryDataService).getAsBuffer(entry);
}

async function filesIn(folder: string): Promise<string[]> {
	const entries = await readdir(folder, { recursive: true, withFileTypes: true });
	return entries
		.filter((entry) => entry.isFile())
		.map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
		.sort();
}
