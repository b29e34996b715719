import type { ChatRequest, Tool } from '../../core/chat.ts';
import { compact, type Json, type JsonObject } from '../../core/json.ts';
import { arrayAt, booleanAt, objectAt, optional, refuse, stringAt } from '../fields.ts';

type Choice = Pick<ChatRequest, 'toolChoice' | 'parallelTools'>;

/** The caller's own tools. An entry of another `type` is a server-side tool, which other providers do not have. */
export function decodeTools(value: Json | undefined): readonly Tool[] {
  const items = optional(value, 'tools', arrayAt) ?? [];
  return items.flatMap((item, index) => {
    const path = `tools[${index}]`;
    const tool = objectAt(item, path);
    const type = optional(tool.type, `${path}.type`, stringAt) ?? 'custom';
    if (type !== 'custom') return [];
    return [
      compact({
        name: stringAt(tool.name, `${path}.name`),
        description: optional(tool.description, `${path}.description`, stringAt),
        parameters: objectAt(tool.input_schema, `${path}.input_schema`),
      }),
    ];
  });
}

export const encodeTools = (tools: readonly Tool[]): readonly JsonObject[] =>
  tools.map(({ name, description, parameters }) =>
    // A tool without arguments may have an empty schema, which Anthropic refuses.
    compact({
      name,
      description,
      input_schema: parameters.type ? parameters : { ...parameters, type: 'object' },
    }),
  );

/** Other providers refuse a choice of a tool that was left out, so such a choice is left out too. */
export function decodeToolChoice(value: Json | undefined, tools: readonly Tool[]): Choice {
  const choice = optional(value, 'tool_choice', objectAt);
  if (choice === undefined) return {};
  const disabled = optional(
    choice.disable_parallel_tool_use,
    'tool_choice.disable_parallel_tool_use',
    booleanAt,
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
  if (choice.type === 'tool') return { name: stringAt(choice.name, 'tool_choice.name') };
  return refuse('tool_choice.type', "must be 'auto', 'any', 'tool' or 'none'");
}

export function encodeToolChoice({ toolChoice, parallelTools }: Choice): JsonObject | undefined {
  if (toolChoice === 'none') return { type: 'none' };
  if (toolChoice === undefined && parallelTools !== false) return undefined;
  const disable_parallel_tool_use = parallelTools === undefined ? undefined : !parallelTools;
  if (typeof toolChoice === 'object') {
    return compact({ type: 'tool', name: toolChoice.name, disable_parallel_tool_use });
  }
  return compact({ type: toolChoice === 'required' ? 'any' : 'auto', disable_parallel_tool_use });
}
