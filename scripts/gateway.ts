import { startGateway, type Gateway, type GatewayOptions, type RequestRecord } from '../gateway';
import { scripted, startSniffer } from '../gateway/faults/catalogue';
import { realTime } from '../gateway/time';
import { askedToEnd } from './ending';
import { gatewayHelp, readGatewayWishes, type GatewayWishes } from './gateway-options';

const FRIENDLY_PORT = 4040;

/**
 * Starts on the requested port, or else on the default one. If that is taken, it starts on any
 * port.
 */
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

function introduce({ baseUrl, keys, settings }: Gateway, { taskSeconds, profile }: GatewayWishes) {
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
			`${keys.exhausted} (no balance left). Faults on demand: npm run gateway -- --help`,
			...(profile ? [`It runs with the profile "${profile}".`] : []),
			'What it answers: docs/gateway.md',
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
	const wishes = readGatewayWishes(process.argv.slice(2));
	const { help, port, switches, taskSeconds, asyncImages, profile, fault, route, share } = wishes;
	if (help) return console.log(gatewayHelp());
	const gateway = await start(port, {
		...switches,
		profile,
		asyncImages,
		taskSeconds,
		deltaMs: 40,
		onRequest: logLine,
	});
	introduce(gateway, wishes);
	// The target of redirects.
	const elsewhere = fault && (await startSniffer());
	if (fault && elsewhere) {
		const intercept = scripted([{ fault, route, probability: share }], {
			time: realTime,
			elsewhere: elsewhere.origin,
		});
		Object.assign(gateway.settings, { intercept, storageIntercept: intercept });
		console.log(`Fault at ${route ?? 'every request'}: ${fault.name}\n`);
	}
	await askedToEnd();
	await Promise.all([gateway.close(), elsewhere?.close()]);
}

main().catch((error: unknown) => {
	console.error((error as Error).message);
	process.exitCode = 1;
});
