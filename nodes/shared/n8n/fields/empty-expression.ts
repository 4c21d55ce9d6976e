import type {
	IExecuteFunctions,
	INodeProperties,
	INodePropertyCollection,
	ISupplyDataFunctions,
} from 'n8n-workflow';
import { ValidationError } from '../../api/errors/errors';
import { optionLabel } from './option-names';

/** Where an error comes from: the item, and the fields of the operation or node. */
interface ErrorOrigin {
	index: number;
	properties: INodeProperties[];
}

/**
 * The same error, unless it says that a field is empty and that field holds an expression. It then
 * says that the expression gave nothing.
 */
export function explainEmpty(
	context: IExecuteFunctions | ISupplyDataFunctions,
	{ index, properties }: ErrorOrigin,
	error: unknown,
): unknown {
	if (!(error instanceof ValidationError)) return error;
	const { field, message, details } = error;
	const path = message === `${field} is empty` ? findPath(properties, field) : undefined;
	if (path === undefined || !isExpression(path.reduce(step, context.getNode().parameters))) {
		return error;
	}
	const [name = '', ...inner] = path;
	const given = inner.reduce(step, context.getNodeParameter(name, index, undefined) as unknown);
	if (!isBlank(getValue(given))) return error;
	return error.with(
		{ advice: `Check the expression with the data of item ${index}. ${details.advice}` },
		`The expression in ${field} gave nothing`,
	);
}

/** A row of a fixed collection, as messages call it: `Image 2: URL`. */
const ROW = /^\D* (\d+): (.+)$/;

/** The path of a field's value among the parameters of a node, by the name that users see. */
function findPath(properties: INodeProperties[], field: string): string[] | undefined {
	const own = properties.find((property) => optionLabel(property) === field);
	if (own) return [own.name];
	const [, row, label] = ROW.exec(field) ?? [];
	for (const { name, type, options = [] } of properties) {
		const path =
			type === 'fixedCollection'
				? pathInRows(options as INodePropertyCollection[], Number(row) - 1, label)
				: findPath(type === 'collection' ? (options as INodeProperties[]) : [], field);
		if (path) return [name, ...path];
	}
	return undefined;
}

function pathInRows(
	groups: INodePropertyCollection[],
	row: number,
	label: string | undefined,
): string[] | undefined {
	for (const { name, values } of groups) {
		const own = values.find((value) => optionLabel(value) === label);
		if (own) return [name, String(row), own.name];
	}
	return undefined;
}

function step(value: unknown, name: string): unknown {
	return (value as Record<string, unknown> | null | undefined)?.[name];
}

/** A resource locator's value, or the value itself. */
function getValue(parameter: unknown): unknown {
	const isLocator = typeof parameter === 'object' && parameter !== null && '__rl' in parameter;
	return isLocator ? step(parameter, 'value') : parameter;
}

const isExpression = (parameter: unknown): boolean => String(getValue(parameter)).startsWith('=');

const isBlank = (value: unknown): boolean =>
	value === undefined ||
	value === null ||
	(typeof value === 'string' && value.trim() === '') ||
	(Array.isArray(value) && value.length === 0);
