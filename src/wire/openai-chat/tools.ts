import type { ChatRequest, Tool } from '../../core/chat.ts';
import type { Json, JsonObject } from '../../core/json.ts';
import { arrayAt, booleanAt, isAbsent, objectAt, optional, refuse, stringAt, textAt } from '../fields.ts';

type ToolUse = Pick<ChatRequest, 'tools' | 'toolChoice' | 'parallelTools'>;

/** Function tools only: other providers have neither free-form (`custom`) tools nor the provider's own tools. */
export function decodeToolUse(body: JsonObject): ToolUse {
  const tools = isAbsent(body.tools) ? decodeLegacyTools(body.functions) : decodeTools(body.tools);
  if (tools.length === 0) return { tools };
  const toolChoice = isAbsent(body.tool_choice)
    ? decodeLegacyChoice(body.function_call)
    : decodeChoice(body.tool_choice);
  const parallelTools = optional(body.parallel_tool_calls, 'parallel_tool_calls', booleanAt);
  return {
    tools,
    ...(toolChoice === undefined ? {} : { toolChoice }),
    ...(parallelTools === undefined ? {} : { parallelTools }),
  };
}

const decodeTools = (value: Json | undefined): Tool[] =>
  arrayAt(value, 'tools').flatMap((entry, index) => {
    const path = `tools[${index}]`;
    const tool = objectAt(entry, path);
    const type = stringAt(tool.type, `${path}.type`);
    return type === 'function' ? [decodeTool(tool.function, `${path}.function`)] : [];
  });

const decodeLegacyTools = (value: Json | undefined): Tool[] =>
  (optional(value, 'functions', arrayAt) ?? []).map((entry, index) =>
    decodeTool(entry, `functions[${index}]`),
  );

function decodeTool(value: Json | undefined, path: string): Tool {
  const tool = objectAt(value, path);
  const description = optional(tool.description, `${path}.description`, stringAt);
  return {
    name: textAt(tool.name, `${path}.name`),
    ...(description === undefined ? {} : { description }),
    parameters: optional(tool.parameters, `${path}.parameters`, objectAt) ?? {
      type: 'object',
      properties: {},
    },
  };
}

function decodeChoice(value: Json | undefined): ToolUse['toolChoice'] {
  if (value === 'auto' || value === 'none' || value === 'required') return value;
  if (typeof value === 'string') refuse('tool_choice', 'must be "none", "auto", "required" or an object');
  const choice = objectAt(value, 'tool_choice');
  if (choice.type === 'function') {
    const named = objectAt(choice.function, 'tool_choice.function');
    return { name: textAt(named.name, 'tool_choice.function.name') };
  }
  if (choice.type === 'allowed_tools') {
    const allowed = objectAt(choice.allowed_tools, 'tool_choice.allowed_tools');
    return allowed.mode === 'required' ? 'required' : 'auto';
  }
  if (choice.type === 'custom') return 'auto';
  return refuse('tool_choice.type', 'must be "function", "allowed_tools" or "custom"');
}

function decodeLegacyChoice(value: Json | undefined): ToolUse['toolChoice'] {
  if (isAbsent(value)) return undefined;
  if (value === 'auto' || value === 'none') return value;
  if (typeof value === 'string') refuse('function_call', 'must be "none", "auto" or an object');
  return { name: textAt(objectAt(value, 'function_call').name, 'function_call.name') };
}

/** Empty without tools, since servers refuse a tool choice without tools. */
export function encodeToolUse({ tools, toolChoice, parallelTools }: ToolUse): JsonObject {
  if (tools.length === 0) return {};
  return {
    tools: tools.map((tool) => ({ type: 'function', function: { ...tool } })),
    ...(toolChoice === undefined
      ? {}
      : {
          tool_choice:
            typeof toolChoice === 'string' ? toolChoice : { type: 'function', function: { ...toolChoice } },
        }),
    ...(parallelTools === undefined ? {} : { parallel_tool_calls: parallelTools }),
  };
}
