import type { Control } from '../../nodes/shared/client/advice';

/** What a request costs if it is carried out twice: a column of the retry table. */
export type Kind = 'read' | 'response' | 'image' | 'download';

interface PlaceFacts {
	name: string;
	kind: Kind;
	/** The gateway's route that the request goes to. */
	route: string;
	/** The operation that sends it. */
	operation: [resource: string, operation: string];
	/** The fields and options of that operation that an advice may name. */
	controls: Control[];
}

const TASK_CONTROLS: Control[] = ['Concurrency', 'Max File Size', 'Timeout'];
const IMAGE_CONTROLS: Control[] = [...TASK_CONTROLS, 'Max Wait'];
const RESPONSE_CONTROLS: Control[] = ['Concurrency', 'Idle Timeout', 'Stream', 'Timeout'];

/** A request of an operation that a fault can meet. */
export const PLACES = {
	models: {
		name: 'Model → Get Many',
		kind: 'read',
		route: 'models',
		operation: ['model', 'getAll'],
		controls: [],
	},
	response: {
		name: 'Response → Create',
		kind: 'response',
		route: 'responses',
		operation: ['response', 'create'],
		controls: RESPONSE_CONTROLS,
	},
	stream: {
		name: 'Response → Create, streamed',
		kind: 'response',
		route: 'responses',
		operation: ['response', 'create'],
		controls: RESPONSE_CONTROLS,
	},
	generate: {
		name: 'Image → Generate',
		kind: 'image',
		route: 'generations',
		operation: ['image', 'generate'],
		controls: IMAGE_CONTROLS,
	},
	edit: {
		name: 'Image → Edit',
		kind: 'image',
		route: 'edits',
		operation: ['image', 'edit'],
		controls: IMAGE_CONTROLS,
	},
	get: {
		name: 'Task → Get',
		kind: 'read',
		route: 'task',
		operation: ['task', 'get'],
		controls: TASK_CONTROLS,
	},
	wait: {
		name: 'Task → Wait',
		kind: 'read',
		route: 'task',
		operation: ['task', 'wait'],
		controls: IMAGE_CONTROLS,
	},
	download: {
		name: 'Download',
		kind: 'download',
		route: 'picture',
		operation: ['task', 'get'],
		controls: TASK_CONTROLS,
	},
} as const satisfies Record<string, PlaceFacts>;

export type Place = keyof typeof PLACES;

export const ALL_PLACES = Object.keys(PLACES) as Place[];

/** The places at which the gateway itself answers. */
export const API_PLACES = ALL_PLACES.filter((place) => place !== 'download');

export const factsOf = (place: Place): PlaceFacts => PLACES[place];

export const kindOf = (place: Place): Kind => PLACES[place].kind;

/** Whether an error at this place is about a task whose ID is known. */
export const knowsTask = (place: Place) =>
	place === 'get' || place === 'wait' || place === 'download';
