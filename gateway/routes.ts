/** The endpoints of the contract, `unknown` (a 404 in JSON) and `page` (what is no API path). */
export type RouteName =
	| 'models'
	| 'responses'
	| 'generations'
	| 'edits'
	| 'task'
	| 'unknown'
	| 'page';

export interface Route {
	name: RouteName;
	/** The one method of the endpoint. */
	method?: 'GET' | 'POST';
	taskId?: string;
}

const TASKS = '/v1/images/tasks/';

const ENDPOINTS: Record<string, Route> = {
	'/v1/models': { name: 'models', method: 'GET' },
	'/v1/responses': { name: 'responses', method: 'POST' },
	'/v1/images/generations/async': { name: 'generations', method: 'POST' },
	'/v1/images/edits/async': { name: 'edits', method: 'POST' },
};

/** First segments by which a path means the API although its `/v1` is missing. */
const WITHOUT_VERSION = /^\/(models|responses|images|chat|messages)(\/|$)/;

/**
 * Which endpoint a path means (contract: Endpoints; Versioning, rule 1). A doubled or missing
 * `/v1` is `unknown`; what does not look like the API at all is `page`.
 * @param pathname the path without its query
 */
export function routeOf(pathname: string): Route {
	const endpoint = Object.hasOwn(ENDPOINTS, pathname) ? ENDPOINTS[pathname] : undefined;
	if (endpoint) return endpoint;
	if (pathname.startsWith(TASKS)) {
		const taskId = pathname.slice(TASKS.length);
		if (taskId && !taskId.includes('/')) return { name: 'task', method: 'GET', taskId };
	}
	const isApi = /^\/v1(\/|$)/.test(pathname) || WITHOUT_VERSION.test(pathname);
	return { name: isApi ? 'unknown' : 'page' };
}

/** What a web server in front of the service shows for a path that is not the API's. */
export const PAGE = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Sign in</title></head>
<body><h1>Sign in</h1><form method="post"><input name="user"><input name="password" type="password"><button>Sign in</button></form></body>
</html>
`;
