const slow = require('./test/slow.js');

/** @type {import('jest').Config} */
module.exports = {
	testEnvironment: 'node',
	maxWorkers: '100%',
	// No test sleeps; this is for machines with other work to do.
	testTimeout: 30_000,
	testMatch: ['<rootDir>/test/**/*.test.ts'],
	testPathIgnorePatterns: ['/node_modules/', '<rootDir>/test/e2e/', ...slow],
	modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/.stryker-tmp/'],
	setupFiles: ['reflect-metadata'],
	// For `npm run coverage`. What the built files run is not counted.
	collectCoverageFrom: ['nodes/**/*.ts', 'credentials/**/*.ts'],
	coverageReporters: ['text-summary', 'html', 'lcovonly'],
	transform: {
		'^.+\\.[cm]?[jt]s$': [
			'@swc/jest',
			{
				jsc: { parser: { syntax: 'typescript', decorators: true }, target: 'es2022' },
				module: { type: 'commonjs' },
			},
		],
	},
	// These ship as ES modules only.
	transformIgnorePatterns: ['/node_modules/(?!(marked|p-limit|yocto-queue)/)'],
};
