import { NodeHelpers, type INode, type INodeParameters } from 'n8n-workflow';
import type { IDataObject, INodeProperties, INodeType } from 'n8n-workflow';
import { ModelAccess } from '../../nodes/ModelAccess/ModelAccess.node';
import { ModelAccessImage } from '../../nodes/ModelAccessImage/ModelAccessImage.node';
import { prepareNode } from '../../scripts/engine/index';
import { createResponse, editImage, generateImage, getTask, waitForTask } from './arrange';

/** The options that the panel offers for these parameters, by the names that users see. */
function offered(node: INodeType, given: object, isTool = false) {
	const { properties, name } = node.description;
	// n8n gives a node to an agent under this name.
	const description = { ...node.description, name: isTool ? `${name}Tool` : name };
	const of = [true, false, null, description] as const;
	const parameters = NodeHelpers.getNodeParameters(properties, given as INodeParameters, ...of);
	const placed = { ...prepareNode({ node }).node, parameters } as INode;
	const values = { parameters } as unknown as INodeParameters;
	const isShown = (field: INodeProperties, path: string) =>
		NodeHelpers.displayParameterPath(values, field, path, placed, description);
	const [options, advanced] = ['options', 'advanced'].map((collection) =>
		properties
			.filter((field) => field.name === collection && isShown(field, 'parameters'))
			.flatMap((field) => field.options as INodeProperties[])
			.filter((option) => isShown(option, `parameters.${collection}`))
			.map(({ displayName }) => displayName.replace(/ \(.*\)$/, '')),
	);
	return { options, advanced };
}

const image = new ModelAccessImage();
const text = new ModelAccess();

const LOOKS = ['Background', 'File Name', 'Number of Images', 'Output Format', 'Quality', 'Size'];
const CARRIES = [
	...['Concurrency', 'Download Images', 'Extra Body', 'Max File Size', 'Max Retries', 'Max Wait'],
	...['On Timeout', 'Poll Interval', 'Put Output File in Field', 'Timeout'],
];
const FILES = ['Download Images', 'File Name', 'Max File Size', 'Put Output File in Field'];
const WAITS = [...FILES, 'On Timeout', 'Poll Interval'];
const without = (names: string[], left: string[]) => names.filter((name) => !left.includes(name));
const MASKS = ['Mask Binary Field', 'Mask URL'];
const ofTask = without(CARRIES, ['Extra Body']);

const wait = (waitForCompletion: unknown) => ({ waitForCompletion }) as IDataObject;
const lookOnce = without(ofTask, ['Max Wait', 'On Timeout', 'Poll Interval']);
const ofEdit = (looks: string[]) => [...looks, ...MASKS].sort();
const BARE = without(LOOKS, WAITS);
const noDownload = generateImage({ options: { downloadImages: false } });
const noFile = without(CARRIES, ['Max File Size', 'Put Output File in Field']);
const sent = without(CARRIES, WAITS);
const AGENT = 'Image → Generate of an agent';
test.each<[string, object, string[], string[], isTool?: boolean]>([
	['Image → Generate', generateImage(), LOOKS, CARRIES],
	['Image → Edit', editImage(), ofEdit(LOOKS), CARRIES],
	['Task → Wait', waitForTask('t'), ['File Name'], ofTask],
	['Task → Get', getTask('t'), ['File Name'], lookOnce],
	['Image → Generate without Wait for Completion', generateImage(wait(false)), BARE, sent],
	['Image → Edit without Wait for Completion', editImage(wait(false)), ofEdit(BARE), sent],
	['Image → Generate with an expression for it', generateImage(wait('={{ 1 }}')), LOOKS, CARRIES],
	['Image → Generate without Download Images', noDownload, without(LOOKS, ['File Name']), noFile],
	[AGENT, generateImage(), without(LOOKS, FILES), without(CARRIES, FILES), true],
	['Task → Wait of an agent', waitForTask('t'), [], without(ofTask, FILES), true],
])('%s offers what has an effect', (_name, given, options, advanced, isTool = false) => {
	expect(offered(image, given, isTool)).toEqual({ options, advanced });
});

test.each([true, false])('Response → Create offers Idle Timeout with Stream (%s)', (stream) => {
	const { advanced } = offered(text, createResponse({ stream }));
	expect(advanced?.includes('Idle Timeout')).toBe(stream);
});

const SHOWN = { n: 2, maxWait: 100, timeout: 5, concurrency: 2, maxRetries: 1, size: 'auto' };
const HIDDEN = { fileName: 'boat', maxFileSize: 7, binaryPropertyName: 'pic', pollInterval: 9 };
const unhidden = { ...SHOWN, extraBody: '{}' };
const SET = { ...unhidden, ...HIDDEN, downloadImages: true, onTimeout: 'returnTask' };
/** The options that are left of a node's parameters when it runs. */
function kept(given: IDataObject) {
	const prepared = prepareNode({ node: image, parameters: given as INodeParameters });
	const { options, advanced } = prepared.node.parameters;
	return { ...(options as object), ...(advanced as object) };
}

test.each<[string, object, object]>([
	['each option that is offered', {}, SET],
	['each, with an expression in Wait for Completion', { waitForCompletion: '={{ false }}' }, SET],
	['none that is not offered', { waitForCompletion: false }, unhidden],
])('n8n hands on: %s', (_name, more, expected) => {
	expect(kept(generateImage({ ...more, options: SET }))).toEqual(expected);
	expect(kept(editImage({ ...more, options: SET }))).toEqual(expected);
});
