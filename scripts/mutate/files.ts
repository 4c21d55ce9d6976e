/** All quick tests of the client that send something, which is to say: not of texts and pictures. */
const CLIENT =
	'unit/client/!(api-key|base-url|event-stream|file-name|image-end|image-type|pictures|response-input|response-output)';

/**
 * Each file that is mutated, and the tests that cover it quickly, both without their extension.
 * Tests run in this order and end with the first failure: those that are about the file stand first.
 */
export const FILES: Record<string, string[]> = {
	'nodes/shared/client/retry': ['unit/client/retry', CLIENT],
	'nodes/shared/client/request': ['unit/client/retry', CLIENT],
	'nodes/shared/client/image-task': ['unit/client/{wait,poll-step,submit,task-id}', CLIENT],
	'nodes/shared/client/download': ['unit/client/download', CLIENT],
	'nodes/shared/client/failure': ['unit/client/{retry,bodies}', CLIENT],
	'nodes/shared/client/retry-after': ['unit/client/retry', CLIENT],
	'nodes/shared/client/transport': ['unit/client/transport', CLIENT],
	'nodes/shared/client/event-stream': ['unit/client/event-stream', CLIENT],
	'nodes/shared/client/response-stream': [
		'unit/client/response-stream',
		CLIENT,
		'unit/client/event-stream',
	],
	'nodes/shared/client/response-assembly': [
		'unit/client/response-stream',
		CLIENT,
		'unit/client/event-stream',
	],
	'nodes/shared/client/errors': ['unit/client/retry', CLIENT],
	'nodes/shared/client/status-table': ['unit/client/retry', CLIENT],
	'nodes/shared/client/base-url': ['unit/client/base-url', 'unit/credential'],
	'nodes/shared/client/api-key': ['unit/client/api-key', 'unit/credential'],
	'nodes/shared/client/turnstile': ['unit/client/turnstile', CLIENT, 'nodes/too-many'],
	'nodes/shared/n8n/ledger': ['unit/n8n/ledger', 'nodes/image.resume'],
	'nodes/shared/n8n/run': ['nodes/{items,image.resume,rare-errors}'],
	'nodes/shared/n8n/errors': ['nodes/{items,image.resume,rare-errors}'],
	'nodes/shared/n8n/transport': [
		'nodes/{response.create,response.stream}',
		'nodes/{image.download,image.download-bounds,image.waiting,secrets}',
	],
};
