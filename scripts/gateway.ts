import { startGateway, type Gateway, type GatewayOptions, type RequestRecord } from '../gateway';
import { askedToEnd } from './ending';

const FRIENDLY_PORT = 4040;

/** `--port N` and `--task-seconds N` of the command line. */
function readArguments(words: string[]): { port?: number; taskSeconds: number } {
	const numberAfter = (name: string) => {
		const at = words.indexOf(name);
		if (at < 0) return undefined;
		const value = Number(words[at + 1]);
		if (Number.isFinite(value) && value >= 0) return value;
		throw new Error(`${name} needs a number`);
	};
	return { port: numberAfter('--port'), taskSeconds: numberAfter('--task-seconds') ?? 6 };
}

/** Starts on the port that was asked for, or on the friendly one, or, if that is taken, on any. */
async function start(port: number | undefined, options: GatewayOptions): Promise<Gateway> {
	if (port !== undefined) return await startGateway({ ...options, port });
	try {
		return await startGateway({ ...options, port: FRIENDLY_PORT });
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
		console.log(`Port ${FRIENDLY_PORT} is taken, so another one is used.\n`);
		return await startGateway(options);
	}
}

function logLine({
	method,
	path,
	key,
	status,
	fault,
	startedAt,
	endedAt = startedAt,
	id,
}: RequestRecord) {
	const outcome = status ?? fault ?? 'cut';
	const clock = new Date(endedAt).toTimeString().slice(0, 8);
	const who = key ? `key ${key}` : 'no known key';
	console.log(
		`${clock}  ${outcome}  ${method} ${path}  (${who}, ${endedAt - startedAt} ms, ${id})`,
	);
}

function introduce({ baseUrl, keys, settings }: Gateway, taskSeconds: number) {
	const models = (ability: 'text' | 'images') =>
		Object.entries(settings.models)
			.filter(([, can]) => can[ability])
			.map(([id]) => id)
			.join(', ');
	console.log(
		[
			'The Model Access gateway is running. Paste this into the credential "Model Access API":',
			'',
			`  Base URL  ${baseUrl}`,
			`  API Key   ${keys.active}`,
			'',
			`Text models   ${models('text')}`,
			`Image models  ${models('images')}`,
			`An image takes ${taskSeconds} s. Other keys: ${keys.textOnly} (text only), ${keys.revoked} (revoked),`,
			`${keys.exhausted} (no balance left). What can be asked of it: gateway/README.md`,
			'',
			'Try it:',
			`  curl -H 'Authorization: Bearer ${keys.active}' -H 'Content-Type: application/json' \\`,
			`    -d '{"model":"aurora-text-1","input":"Write an image prompt for a lighthouse"}' ${baseUrl}/responses`,
			'',
			'Ctrl-C stops it.',
			'',
		].join('\n'),
	);
}

async function main() {
	const { port, taskSeconds } = readArguments(process.argv.slice(2));
	const gateway = await start(port, { taskSeconds, deltaMs: 40, onRequest: logLine });
	introduce(gateway, taskSeconds);
	await askedToEnd();
	await gateway.close();
}

main().catch((error: unknown) => {
	console.error((error as Error).message);
	process.exitCode = 1;
});
