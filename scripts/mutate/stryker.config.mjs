/**
 * The common settings of all runs of `npm run mutate`. `scripts/mutate.ts` adds the file, its tests
 * and the file of its results.
 * @type {import('@stryker-mutator/api/core').PartialStrykerOptions}
 */
export default {
	testRunner: 'jest',
	// Each mutant runs only the tests that reach it.
	coverageAnalysis: 'perTest',
	ignoreStatic: false,
	jest: { configFile: 'scripts/mutate/jest.config.js', enableFindRelatedTests: false },
	incremental: true,
	// Stryker limits the iterations of loops, and jest ends tests that wait. This limit is for
	// other cases. A low one would count survivors as noticed on a busy machine.
	timeoutMS: 180_000,
	// jest leaks memory each time it loads n8n's engine.
	maxTestRunnerReuse: 20,
	reporters: ['progress-append-only'],
	tempDirName: '.stryker-tmp',
	cleanTempDir: 'always',
	ignorePatterns: ['/dist', '/docs', '/examples', '/demo-output', '/coverage', '/.e2e', '/reports'],
	allowEmpty: false,
};
