import config from './eslint.tests.config.mjs';

/** The same rules, for the files that the other one leaves out. */
export default config.map((part) => (part.ignores ? { ignores: ['**/node_modules'] } : part));
