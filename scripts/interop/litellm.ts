import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runCommand } from '../n8n/command';
import { cacheFolder, dataFolder } from '../n8n/folders';
import { installOnce } from '../n8n/install-once';
import { freePort } from '../n8n/port';
import { startProgram } from '../n8n/services';

/** Debian's package that LiteLLM needs beside pip's packages. */
export const DEBIAN = 'python3-venv';

const REQUIREMENTS = join(__dirname, 'requirements.txt');

/** Succeeds if Python is new enough and can make virtual environments with pip. */
const PROBE = 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))';

/** Whether a Python for LiteLLM is installed. */
export async function hasPython(): Promise<boolean> {
	return await runCommand('python3', ['-c', PROBE]).then(
		() => true,
		() => false,
	);
}

/**
 * Installs LiteLLM, if it is missing, into a virtual environment of Python next to the test's n8n.
 * @param say called with each line of progress
 * @returns the Python of the environment
 * @throws {Error} Python is missing, with the package that brings it; or pip failed, with the end
 * of its output
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
			// The list is complete, and no package runs a build.
			['-m', 'pip', 'install', '--no-deps', '--only-binary', ':all:', '-r', REQUIREMENTS],
			{ heartbeat: () => note('still fetching') },
		);
	});
	return pythonIn(folder);
}

// pip's scripts do not work after the folder was moved.
const pythonIn = (folder: string) => join(folder, 'bin', 'python');

/** A running LiteLLM. */
export interface LiteLlm {
	/** The address for clients; ends in `/v1`. */
	baseUrl: string;
	/** The key that it accepts. */
	masterKey: string;
	/** Ends it. */
	stop: () => Promise<void>;
}

/** The provider of LiteLLM. */
export interface Provider {
	baseUrl: string;
	apiKey: string;
	/** The provider's models, under the names that LiteLLM gives them. */
	models: Record<string, string>;
	/** The models among these that LiteLLM must not stream. */
	withoutStream: string[];
}

const MASTER_KEY = 'sk-interop-master-0001';

/**
 * Starts LiteLLM's proxy on loopback, without a database, telemetry or the internet.
 * @param python the result of {@link installLiteLlm}
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
		args: [
			...[python, '-m', 'litellm.proxy.proxy_cli', '--config', config],
			...['--host', '127.0.0.1', '--port', String(port), '--num_workers', '1'],
		],
		// Not this process's environment, which may name a database, provider keys, or a proxy.
		env: {
			PATH: process.env.PATH,
			HOME: home,
			LITELLM_LOCAL_MODEL_COST_MAP: 'True',
			LITELLM_TELEMETRY: 'False',
			// No server listens there: LiteLLM's requests to the internet fail at once.
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
		// As docs/hosting.md recommends: only the nodes send again.
		litellm_settings: { telemetry: false, num_retries: 0 },
		router_settings: { num_retries: 0, disable_cooldowns: true },
		general_settings: { master_key: MASTER_KEY },
	};
}
