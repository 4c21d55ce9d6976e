/**
 * Each file that is mutated, and its quick tests, without extensions. Tests run in this order and
 * stop at the first failure: tests of the file itself come first.
 */
export const FILES: Record<string, string[]> = {
	'nodes/shared/api/http/retry': [
		'unit/api/{what-is-sent-again,waits-before-sending-again,cancel}',
	],
	'nodes/shared/api/http/request': [
		'unit/api/{what-is-sent-again,waits-before-sending-again,cancel,what-a-body-says}',
		'unit/api/{refused-key,request-ids,models,task-poll,rate-limit-queue}',
		'unit/api/{streamed-response,stream-failures,task-submit}',
	],
	'nodes/shared/api/images/task': ['unit/api/task-{words,poll,submit}'],
	'nodes/shared/api/images/submit-task': [
		'unit/api/{task-submit,refused-images}',
		'nodes/image.refused',
	],
	'nodes/shared/api/images/poll-task': ['unit/api/task-{poll,wait}'],
	'nodes/shared/api/images/task-id': ['unit/api/task-{id,submit}'],
	'nodes/shared/api/images/task-errors': ['unit/api/{failed-tasks,task-wait,task-poll}'],
	'nodes/shared/api/images/task-images': ['unit/api/task-images', 'nodes/image.waiting'],
	'nodes/shared/api/images/differences': ['unit/api/differences'],
	'nodes/shared/api/images/download-failure': ['unit/api/image-download'],
	'nodes/shared/api/images/download': ['unit/api/image-download'],
	'nodes/shared/api/errors/error-body': ['unit/api/error-bodies'],
	'nodes/shared/api/errors/from-reply': [
		'unit/api/{errors-of-replies,what-is-sent-again,what-a-body-says,cancel}',
		'unit/api/{request-ids,refused-key,task-poll}',
	],
	'nodes/shared/api/http/retry-after': ['unit/api/{waits-before-sending-again,task-poll}'],
	'nodes/shared/api/http/transport': ['unit/api/error-codes'],
	'nodes/shared/api/http/parse-reply': [
		'unit/api/{forms-of-answers,what-a-body-says,stream-failures,task-submit}',
	],
	'nodes/shared/api/responses/event-stream': ['unit/api/{stream-forms,streamed-response}'],
	'nodes/shared/api/responses/response-stream': [
		'unit/api/{streamed-response,stream-failures,limits-in-streams,stream-forms}',
	],
	'nodes/shared/api/responses/reply-reader': [
		'unit/api/{streamed-response,stream-failures,forms-of-answers,limits-in-streams}',
		'unit/api/stream-forms',
	],
	'nodes/shared/api/responses/stream-errors': ['unit/api/{stream-failures,streamed-response}'],
	'nodes/shared/api/responses/structured-output': ['unit/api/simplified-response'],
	'nodes/shared/api/responses/json-answer': ['unit/api/simplified-response'],
	'nodes/shared/api/responses/tool-arguments': ['unit/api/{forms-of-answers,streamed-response}'],
	'nodes/shared/api/responses/response-accumulator': [
		'unit/api/{streamed-response,forms-of-answers,stream-failures,stream-forms}',
		'unit/api/limits-in-streams',
	],
	'nodes/shared/api/responses/streamed-items': [
		'unit/api/{streamed-response,limits-in-streams,forms-of-answers}',
	],
	'nodes/shared/api/responses/streamed-item': ['unit/api/{streamed-response,forms-of-answers}'],
	'nodes/shared/api/responses/growing-text': ['unit/api/{streamed-response,forms-of-answers}'],
	'nodes/shared/api/responses/chat-completion': ['unit/api/forms-of-answers'],
	'nodes/shared/api/responses/response-forms': ['unit/api/{forms-of-answers,response-request}'],
	'nodes/shared/api/responses/check-response': [
		'unit/api/{response-request,forms-of-answers,stream-failures}',
	],
	'nodes/shared/api/responses/answer-hints': ['unit/api/forms-of-answers'],
	'nodes/shared/api/errors/errors': [
		'unit/api/{what-is-sent-again,what-a-body-says,cancel,task-wait,image-request}',
	],
	'nodes/shared/api/errors/sanitize': [
		'unit/api/{what-a-body-says,what-is-sent-again}',
		'nodes/secrets',
	],
	'nodes/shared/api/errors/status-table': [
		'unit/api/{what-is-sent-again,task-wait,advice-follows-evidence,errors-of-replies}',
	],
	'nodes/shared/api/credential/base-url': ['unit/api/base-url', 'unit/credential'],
	'nodes/shared/api/credential/private-host': ['unit/api/base-url'],
	'nodes/shared/api/credential/api-key': ['unit/api/api-key', 'unit/credential'],
	'nodes/shared/api/http/rate-limit-queue': ['unit/api/rate-limit-queue', 'nodes/too-many'],
	'nodes/shared/n8n/resume/resume-store': ['unit/n8n/work-tracker', 'nodes/image.resume'],
	'nodes/shared/n8n/runner/run-items': [
		'nodes/{items,errors,image.waiting,image.resume,response.stream}',
		'nodes/{refused-input,agent-tool,too-many}',
	],
	'nodes/shared/n8n/runner/run-item': [
		'nodes/{items,errors,secrets,agent-tool,response.stream,refused-input}',
	],
	'nodes/shared/n8n/error-item': ['nodes/{items,agent-tool,errors}'],
	'nodes/shared/n8n/resume/work-tracker': ['unit/n8n/work-tracker', 'nodes/{items,image.resume}'],
	'nodes/shared/n8n/errors': ['unit/n8n/error-of-a-run', 'nodes/{errors,items}'],
	'nodes/shared/n8n/http/transport-fault': [
		'unit/n8n/request-helper',
		'nodes/never-reached',
		'faults/{network,origins}',
	],
	'nodes/shared/n8n/http/transport': ['unit/n8n/request-helper', 'nodes/response.request'],
};
