import { SMOKE_VERSIONS } from '../test/e2e/stage/installation';
import { smoke, type Smoke } from '../test/e2e/stage/smoke';

const HELP = `The same short story in several versions of n8n, each installed on first use (3 GB each).

npm run test:versions                  ${SMOKE_VERSIONS.join(', ')}
npm run test:versions -- 2.20.0        these`;

async function main() {
	const words = process.argv.slice(2);
	if (words.includes('--help')) return console.log(HELP);
	const done: Smoke[] = [];
	const failed: string[] = [];
	for (const version of words.length > 0 ? words : SMOKE_VERSIONS) {
		console.log(`\nn8n ${version}`);
		try {
			done.push(await smoke(version, (text) => console.log(`  ${text}`)));
		} catch (error) {
			failed.push(version);
			console.log(`  failed: ${(error as Error).message}`);
		}
	}
	console.log('');
	for (const { version, node, seconds, chatModel } of done) {
		console.log(`n8n ${version} on Node ${node}: all well, ${seconds} s; chat model: ${chatModel}`);
	}
	for (const version of failed) console.log(`n8n ${version}: failed`);
	process.exitCode = failed.length > 0 ? 1 : 0;
}

main().catch((error: unknown) => {
	console.error((error as Error).message);
	process.exitCode = 1;
});
