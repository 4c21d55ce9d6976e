const quick = require('./jest.config.js');
const slow = require('./test/slow.js');

/** @type {import('jest').Config} */
module.exports = {
	...quick,
	testMatch: slow.map((path) => (path.endsWith('/') ? `${path}**/*.test.ts` : path)),
	testPathIgnorePatterns: ['/node_modules/'],
};
