import * as errors from '../../../nodes/shared/api/errors/errors';

// The build shortens the names of classes.
test('an error is named by its prototype, not by its class', () => {
	for (const [name, { prototype }] of Object.entries(errors)) {
		expect(prototype).toBeInstanceOf(Error);
		expect([name, Object.entries(prototype)]).toEqual([name, [['name', name]]]);
	}
});
