/** What a request costs if it is carried out twice: a column of the retry table. */
export type Kind = 'read' | 'response' | 'image' | 'download';

/** A request of an operation that a fault can meet. */
export const PLACES = {
	models: { name: 'Model → Get Many', kind: 'read', route: 'models' },
	response: { name: 'Response → Create', kind: 'response', route: 'responses' },
	stream: { name: 'Response → Create, streamed', kind: 'response', route: 'responses' },
	generate: { name: 'Image → Generate', kind: 'image', route: 'generations' },
	edit: { name: 'Image → Edit', kind: 'image', route: 'edits' },
	get: { name: 'Task → Get', kind: 'read', route: 'task' },
	wait: { name: 'Task → Wait', kind: 'read', route: 'task' },
	download: { name: 'Download', kind: 'download', route: 'picture' },
} as const satisfies Record<string, { name: string; kind: Kind; route: string }>;

export type Place = keyof typeof PLACES;

export const ALL_PLACES = Object.keys(PLACES) as Place[];

/** The places at which the gateway itself answers. */
export const API_PLACES = ALL_PLACES.filter((place) => place !== 'download');

export const kindOf = (place: Place): Kind => PLACES[place].kind;

/** Whether an error at this place is about a task whose ID is known. */
export const knowsTask = (place: Place) =>
	place === 'get' || place === 'wait' || place === 'download';
