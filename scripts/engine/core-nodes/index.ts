import type { IDataObject, INodeType } from 'n8n-workflow';

import { dataTable } from './data-table';
import { form } from './form';
import { httpRequest } from './http-request';
import { ifNode } from './if';
import { noOp, stickyNote } from './pass-through';
import { readWriteFile } from './read-write-file';
import { respondToWebhook } from './respond-to-webhook';
import { editFields } from './edit-fields';
import { splitOut } from './split-out';
import { trigger } from './triggers';

/** What the replacements need from the run. */
export interface CoreNodeOptions {
	/** The target folder of "Read/Write Files from Disk", whatever its path says. */
	fileFolder?: string;
	/** The rows of the data tables, by table name. The run changes them. */
	tables?: Record<string, IDataObject[]>;
}

/**
 * Small replacements for the nodes of n8n-nodes-base in the workflows of tests. The real package is
 * far too large to install for tests. Each does what the real node does in the modes that its file
 * names, and refuses others.
 */
export const coreNodes = (options: CoreNodeOptions = {}): Record<string, INodeType> => ({
	'n8n-nodes-base.manualTrigger': trigger('manualTrigger', 'Manual Trigger'),
	'n8n-nodes-base.scheduleTrigger': trigger('scheduleTrigger', 'Schedule Trigger'),
	'n8n-nodes-base.webhook': trigger('webhook', 'Webhook'),
	'n8n-nodes-base.formTrigger': trigger('formTrigger', 'n8n Form Trigger'),
	'n8n-nodes-base.noOp': noOp,
	'n8n-nodes-base.stickyNote': stickyNote,
	'n8n-nodes-base.set': editFields,
	'n8n-nodes-base.if': ifNode,
	'n8n-nodes-base.splitOut': splitOut,
	'n8n-nodes-base.form': form,
	'n8n-nodes-base.httpRequest': httpRequest,
	'n8n-nodes-base.respondToWebhook': respondToWebhook,
	'n8n-nodes-base.dataTable': dataTable(options),
	'n8n-nodes-base.readWriteFile': readWriteFile(options),
});
