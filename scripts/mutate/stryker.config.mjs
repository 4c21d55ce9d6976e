/**
 * What all runs of `npm run mutate` have in common. `scripts/mutate.ts` adds the file, its tests and
 * the file of its results.
 * @type {import('@stryker-mutator/api/core').PartialStrykerOptions}
 */
export default {
	testRunner: 'jest',
	// Only those tests run for a mutant that reach it.
	coverageAnalysis: 'perTest',
	ignoreStatic: false,
	jest: { configFile: 'scripts/mutate/jest.config.js', enableFindRelatedTests: false },
	incremental: true,
	// Stryker ends loops by the number of their rounds, jest ends a test that waits. So this limit is
	// for the rest; on a machine with other work a low one would count survivors as noticed.
	timeoutMS: 180_000,
	// jest leaves memory behind each time it loads n8n's engine.
	maxTestRunnerReuse: 20,
	reporters: ['progress-append-only'],
	tempDirName: '.stryker-tmp',
	cleanTempDir: 'always',
	ignorePatterns: ['/dist', '/docs', '/examples', '/demo-output', '/coverage', '/.e2e', '/reports'],
	allowEmpty: false,
};
