import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import type { ICredentialType, IExecuteFunctions, INodeType } from 'n8n-workflow';

import { runNode } from '../support/engine';

const token: ICredentialType = {
	name: 'tokenApi',
	displayName: 'Token API',
	properties: [
		{ displayName: 'Token', name: 'token', type: 'string', default: '' },
		{ displayName: 'Base URL', name: 'baseUrl', type: 'string', default: '' },
	],
	authenticate: {
		type: 'generic',
		properties: { headers: { Authorization: '=Bearer {{$credentials.token}}' } },
	},
};

const fetcher: INodeType = {
	description: {
		displayName: 'Fetcher',
		name: 'fetcher',
		group: ['transform'],
		version: 1,
		description: '',
		defaults: { name: 'Fetcher' },
		inputs: ['main'],
		outputs: ['main'],
		credentials: [{ name: 'tokenApi', required: true }],
		properties: [{ displayName: 'Path', name: 'path', type: 'string', default: '/default' }],
	},
	async execute(this: IExecuteFunctions) {
		const { baseUrl } = await this.getCredentials<{ baseUrl: string }>('tokenApi');
		const out = [];
		for (let i = 0; i < this.getInputData().length; i++) {
			const path = this.getNodeParameter('path', i) as string;
			const body = await this.helpers.httpRequestWithAuthentication.call(this, 'tokenApi', {
				url: baseUrl + path,
			});
			this.logger.info('done', { i });
			out.push({ json: { body }, pairedItem: i });
		}
		return [out];
	},
};

const servers: Server[] = [];
afterEach(() => servers.splice(0).forEach((server) => server.close()));

test('smoke', async () => {
	const server = createServer((request, response) => {
		response.end(`${request.url} ${request.headers.authorization}`);
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	const { port } = server.address() as AddressInfo;
	servers.push(server);
	const run = await runNode({
		node: fetcher,
		parameters: { path: '=/{{ $json.name }}/{{ $("Input").item.json.name }}' },
		items: [{ json: { name: 'a' } }, { json: { name: 'b' } }],
		credentials: { tokenApi: { token: 'secret', baseUrl: `http://127.0.0.1:${port}` } },
		credentialTypes: [token],
	});
	console.log(JSON.stringify(run.items), run.logs);
});
