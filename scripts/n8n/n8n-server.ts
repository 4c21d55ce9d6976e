import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Gateway } from '../../gateway';
import { dataFolder } from './folders';
import { installN8n, N8N_VERSION } from './installation';
import { N8n, type Owner } from './n8n';
import { installPackage, packPackage, PROJECT } from './package';

/** The credential of the gateway in n8n: the one that the examples name. */
export const CREDENTIAL = { id: 'modelAccessExample', name: 'Model Access API' };

/** The folder within n8n's user folder that the Read/Write Files node may use. */
export const FILES = '.n8n-files';

/** Options of {@link setUpN8n}. */
export interface N8nServerOptions {
	/** The name of its user folder within {@link dataFolder}. */
	name: string;
	/** Version of n8n. */
	version?: string;
	/** Whether the user folder is emptied first. */
	fresh?: boolean;
	/** An existing tarball of the package; packed anew if absent. */
	tarball?: string;
	/** Added to the environment of n8n and of its commands. */
	env?: Record<string, string>;
	/** Called with each line of progress. */
	say?: (text: string) => void;
}

/** A workflow as n8n exports and imports it. */
export interface WorkflowFile {
	id?: string;
	name: string;
	active?: boolean;
	nodes: Array<{
		name: string;
		type: string;
		typeVersion: number;
		parameters: Record<string, unknown>;
		credentials?: Record<string, unknown>;
		position: [number, number];
		[field: string]: unknown;
	}>;
	connections: Record<string, unknown>;
	settings?: Record<string, unknown>;
	[field: string]: unknown;
}

/** Installs n8n and the packed package. Returns an n8n that can be started. */
export async function setUpN8n({
	name,
	version = N8N_VERSION,
	fresh = false,
	tarball,
	env,
	say = () => {},
}: N8nServerOptions): Promise<N8n> {
	const installation = await installN8n(version, say);
	const data = await dataFolder();
	const userFolder = join(data, name);
	if (fresh) await rm(userFolder, { recursive: true, force: true });
	// The only folder that n8n lets workflows read files from and write them to.
	await mkdir(join(userFolder, FILES), { recursive: true });
	if (tarball === undefined) say('Packing the package');
	const packed = tarball ?? (await packPackage(join(data, 'packed')));
	say('Installing the package into n8n');
	await installPackage(userFolder, packed);
	return new N8n(installation, userFolder, await ownerOf(userFolder), env);
}

/** The owner of a user folder: created at first use, and kept in the folder. */
async function ownerOf(userFolder: string): Promise<Owner> {
	const file = join(userFolder, 'owner.json');
	if (existsSync(file)) return JSON.parse(await readFile(file, 'utf8')) as Owner;
	// n8n requires a capital letter and a digit.
	const owner = { email: 'builder@example.com', password: `Aa1${randomBytes(6).toString('hex')}` };
	await writeFile(file, JSON.stringify(owner));
	return owner;
}

/** Creates or updates the credential of a gateway in n8n's database. */
export async function importCredential(
	n8n: N8n,
	{ baseUrl, keys }: Pick<Gateway, 'baseUrl' | 'keys'>,
): Promise<void> {
	const file = join(n8n.userFolder, 'credential.json');
	const data = { apiKey: keys.active, baseUrl };
	await writeFile(file, JSON.stringify([{ ...CREDENTIAL, type: 'modelAccessApi', data }]));
	await n8n.command(['import:credentials', `--input=${file}`]);
	await rm(file);
}

/** Imports workflows into n8n's database, with their IDs and with {@link CREDENTIAL}. */
export async function importWorkflows(n8n: N8n, workflows: WorkflowFile[]): Promise<void> {
	const folder = join(n8n.userFolder, 'imports');
	await rm(folder, { recursive: true, force: true });
	await mkdir(folder, { recursive: true });
	for (const workflow of workflows) {
		await writeFile(join(folder, `${workflow.id}.json`), JSON.stringify(withCredential(workflow)));
	}
	await n8n.command(['import:workflow', '--separate', `--input=${folder}`]);
	await rm(folder, { recursive: true });
}

/** The workflows of `examples/`; the file name is the ID. */
export async function exampleWorkflows(): Promise<WorkflowFile[]> {
	const folder = join(PROJECT, 'examples');
	const files = (await readdir(folder)).filter((file) => file.endsWith('.json')).sort();
	return await Promise.all(
		files.map(async (file) => {
			const workflow = JSON.parse(await readFile(join(folder, file), 'utf8')) as WorkflowFile;
			return { ...workflow, id: file.replace(/\.json$/, ''), active: false };
		}),
	);
}

/** A workflow with {@link CREDENTIAL} in each of our nodes. */
export function withCredential(workflow: WorkflowFile): WorkflowFile {
	return {
		...workflow,
		nodes: workflow.nodes.map((node) =>
			/\.(modelAccess|lmChatModelAccess)/.test(node.type)
				? { ...node, credentials: { modelAccessApi: CREDENTIAL } }
				: node,
		),
	};
}

/** Changes the schedule of a workflow to a number of seconds. */
export const everySeconds =
	(secondsInterval: number) =>
	(workflow: WorkflowFile): WorkflowFile => ({
		...workflow,
		nodes: workflow.nodes.map((node) =>
			node.type === 'n8n-nodes-base.scheduleTrigger'
				? { ...node, parameters: { rule: { interval: [{ field: 'seconds', secondsInterval }] } } }
				: node,
		),
	});
