import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { INodeExecutionData } from 'n8n-workflow';
import type { Installation } from './installation';

/** An error as n8n saves it with an execution. */
export interface SavedError {
	message?: string;
	description?: string;
}

/** The fields of a saved execution that are read here. */
export interface SavedRun {
	resultData: {
		error?: SavedError;
		runData: Record<
			string,
			Array<{ error?: SavedError; data?: { main?: Array<INodeExecutionData[] | null> } }>
		>;
	};
}

/** Parses the data of an execution by n8n's own library. */
export function parseRun({ folder }: Installation, data: string): SavedRun {
	const { parse } = createRequire(join(folder, 'node_modules', 'n8n', 'package.json'))(
		'flatted',
	) as { parse: (text: string) => SavedRun };
	return parse(data);
}
