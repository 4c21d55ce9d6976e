import { join } from 'node:path';
import { DEBIAN, hasPython, installLiteLlm } from './interop/litellm';
import { runJest } from './run-jest';

const HELP = `The nodes with a gateway that is not part of this project: LiteLLM.

npm run test:interop                 installs LiteLLM the first time
npm run test:interop -- --needs      names Debian's packages that are missing, and runs nothing
Other arguments go to jest.

It needs Python 3.11 or newer with venv: Debian's package ${DEBIAN}.`;

async function main() {
	const args = process.argv.slice(2);
	if (args.includes('--help')) return console.log(HELP);
	if (args.includes('--needs')) return (await hasPython()) ? undefined : console.log(DEBIAN);
	const config = join('test', 'interop', 'jest.config.js');
	process.exitCode = await runJest(['-c', config, ...args], async () => ({
		INTEROP_PYTHON: await installLiteLlm((text) => console.log(text)),
	}));
}

main().catch((error: unknown) => {
	console.error((error as Error).message);
	process.exitCode = 1;
});
