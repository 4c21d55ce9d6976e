/**
 * Each file that is mutated, and the tests that cover it quickly, both without their extension.
 * Tests run in this order and end with the first failure: those that are about the file stand first.
 */
export const FILES: Record<string, string[]> = {
	'nodes/shared/client/retry': ['unit/client/{what-is-sent-again,waits-before-sending-again}'],
	'nodes/shared/client/request': [
		'unit/client/{what-is-sent-again,waits-before-sending-again,cancel,what-a-body-says}',
		'unit/client/{rate-limit-queue,streamed-response,stream-failures}',
	],
	'nodes/shared/client/image-task': ['unit/client/task-{wait,poll,submit,id}'],
	'nodes/shared/client/download': ['unit/client/image-download'],
	'nodes/shared/client/failure': ['unit/client/{what-is-sent-again,what-a-body-says}'],
	'nodes/shared/client/retry-after': ['unit/client/{waits-before-sending-again,task-poll}'],
	'nodes/shared/client/transport': ['unit/client/error-codes'],
	'nodes/shared/client/event-stream': ['unit/client/{stream-forms,streamed-response}'],
	'nodes/shared/client/response-stream': [
		'unit/client/streamed-response',
		'unit/client/stream-failures',
		'unit/client/stream-forms',
	],
	'nodes/shared/client/response-assembly': [
		'unit/client/streamed-response',
		'unit/client/stream-failures',
		'unit/client/stream-forms',
	],
	'nodes/shared/client/errors': [
		'unit/client/{what-is-sent-again,what-a-body-says,cancel,task-wait,image-request,image-edit}',
	],
	'nodes/shared/client/status-table': ['unit/client/{what-is-sent-again,task-wait}'],
	'nodes/shared/client/base-url': ['unit/client/base-url', 'unit/credential'],
	'nodes/shared/client/api-key': ['unit/client/api-key', 'unit/credential'],
	'nodes/shared/client/turnstile': ['unit/client/rate-limit-queue', 'nodes/too-many'],
	'nodes/shared/n8n/ledger': ['unit/n8n/ledger', 'nodes/image.resume'],
	'nodes/shared/n8n/run': ['nodes/{items,image.resume,errors,refused-input}'],
	'nodes/shared/n8n/errors': ['nodes/{items,image.resume,errors,refused-input}'],
	'nodes/shared/n8n/transport': [
		'nodes/response.{request,stream}',
		'nodes/{image.download,image.waiting,secrets}',
	],
};
