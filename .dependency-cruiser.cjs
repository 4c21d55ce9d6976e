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
	],
	options: {
		doNotFollow: { path: 'node_modules' },
		tsPreCompilationDeps: true,
		tsConfig: { fileName: 'tsconfig.json' },
	},
};
