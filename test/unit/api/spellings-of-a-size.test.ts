import { checkImageRequest } from '../../../nodes/shared/api/images/image-request';

test.each([
	['1024 x 1536', '1024x1536'],
	['1024×1536', '1024x1536'],
	['1024 × 1536', '1024x1536'],
	['1024X1536', '1024x1536'],
	[' 1024x1536\n', '1024x1536'],
	['1280x720', '1280x720'],
	['Auto', 'auto'],
])('the size %j is sent as %s, and nothing else changes', (size, sent) => {
	const request = { model: 'image-1', prompt: 'a fox', seed: 7 };
	expect(checkImageRequest({ ...request, size })).toEqual({ ...request, size: sent });
});
