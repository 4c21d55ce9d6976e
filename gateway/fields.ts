import { isObject, type JsonObject } from './body';
import { badField } from './errors';

/**
 * Reads the fields of a JSON object by type. Each reader returns `undefined` for a field that is
 * absent or null. It throws a 400 if the field has another type. The message names the field, with
 * the path `at` to the object.
 */
export class Fields {
	constructor(
		readonly object: JsonObject,
		private readonly at = '',
	) {}

	path(name: string) {
		return this.at ? `${this.at}.${name}` : name;
	}

	has(name: string) {
		return this.object[name] !== undefined && this.object[name] !== null;
	}

	string(name: string): string | undefined {
		return this.of(name, 'a string', (value): value is string => typeof value === 'string');
	}

	/** A required string with more than white space. */
	text(name: string): string {
		const value = this.string(name);
		if (value === undefined) throw badField(this.path(name), 'is required', 'missing_field');
		if (value.trim() === '') throw badField(this.path(name), 'must not be empty');
		return value;
	}

	boolean(name: string): boolean | undefined {
		return this.of(name, 'a boolean', (value): value is boolean => typeof value === 'boolean');
	}

	number(name: string, min: number, max: number): number | undefined {
		const value = this.of(
			name,
			'a number',
			(candidate): candidate is number => typeof candidate === 'number',
		);
		return this.within(name, value, min, max);
	}

	integer(name: string, min: number, max = Number.MAX_SAFE_INTEGER): number | undefined {
		const value = this.of(name, 'an integer', (candidate): candidate is number =>
			Number.isInteger(candidate),
		);
		return this.within(name, value, min, max);
	}

	oneOf<T extends string>(name: string, values: readonly T[]): T | undefined {
		const value = this.string(name);
		if (value === undefined) return undefined;
		const known = values.find((candidate) => candidate === value);
		if (known === undefined) {
			throw badField(this.path(name), `must be one of ${values.join(', ')}`);
		}
		return known;
	}

	array(name: string): unknown[] | undefined {
		return this.of(name, 'an array', (value): value is unknown[] => Array.isArray(value));
	}

	record(name: string): Fields | undefined {
		const value = this.of(name, 'an object', isObject);
		return value && new Fields(value, this.path(name));
	}

	/** The elements of an array of objects. */
	objects(name: string): Fields[] | undefined {
		return this.array(name)?.map((element, index) => {
			const path = `${this.path(name)}[${index}]`;
			if (!isObject(element)) throw badField(path, 'must be an object', 'invalid_type');
			return new Fields(element, path);
		});
	}

	strings(name: string): string[] | undefined {
		return this.array(name)?.map((element, index) => {
			if (typeof element !== 'string') {
				throw badField(`${this.path(name)}[${index}]`, 'must be a string', 'invalid_type');
			}
			return element;
		});
	}

	private of<T>(name: string, kind: string, fits: (value: unknown) => value is T): T | undefined {
		if (!this.has(name)) return undefined;
		const value = this.object[name];
		if (!fits(value)) throw badField(this.path(name), `must be ${kind}`, 'invalid_type');
		return value;
	}

	private within(name: string, value: number | undefined, min: number, max: number) {
		if (value !== undefined && (value < min || value > max)) {
			const bounds =
				max === Number.MAX_SAFE_INTEGER ? `at least ${min}` : `between ${min} and ${max}`;
			throw badField(this.path(name), `must be ${bounds}`);
		}
		return value;
	}
}
