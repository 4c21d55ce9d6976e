import 'reflect-metadata';
import { createRequire } from 'node:module';
import type { IExecuteFunctions, INodeType } from 'n8n-workflow';
import type { Resource } from '../nodes/shared/n8n/runner/operation';
import { execute } from '../nodes/shared/n8n/runner/run-items';
import { runChaos, type ChaosOptions } from '../test/chaos/chaos';
import type { VirtualTime } from './engine/virtual-time';

/**
 * A node of this package on a driven clock. It is loaded by its full file name. Without the
 * extension, Node would load the JSON file beside it.
 */
function nodeOf(name: 'ModelAccess' | 'ModelAccessImage') {
	const loaded = createRequire(__filename)(`../nodes/${name}/${name}.node.ts`) as {
		resources: Resource[];
	} & Record<typeof name, new () => INodeType>;
	const { description, methods } = new loaded[name]();
	return (time: VirtualTime): INodeType => ({
		description,
		methods,
		async execute(this: IExecuteFunctions) {
			return await execute(this, loaded.resources, time);
		},
	});
}

/** `--items N`, `--seed N` and `--profile real` of the command line. */
function readArguments(args: string[]): Pick<ChaosOptions, 'items' | 'seed' | 'profile'> {
	const numberAfter = (name: string, fallback: number) => {
		const at = args.indexOf(name);
		if (at < 0) return fallback;
		const value = Number(args[at + 1]);
		if (Number.isSafeInteger(value) && value >= 0) return value;
		throw new Error(`${name} needs a whole number`);
	};
	const seed = Math.floor(Math.random() * 2 ** 31);
	const at = args.indexOf('--profile');
	if (at >= 0 && args[at + 1] !== 'real') throw new Error('--profile needs: real');
	return {
		items: numberAfter('--items', 1000),
		seed: numberAfter('--seed', seed),
		profile: at < 0 ? undefined : 'real',
	};
}

async function main() {
	const { items, seed, profile } = readArguments(process.argv.slice(2));
	const like = profile ? ` --profile ${profile}` : '';
	console.log(`${items} items with seed ${seed}; 30% of all exchanges go wrong.`);
	const started = Date.now();
	const report = await runChaos({
		items,
		seed,
		profile,
		nodes: { text: nodeOf('ModelAccess'), image: nodeOf('ModelAccessImage') },
		onBatch: (done) => console.log(`  ${done} of ${items}`),
	});
	const faults = Object.entries(report.faults).sort(([, a], [, b]) => b - a);
	const happened = faults.reduce((sum, [, count]) => sum + count, 0);
	console.log(
		[
			'',
			`${report.exchanges} exchanges, ${happened} of them faulty, in ${Math.round(report.seconds)} s of driven and ${Math.round((Date.now() - started) / 1000)} s of real time.`,
			`${report.fulfilled} items succeeded, ${report.failed} failed.`,
			`The heap grew by ${(report.growth / 2 ** 20).toFixed(1)} MB.`,
			'',
			...faults.map(([name, count]) => `${String(count).padStart(6)}  ${name}`),
			'',
		].join('\n'),
	);
	if (report.violations.length === 0) {
		console.log('No request was paid twice, no task was lost, every image belongs to its prompt.');
		return;
	}
	console.error(
		[
			`${report.violations.length} violations:`,
			...report.violations.slice(0, 50).map((violation) => `  ${violation}`),
			`To repeat it: npm run chaos -- --items ${items} --seed ${seed}${like}`,
		].join('\n'),
	);
	process.exitCode = 1;
}

main().catch((error: unknown) => {
	console.error(error);
	process.exitCode = 1;
});
