const shared = require('../e2e/jest.config.js');

/** The tests with a gateway that is not part of this project: in real time, one after the other. */
/** @type {import('jest').Config} */
module.exports = { ...shared, testMatch: ['<rootDir>/test/interop/**/*.interop.ts'] };
