const base = require('../../jest.config.js');

/** The tests of one file under mutation; `scripts/mutate.ts` adds `testMatch`. */
module.exports = {
	...base,
	rootDir: '../..',
	testPathIgnorePatterns: ['/node_modules/'],
	maxWorkers: 1,
	// The cost of a mutant that never returns.
	testTimeout: 10_000,
	runner: '<rootDir>/scripts/mutate/jest-runner.js',
	testRunner: '<rootDir>/scripts/mutate/jest-circus.js',
	watchman: false,
};
