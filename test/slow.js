/**
 * What `npm run test:slow` runs and `npm run jest` leaves out: tests that try much at random, measure
 * growth, run large batches, or load LangChain's agents or older n8n.
 */
module.exports = [
	'<rootDir>/test/chaos/',
	'<rootDir>/test/fuzz/',
	'<rootDir>/test/faults/network.test.ts',
	'<rootDir>/test/nodes/chat-model.agent.test.ts',
	'<rootDir>/test/nodes/image.batches.test.ts',
	'<rootDir>/test/nodes/langchain-adapter.test.ts',
	'<rootDir>/test/package/n8n-versions.test.ts',
	'<rootDir>/test/performance.test.ts',
	'<rootDir>/test/unit/api/large-streams.test.ts',
];
