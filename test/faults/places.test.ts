import { EVERY_CONTROL } from '../../nodes/shared/client/advice';
import { resources as textResources } from '../../nodes/ModelAccess/ModelAccess.node';
import { resources as imageResources } from '../../nodes/ModelAccessImage/ModelAccessImage.node';
import { controlsOf } from '../../nodes/shared/n8n/controls';
import { ALL_PLACES, factsOf } from './places';

const operations = [...textResources, ...imageResources].flatMap((resource) =>
	resource.operations.map((operation) => ({
		name: `${resource.value}, ${operation.value}`,
		controls: [...EVERY_CONTROL].filter((control) => controlsOf(operation).has(control)),
	})),
);

test('faults meet every operation', () => {
	const met = new Set(ALL_PLACES.map((place) => factsOf(place).operation.join(', ')));
	expect([...met].sort()).toEqual(operations.map(({ name }) => name).sort());
});

test.each(ALL_PLACES)('an advice at "%s" may name what its operation has', (place) => {
	const { operation, controls } = factsOf(place);
	const own = operations.find(({ name }) => name === operation.join(', '));
	expect([...controls].sort()).toEqual(own?.controls.sort());
});
