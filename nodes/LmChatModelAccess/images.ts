import type { ISupplyDataFunctions } from 'n8n-workflow';
import type { CreatedResponse } from '../shared/api/responses/created-response';
import { getOutputImages } from '../shared/api/responses/response-output';
import { getAnswerImages } from '../shared/n8n/answer-images';
import { showOnce } from './hints';

/**
 * Keeps the images of an answer, for which an agent has no place. They become binary data of a
 * separate run of the node, which n8n shows beside the call of the model. The answer goes on
 * without them.
 */
export async function keepImages(
	context: ISupplyDataFunctions,
	created: CreatedResponse,
): Promise<void> {
	if (getOutputImages(created.response).length === 0) return;
	const isKept = await keep(context, created).catch(() => false);
	showOnce(
		context,
		'images',
		isKept
			? 'The model drew an image. An agent or a chain gets only text. The image is in the binary data of a run of this node.'
			: 'The model drew an image, which n8n could not store. An agent or a chain gets text alone.',
	);
}

async function keep(context: ISupplyDataFunctions, created: CreatedResponse): Promise<boolean> {
	const binary = await getAnswerImages(context.helpers, created, 'data');
	const { index } = context.addInputData('ai_languageModel', [[{ json: {} }]]);
	context.addOutputData('ai_languageModel', index, [[{ json: {}, binary }]]);
	return true;
}
