import { SMOKE_VERSIONS } from './n8n/installation';
import { smoke, type Smoke } from './n8n/smoke';
import { askedToEnd } from './ending';

const HELP = `Runs the smoke test in several versions of n8n, each installed on first use (3 GB each).

npm run test:versions                  ${SMOKE_VERSIONS.join(', ')}
npm run test:versions -- 2.20.0        these`;

/** A row of the table of results. */
const row = (...cells: string[]) => `| ${cells.join(' | ')} |`;

async function resultOf(version: string): Promise<Smoke | undefined> {
	console.log(`\nn8n ${version}`);
	try {
		return await smoke(version, (text) => console.log(`  ${text}`));
	} catch (error) {
		console.log(`  failed: ${(error as Error).message}`);
		return undefined;
	}
}

async function main() {
	const args = process.argv.slice(2);
	if (args.includes('--help')) return console.log(HELP);
	void askedToEnd().then(() => process.exit(1));
	const table = [row('n8n', 'Node', 'smoke test', 'chat model'), row('---', '---', '---', '---')];
	for (const version of args.length > 0 ? args : SMOKE_VERSIONS) {
		const result = await resultOf(version);
		if (!result) process.exitCode = 1;
		table.push(
			result
				? row(version, result.node, `passed in ${result.seconds} s`, result.chatModel)
				: row(version, '', 'failed', ''),
		);
	}
	console.log(`\n${table.join('\n')}`);
}

main().catch((error: unknown) => {
	console.error((error as Error).message);
	process.exitCode = 1;
});
