/** The node and credential classes, for whoever requires the package in code. n8n itself reads `dist`. */
try {
	const { ModelAccessApi } = require('./dist/credentials/ModelAccessApi.credentials.js');
	const { LmChatModelAccess } = require('./dist/nodes/LmChatModelAccess/LmChatModelAccess.node.js');
	const { ModelAccess } = require('./dist/nodes/ModelAccess/ModelAccess.node.js');
	const { ModelAccessImage } = require('./dist/nodes/ModelAccessImage/ModelAccessImage.node.js');
	module.exports = { LmChatModelAccess, ModelAccess, ModelAccessImage, ModelAccessApi };
} catch (error) {
	const isMissing = error.code === 'MODULE_NOT_FOUND' && error.message.includes("'./dist/");
	if (!isMissing) throw error;
	throw new Error('n8n-nodes-model-access is not built yet: run "npm run build"', { cause: error });
}
