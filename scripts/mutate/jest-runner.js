const { readFileSync, writeFileSync } = require('node:fs');
const { default: TestRunner } = require('jest-runner');
const micromatch = require('micromatch');

/** The names of all tests by file. The run without a mutant writes them for all processes. */
const NAMES = 'test-names.json';

/**
 * Stryker passes every test file to jest for each mutant, and cannot stop early. This runner leaves
 * out files without a wanted test, stops at the first failure, and keeps the order of `testMatch`.
 */
module.exports = class extends TestRunner {
	async runTests(tests, watcher, options) {
		const { testNamePattern } = this._globalConfig;
		const names = testNamePattern ? JSON.parse(readFileSync(NAMES, 'utf8')) : {};
		const pattern = new RegExp(testNamePattern ?? '', 'i');
		let failed = false;
		const unsubscribe = [
			this.on('test-file-success', ([{ path }, { numFailingTests, testResults }]) => {
				failed ||= numFailingTests > 0;
				if (!testNamePattern) names[path] = testResults.map(({ fullName }) => fullName);
			}),
			this.on('test-file-failure', () => (failed = true)),
		];
		for (const test of inOrder(tests)) {
			if (failed) break;
			const isWanted = !testNamePattern || names[test.path].some((name) => pattern.test(name));
			if (isWanted) await super.runTests([test], watcher, options);
		}
		unsubscribe.forEach((end) => end());
		const isDryRun = process.env.__STRYKER_ACTIVE_MUTANT__ === undefined;
		if (isDryRun) writeFileSync(NAMES, JSON.stringify(names));
	}
};

function inOrder(tests) {
	const rank = ({ path, context }) =>
		context.config.testMatch.findIndex((glob) => micromatch.isMatch(path, glob));
	return [...tests].sort((a, b) => rank(a) - rank(b) || a.path.localeCompare(b.path));
}
