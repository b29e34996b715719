import type { ToolCallPart } from '../../core/chat.ts';
import { isObject, type Json, type JsonObject, parseJson } from '../../core/json.ts';

/**
 * Input must be an object, but models write arguments that are not even JSON. The raw text is kept, so that the reader
 * of the call can see what was wrong with it.
 */
function encodeInput(args: string): JsonObject {
  if (args.trim() === '') return {};
  const input = parseJson(args);
  return isObject(input) ? input : { malformed_arguments: args };
}

export const encodeToolUse = ({ id, name, arguments: args }: Omit<ToolCallPart, 'type'>): JsonObject => ({
  type: 'tool_use',
  id,
  name,
  input: encodeInput(args),
});

/** Undefined for a value nested too deep for JSON.stringify; JSON.parse has no such limit. */
export function writeJson(value: Json): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}

/** Other providers use dots and colons in call ids; Anthropic refuses a history with such ids. */
export const encodeToolId = (id: string): string => id.replace(/[^\w-]/g, '_') || '_';
