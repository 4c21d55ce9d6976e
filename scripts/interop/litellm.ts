import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runCommand } from '../n8n/command';
import { cacheFolder, dataFolder } from '../n8n/folders';
import { installOnce } from '../n8n/install-once';
import { freePort } from '../n8n/port';
import { startProgram } from '../n8n/services';

/** Debian's package of what LiteLLM needs beside what pip installs. */
export const DEBIAN = 'python3-venv';

const REQUIREMENTS = join(__dirname, 'requirements.txt');

/** Ends well where Python is new enough for the list, and can make virtual environments with pip. */
const PROBE = 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))';

/** Whether Python is here as LiteLLM needs it. */
export async function hasPython(): Promise<boolean> {
	return await runCommand('python3', ['-c', PROBE]).then(
		() => true,
		() => false,
	);
}

/**
 * Makes sure that LiteLLM is on the disk, in a virtual environment of Python beside the trial's n8n.
 * @param say told what is going on, a line each
 * @returns the Python of the environment
 * @throws {Error} Python is missing, with the package that brings it; or pip failed, with the end of
 * its output
 */
export async function installLiteLlm(say: (text: string) => void): Promise<string> {
	if (!(await hasPython())) {
		throw new Error(`LiteLLM needs Python 3.11 or newer with venv: apt-get install ${DEBIAN}`);
	}
	const hash = createHash('sha256')
		.update(await readFile(REQUIREMENTS))
		.update(await runCommand('python3', ['-c', 'import sys; print(sys.version, sys.base_prefix)']))
		.digest('hex');
	const folder = join(await cacheFolder(), `litellm-${hash.slice(0, 8)}`);
	await installOnce({ name: 'LiteLLM', folder, size: '800 MB', say }, async (place, note) => {
		await runCommand('python3', ['-m', 'venv', place]);
		note('fetching the packages');
		await runCommand(
			pythonIn(place),
			// The list is whole, and nothing is run to build a package.
			['-m', 'pip', 'install', '--no-deps', '--only-binary', ':all:', '-r', REQUIREMENTS],
			{ heartbeat: () => note('still fetching') },
		);
	});
	return pythonIn(folder);
}

// Of what pip puts beside it, nothing works after the folder was moved.
const pythonIn = (folder: string) => join(folder, 'bin', 'python');

/** A running LiteLLM. */
export interface LiteLlm {
	/** The address to give to a client; ends in `/v1`. */
	baseUrl: string;
	/** The key that it accepts. */
	masterKey: string;
	/** Ends it. */
	stop: () => Promise<void>;
}

/** Where LiteLLM gets its answers. */
export interface Provider {
	baseUrl: string;
	apiKey: string;
	/** The provider's models, under the names that LiteLLM gives them. */
	models: Record<string, string>;
	/** Of these, the ones that LiteLLM is told cannot stream. */
	withoutStream: string[];
}

const MASTER_KEY = 'sk-interop-master-0001';

/**
 * Starts LiteLLM's proxy on loopback, without a database, telemetry or the internet.
 * @param python of {@link installLiteLlm}
 * @throws {Error} it did not answer within 60 s; with the end of its log
 */
export async function startLiteLlm(python: string, provider: Provider): Promise<LiteLlm> {
	const home = join(await dataFolder(), 'litellm');
	await mkdir(home, { recursive: true });
	const config = join(home, 'config.yaml');
	await writeFile(config, JSON.stringify(configFor(provider)));
	const port = await freePort();
	const origin = `http://127.0.0.1:${port}`;
	const stop = await startProgram({
		words: [
			...[python, '-m', 'litellm.proxy.proxy_cli', '--config', config],
			...['--host', '127.0.0.1', '--port', String(port), '--num_workers', '1'],
		],
		// Not this process's own, which may name a database, keys of providers, or a proxy.
		env: {
			PATH: process.env.PATH,
			HOME: home,
			LITELLM_LOCAL_MODEL_COST_MAP: 'True',
			LITELLM_TELEMETRY: 'False',
			// No server is there: what LiteLLM wants to fetch from the internet fails at once.
			HTTPS_PROXY: 'http://127.0.0.1:9',
		},
		isReady: async () =>
			await fetch(`${origin}/health/liveliness`).then(
				({ ok }) => ok,
				() => false,
			),
		logFile: join(home, 'litellm.log'),
		ending: 'SIGTERM',
		killing: 'SIGKILL',
	});
	return { baseUrl: `${origin}/v1`, masterKey: MASTER_KEY, stop };
}

/** LiteLLM's settings, as JSON, which is YAML. */
function configFor({ baseUrl, apiKey, models, withoutStream }: Provider): object {
	return {
		model_list: Object.entries(models).map(([name, model]) => ({
			model_name: name,
			litellm_params: { model: `openai/${model}`, api_base: baseUrl, api_key: apiKey },
			...(withoutStream.includes(name) && { model_info: { supports_native_streaming: false } }),
		})),
		// As docs/hosting.md advises: the nodes alone decide what is sent again.
		litellm_settings: { telemetry: false, num_retries: 0 },
		router_settings: { num_retries: 0, disable_cooldowns: true },
		general_settings: { master_key: MASTER_KEY },
	};
}
