import { ValidationError } from '../../api/errors/errors';
import { defineOption, type Option } from './define-option';
import { textParameter } from './text';

const DEFAULT_FIELD = 'data';

/**
 * The option for the binary field of the output that takes a file.
 * @param hint what goes there
 */
export function outputFileOption(hint: string): Option<string> {
	return defineOption(
		{
			displayName: 'Put Output File in Field',
			name: 'binaryPropertyName',
			type: 'string',
			default: DEFAULT_FIELD,
			hint,
		},
		readFieldName,
	);
}

function readFieldName(value: unknown, label: string): string {
	const name = textParameter(value, label)?.trim() ?? DEFAULT_FIELD;
	if (name !== '') return name;
	throw new ValidationError(label, 'is empty', 'Enter the name of a binary field, such as data.');
}
