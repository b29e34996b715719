import type { ChatRequest, Tool } from '../../core/chat.ts';
import { asArray, asObject, asString, type Json, type JsonObject } from '../../core/json.ts';
import { arrayAt, objectAt, optional, refuse, stringAt } from '../fields.ts';
import { freeformParameters } from './freeform.ts';
import { joinName } from './qualified-name.ts';

type Value = Json | undefined;
type ToolChoice = NonNullable<ChatRequest['toolChoice']>;

/** The tools that the client runs; server-side tools (web_search, local_shell, …) have no counterpart. */
export function decodeTools(list: Value, path: string): Tool[] {
  return arrayAt(list, path).flatMap((entry, n) => {
    const at = `${path}[${n}]`;
    const tool = objectAt(entry, at);
    if (tool.type !== 'namespace') return decodeTool(tool, at);
    const namespace = stringAt(tool.name, `${at}.name`);
    return arrayAt(tool.tools, `${at}.tools`).flatMap((inner, m) =>
      decodeTool(objectAt(inner, `${at}.tools[${m}]`), `${at}.tools[${m}]`, namespace),
    );
  });
}

function decodeTool(tool: JsonObject, at: string, namespace?: string): readonly Tool[] {
  if (tool.type !== 'function' && tool.type !== 'custom') return [];
  const name = joinName({ name: stringAt(tool.name, `${at}.name`), namespace });
  const description = describe(tool, at);
  const parameters = tool.type === 'custom' ? freeformParameters : decodeParameters(tool.parameters, at);
  return [{ name, ...(description === undefined ? {} : { description }), parameters }];
}

const decodeParameters = (parameters: Value, at: string): JsonObject =>
  optional(parameters, `${at}.parameters`, objectAt) ?? { type: 'object', properties: {} };

/** A freeform tool's grammar cannot be enforced on other wires, so it goes into the description. */
function describe(tool: JsonObject, at: string): string | undefined {
  const description = optional(tool.description, `${at}.description`, stringAt);
  const { definition, syntax } = asObject(tool.format);
  if (tool.type !== 'custom' || typeof definition !== 'string') return description;
  const grammar = `The input must match this ${asString(syntax) ?? ''} grammar:\n${definition.trim()}`;
  return description ? `${description}\n\n${grammar}` : grammar;
}

/** The choice and the remaining tools: a list of allowed tools is translated by leaving out the others. */
export function decodeToolChoice(
  choice: Value,
  tools: readonly Tool[],
): { readonly tools: readonly Tool[]; readonly toolChoice: ToolChoice | undefined } {
  const allowed = asObject(choice).type === 'allowed_tools' ? asObject(choice) : undefined;
  if (!allowed) return { tools, toolChoice: tools.length === 0 ? undefined : decodeChoice(choice) };
  const names = new Set(asArray(allowed.tools).map((entry) => choiceName(asObject(entry))));
  const left = tools.filter((tool) => names.has(tool.name));
  return { tools: left, toolChoice: left.length === 0 ? undefined : decodeChoice(allowed.mode ?? 'auto') };
}

function decodeChoice(choice: Value): ToolChoice | undefined {
  if (choice === undefined || choice === null) return undefined;
  if (choice === 'auto' || choice === 'none' || choice === 'required') return choice;
  const entry = asObject(choice);
  const type = asString(entry.type);
  if (type === undefined)
    return refuse('tool_choice', 'must be auto, none, required or an object with a type');
  if (type !== 'function' && type !== 'custom') return undefined;
  return { name: choiceName(entry) ?? refuse('tool_choice.name', 'must be a string') };
}

function choiceName(entry: JsonObject): string | undefined {
  const name = asString(entry.name);
  return name === undefined ? undefined : joinName({ name, namespace: asString(entry.namespace) });
}

/** `strict` defaults to true on this wire, and a schema written for another wire is seldom strict. */
export const encodeTool = (tool: Tool): JsonObject => ({
  type: 'function',
  name: tool.name,
  ...(tool.description === undefined ? {} : { description: tool.description }),
  parameters: tool.parameters,
  strict: false,
});

export const encodeToolChoice = (choice: ToolChoice): Json =>
  typeof choice === 'string' ? choice : { type: 'function', name: choice.name };
