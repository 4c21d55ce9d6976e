/** Which way imports run, type-only imports counted: operations → shared/n8n → shared/api. */
/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
	forbidden: [
		{
			name: 'no-cycle',
			severity: 'error',
			comment: 'Files that import each other can only be understood together.',
			from: {},
			to: { circular: true },
		},
		{
			name: 'api-knows-no-n8n',
			severity: 'error',
			comment: 'shared/api is the contract as code. It imports nothing of n8n and no other layer.',
			from: { path: '^nodes/shared/api/' },
			to: { path: '^(nodes/(?!shared/api/)|credentials/|node_modules/(n8n-|@n8n/))' },
		},
		{
			name: 'shared-knows-no-node',
			severity: 'error',
			comment: 'shared/n8n serves the nodes and imports none of them.',
			from: { path: '^nodes/shared/n8n/' },
			to: { path: '^(nodes/(?!shared/)|credentials/)' },
		},
		{
			name: 'nodes-stand-apart',
			severity: 'error',
			comment: 'What two nodes share belongs into nodes/shared.',
			from: { path: '^nodes/(?!shared/)([^/]+)/' },
			to: { path: '^(nodes/(?!shared/)|credentials/)', pathNot: '^nodes/$1/' },
		},
		{
			name: 'credentials-use-the-api-only',
			severity: 'error',
			comment: 'A credential imports nothing but shared/api.',
			from: { path: '^credentials/' },
			to: { path: '^nodes/(?!shared/api/)' },
		},
		{
			name: 'gateway-knows-no-node',
			severity: 'error',
			comment: 'The built-in gateway is written from the contract, not from our code.',
			from: { path: '^gateway/' },
			to: { path: '^(nodes|credentials)/' },
		},
		{
			name: 'readers-call-no-step',
			severity: 'error',
			comment:
				'An item goes from step to step. What reads values for a step leads to no other step.',
			from: {
				path: '^nodes/shared/api/images/',
				pathNot: '/(submit-task|poll-task|download)\\.ts$',
			},
			to: { path: '^nodes/shared/api/images/(submit-task|poll-task|download)\\.ts$' },
		},
		{
			name: 'steps-do-not-enter-the-runner',
			severity: 'error',
			comment: 'The node calls the runner, and the runner calls the operation. Nothing calls back.',
			from: { path: '^nodes/', pathNot: '(\\.node\\.ts$|^nodes/shared/n8n/runner/)' },
			to: { path: '^nodes/shared/n8n/runner/run-items?\\.ts$' },
		},
	],
	options: {
		doNotFollow: { path: 'node_modules' },
		tsPreCompilationDeps: true,
		tsConfig: { fileName: 'tsconfig.json' },
	},
};
