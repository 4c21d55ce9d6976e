import { existsSync, realpathSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join, sep } from 'node:path';
import type { Installation } from './installation';
import { until } from './until';

/** The script for `node --require` that records resolutions. */
export const RESOLUTIONS_SCRIPT = join(__dirname, 'record-resolutions.js');

/** A module that the bundle requires from n8n, as n8n's process found it. */
interface Resolution {
	pid: number;
	name: string;
	/** Its file; absent if n8n has none. */
	found?: string;
	/** Node's error code, if the module was not found. */
	fault?: string;
}

/** The modules that the bundle must get from n8n, and those that it may get. */
const NEEDED = ['n8n-workflow', '@n8n/ai-node-sdk'];

/** The package uses modules from outside the n8n that it is installed in. */
export class ForeignModules extends Error {}

/** The files of n8n's modules that the bundle found, in each process of one n8n. */
export class Resolutions {
	/** @param file the file that {@link RESOLUTIONS_SCRIPT} writes to: its `N8N_RESOLUTIONS` */
	constructor(
		private readonly installation: Installation,
		readonly file: string,
	) {}

	/** Deletes the record of earlier processes. */
	async reset(): Promise<void> {
		await rm(this.file, { force: true });
	}

	/**
	 * Checks that each module comes from the installation of this n8n.
	 * @throws {ForeignModules} one comes from elsewhere, or is missing; with the paths
	 * @throws {Error} n8n did not load the bundle
	 */
	async check(): Promise<void> {
		const all = await until('n8n has loaded the package', () => this.readWhole(), 20);
		const faults = new Set(all.map((one) => this.faultOf(one)));
		faults.delete(undefined);
		if (faults.size > 0) throw new ForeignModules([...faults].join('\n'));
	}

	/**
	 * Checks that a running n8n did not load the bundle.
	 * @throws {Error} it did
	 */
	async checkNone(): Promise<void> {
		if ((await this.read()).length > 0) throw new Error('n8n has loaded the package');
	}

	/** The record, once it has every module that the bundle needs. */
	private async readWhole(): Promise<Resolution[] | undefined> {
		const all = await this.read();
		return NEEDED.every((name) => all.some((one) => one.name === name)) ? all : undefined;
	}

	/** The record until now. */
	private async read(): Promise<Resolution[]> {
		const text = await readFile(this.file, 'utf8').catch(() => '');
		return text
			.split('\n')
			.filter((line) => line !== '')
			.map((line) => JSON.parse(line) as Resolution);
	}

	private faultOf({ name, found, fault }: Resolution): string | undefined {
		const modules = join(realpathSync(this.installation.folder), 'node_modules');
		if (found?.startsWith(modules + sep)) return undefined;
		if (found !== undefined) {
			return `The package takes ${name} from ${found}, not from n8n's own modules in ${modules}`;
		}
		// An older n8n lacks some modules.
		if (!existsSync(join(modules, name))) return undefined;
		return `The package does not find ${name} (${fault}), which n8n has in ${modules}`;
	}
}
