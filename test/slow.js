/**
 * What `npm run test:slow` runs and `npm run jest` leaves out: tests that try much at random, measure
 * growth, run large batches, load LangChain's agents or older n8n, or go through long tables of what
 * gateways do and builders hand in, each row in n8n's contexts against the built-in gateway.
 */
module.exports = [
	'<rootDir>/test/chaos/',
	'<rootDir>/test/examples/',
	'<rootDir>/test/faults/',
	'<rootDir>/test/fuzz/',
	'<rootDir>/test/nodes/files-of-items.test.ts',
	'<rootDir>/test/nodes/chat-model.agent.test.ts',
	'<rootDir>/test/nodes/answers-of-gateways.test.ts',
	'<rootDir>/test/nodes/image.real-gateways.test.ts',
	'<rootDir>/test/nodes/image.refused.test.ts',
	'<rootDir>/test/nodes/langchain-adapter.test.ts',
	'<rootDir>/test/nodes/long-input.test.ts',
	'<rootDir>/test/nodes/reasoning-not-stored.test.ts',
	'<rootDir>/test/nodes/too-many.test.ts',
	'<rootDir>/test/nodes/types-of-fields.test.ts',
	'<rootDir>/test/package/n8n-versions.test.ts',
	'<rootDir>/test/performance.test.ts',
	'<rootDir>/test/unit/api/items-of-streams.test.ts',
	'<rootDir>/test/unit/api/large-streams.test.ts',
];
