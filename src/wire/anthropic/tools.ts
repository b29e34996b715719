import type { ChatRequest, Tool, ToolCallPart } from '../../core/chat.ts';
import { compact, isObject, type Json, type JsonObject, parseJson } from '../../core/json.ts';
import {
  optionalField,
  rejectField,
  requireArray,
  requireBoolean,
  requireObject,
  requireString,
} from '../fields.ts';

type Choice = Pick<ChatRequest, 'toolChoice' | 'parallelTools'>;

/** The caller's own tools. An entry of another `type` is a server-side tool, which other providers do not have. */
export function decodeAnthropicTools(value: Json | undefined): readonly Tool[] {
  const items = optionalField(value, 'tools', requireArray) ?? [];
  return items.flatMap((item, index) => {
    const path = `tools[${index}]`;
    const tool = requireObject(item, path);
    const type = optionalField(tool.type, `${path}.type`, requireString) ?? 'custom';
    if (type !== 'custom') return [];
    return [
      compact({
        name: requireString(tool.name, `${path}.name`),
        description: optionalField(tool.description, `${path}.description`, requireString),
        parameters: requireObject(tool.input_schema, `${path}.input_schema`),
      }),
    ];
  });
}

export const encodeAnthropicTools = (tools: readonly Tool[]): readonly JsonObject[] =>
  tools.map(({ name, description, parameters }) =>
    // A tool without arguments may have an empty schema, which Anthropic refuses.
    compact({
      name,
      description,
      input_schema: parameters.type ? parameters : { ...parameters, type: 'object' },
    }),
  );

/** Other providers refuse a choice of a tool that was left out, so such a choice is left out too. */
export function decodeAnthropicToolChoice(value: Json | undefined, tools: readonly Tool[]): Choice {
  const choice = optionalField(value, 'tool_choice', requireObject);
  if (choice === undefined) return {};
  const disabled = optionalField(
    choice.disable_parallel_tool_use,
    'tool_choice.disable_parallel_tool_use',
    requireBoolean,
  );
  const toolChoice = decodeChoice(choice);
  if (tools.length === 0) return {};
  const parallelTools = disabled === undefined ? undefined : !disabled;
  const isKept = typeof toolChoice === 'string' || tools.some(({ name }) => name === toolChoice.name);
  return compact({ toolChoice: isKept ? toolChoice : undefined, parallelTools });
}

function decodeChoice(choice: JsonObject): NonNullable<Choice['toolChoice']> {
  if (choice.type === 'auto' || choice.type === 'none') return choice.type;
  if (choice.type === 'any') return 'required';
  if (choice.type === 'tool') return { name: requireString(choice.name, 'tool_choice.name') };
  return rejectField('tool_choice.type', "must be 'auto', 'any', 'tool' or 'none'");
}

export function encodeAnthropicToolChoice({ toolChoice, parallelTools }: Choice): JsonObject | undefined {
  if (toolChoice === 'none') return { type: 'none' };
  if (toolChoice === undefined && parallelTools !== false) return undefined;
  const disable_parallel_tool_use = parallelTools === undefined ? undefined : !parallelTools;
  if (typeof toolChoice === 'object') {
    return compact({ type: 'tool', name: toolChoice.name, disable_parallel_tool_use });
  }
  return compact({ type: toolChoice === 'required' ? 'any' : 'auto', disable_parallel_tool_use });
}

/**
 * Input must be an object, but models write arguments that are not even JSON. The raw text is kept, so that the reader
 * of the call can see what was wrong with it.
 */
function encodeInput(args: string): JsonObject {
  if (args.trim() === '') return {};
  const input = parseJson(args);
  return isObject(input) ? input : { malformed_arguments: args };
}

export const encodeToolUseBlock = ({
  id,
  name,
  arguments: args,
}: Omit<ToolCallPart, 'type'>): JsonObject => ({
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
