import type { IDataObject, INodeProperties } from 'n8n-workflow';
import { optionLabel } from './option-names';
import { booleanParameter, numberParameter, secondsParameter, type NumberRule } from './parameters';
import { textParameter } from './text';

/** An option of a node: what the panel shows, and how its value is read. */
export interface Option<T> {
	readonly field: INodeProperties;
	/**
	 * Reads the option's value for one item.
	 * @param options the node's options, as n8n evaluated them
	 * @throws {ValidationError} names the option
	 */
	read(options: IDataObject): T;
}

/**
 * Declares an option once: its field, its default and its reader.
 * @param read gets the value, undefined if the option is not set, and the name that users see
 */
export function defineOption<T>(
	field: INodeProperties,
	read: (value: unknown, label: string) => T,
): Option<T> {
	const label = optionLabel(field);
	return { field, read: (options) => read(options[field.name], label) };
}

/** A text, or one of several choices. An option that is not set has no value. */
export function textOption(field: INodeProperties): Option<string | undefined> {
	return defineOption(field, textParameter);
}

type BooleanField = Omit<INodeProperties, 'type' | 'default'> & { default: boolean };

/** Whether something is on; its default counts if the option is not set. */
export function booleanOption(field: BooleanField): Option<boolean> {
	return defineOption({ ...field, type: 'boolean' }, (value) => booleanParameter(value, field));
}

type NumberField = Omit<INodeProperties, 'type' | 'default'> & { default: number };
type Limits = Pick<NumberRule, 'min' | 'whole'>;

/** A number; its default counts if the option is not set. */
export function numberOption(field: NumberField, limits: Limits): Option<number> {
	return defineOption({ typeOptions: { minValue: 1 }, ...field, type: 'number' }, (value, label) =>
		numberParameter(value, { field: label, fallback: field.default, ...limits }),
	);
}

/** Seconds above 0, read as milliseconds; its default counts if the option is not set. */
export function secondsOption(field: NumberField): Option<number> {
	return defineOption({ typeOptions: { minValue: 1 }, ...field, type: 'number' }, (value, label) =>
		secondsParameter(value, label, field.default),
	);
}
