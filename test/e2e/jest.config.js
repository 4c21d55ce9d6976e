const shared = require('../../jest.config.js');

/** The tests in a real n8n: one file after the other, since each has an n8n of its own. */
/** @type {import('jest').Config} */
module.exports = {
	...shared,
	rootDir: '../..',
	testMatch: ['<rootDir>/test/e2e/**/*.e2e.ts'],
	testPathIgnorePatterns: ['/node_modules/'],
	maxWorkers: 1,
	verbose: true,
	testTimeout: 120_000,
};
