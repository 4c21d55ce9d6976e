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
	// Tests never wait for real. A mutant that loops is stopped by the number of its rounds.
	timeoutMS: 30_000,
	reporters: ['progress-append-only'],
	tempDirName: '.stryker-tmp',
	cleanTempDir: 'always',
	ignorePatterns: ['/dist', '/docs', '/examples', '/demo-output', '/coverage', '/.e2e', '/reports'],
	allowEmpty: false,
};
