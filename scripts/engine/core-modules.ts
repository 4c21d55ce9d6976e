import 'reflect-metadata';

import { createRequire } from 'node:module';

/**
 * Several versions of n8n's internal packages are installed side by side (the command-line tools
 * bring older ones). These are the ones that n8n-core itself uses.
 */
const fromCore = createRequire(createRequire(__filename).resolve('n8n-core'));

/** n8n's service container: what is set here is what the engine uses. */
export const { Container } = fromCore('@n8n/di') as typeof import('@n8n/di');

export const { Logger } = fromCore('@n8n/backend-common') as typeof import('@n8n/backend-common');

export const { SsrfProtectionConfig } = fromCore('@n8n/config') as typeof import('@n8n/config');
