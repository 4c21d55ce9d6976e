const { default: circus } = require('jest-circus/runner');

/** Tests of time and memory, which do not hold for mutated code. */
const MEASUREMENTS = /^a stream takes (time|no more memory)/;

/** jest-circus that stops at the first failure. Stryker requires this name. */
module.exports = async (globalConfig, config, environment, ...rest) => {
	const inner = environment.handleTestEvent;
	let failed = false;
	environment.handleTestEvent = async (event, state) => {
		await inner?.call(environment, event, state);
		const { name, test } = event;
		if (name === 'test_done') failed ||= test.errors.length > 0;
		if (name === 'test_start' && (failed || MEASUREMENTS.test(fullName(test)))) test.mode = 'skip';
	};
	return await circus(globalConfig, config, environment, ...rest);
};

function fullName({ name, parent }) {
	return parent?.parent ? `${fullName(parent)} ${name}` : name;
}
