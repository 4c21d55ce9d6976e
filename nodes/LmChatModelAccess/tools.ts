import type { Tool } from './sdk';

export type FunctionTool = Extract<Tool, { type: 'function' }>;

/** Makes a JSON Schema of a tool's parameters, whatever library they are written in. */
export type SchemaOf = (tool: FunctionTool) => unknown;

/**
 * Tools as the Responses API takes them. A function is not strict unless it says so: the schemas of
 * n8n's tools have optional properties, which strict ones may not.
 */
export function toolsOf(tools: Tool[], schemaOf: SchemaOf): Array<Record<string, unknown>> {
	return tools.map((tool) => {
		if (tool.type === 'provider') return { type: tool.name, ...tool.args };
		const { name, description, strict = false } = tool;
		return {
			type: 'function',
			name,
			...(description !== undefined && { description }),
			parameters: parametersOf(schemaOf(tool)),
			strict,
		};
	});
}

/** An object by JSON Schema, as functions have to have one for their parameters, even an empty one. */
export function parametersOf(schema: unknown): Record<string, unknown> {
	const { properties = {}, ...rest } = plainSchema(schema);
	const parameters: Record<string, unknown> = { ...rest, type: 'object', properties };
	delete parameters.$schema;
	return parameters;
}

/** Schemas of zod 4, and of a zod other than the kit's, arrive as they are. */
function plainSchema(schema: unknown): Record<string, unknown> {
	if (typeof schema !== 'object' || schema === null) return {};
	if ('toJSONSchema' in schema && typeof schema.toJSONSchema === 'function') {
		return schema.toJSONSchema() as Record<string, unknown>;
	}
	return '_def' in schema || '_zod' in schema ? {} : (schema as Record<string, unknown>);
}

/**
 * `tool_choice` as the Responses API takes it.
 * @param choice in any of the forms that LangChain knows: a word, the name of a function, an object
 */
export function toolChoiceOf(choice: unknown): unknown {
	if (choice === undefined || choice === null || choice === '') return undefined;
	if (choice === 'any' || choice === true) return 'required';
	if (typeof choice === 'string') {
		return ['auto', 'none', 'required'].includes(choice)
			? choice
			: { type: 'function', name: choice };
	}
	const { type, function: called } = choice as { type?: unknown; function?: { name?: unknown } };
	return type === 'function' && called ? { type, name: called.name } : choice;
}
