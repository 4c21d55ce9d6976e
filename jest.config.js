/** @type {import('jest').Config} */
module.exports = {
	testEnvironment: 'node',
	maxWorkers: '100%',
	testMatch: ['<rootDir>/test/**/*.test.ts'],
	testPathIgnorePatterns: ['/node_modules/', '<rootDir>/test/e2e/'],
	modulePathIgnorePatterns: ['<rootDir>/dist/'],
	setupFiles: ['reflect-metadata'],
	transform: {
		'^.+\\.[cm]?[jt]s$': [
			'@swc/jest',
			{
				jsc: { parser: { syntax: 'typescript', decorators: true }, target: 'es2022' },
				module: { type: 'commonjs' },
			},
		],
	},
	// These two ship as ES modules only.
	transformIgnorePatterns: ['/node_modules/(?!(p-limit|yocto-queue)/)'],
};
