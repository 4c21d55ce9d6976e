import 'reflect-metadata';

import { createRequire } from 'node:module';

/**
 * The modules that n8n-core itself uses. Other versions of n8n's packages are installed too,
 * because the command-line tools need them.
 */
const fromCore = createRequire(createRequire(__filename).resolve('n8n-core'));

/** n8n's service container. The engine uses the values set here. */
export const { Container } = fromCore('@n8n/di') as typeof import('@n8n/di');

export const { Logger } = fromCore('@n8n/backend-common') as typeof import('@n8n/backend-common');

export const { SsrfProtectionConfig } = fromCore('@n8n/config') as typeof import('@n8n/config');
