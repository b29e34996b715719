import type { ChatRequest, Effort, ReplyFormat } from '../../core/chat.ts';
import { compact, type Json, type JsonObject } from '../../core/json.ts';
import { booleanAt, numberAt, objectAt, optional, refuse, stringAt } from '../fields.ts';
import { decodeInput, encodeMessage } from './input.ts';
import { encodePart } from './parts.ts';
import { decodeToolChoice, decodeTools, encodeTool, encodeToolChoice } from './tools.ts';

type Value = Json | undefined;

const EFFORTS: ReadonlySet<string> = new Set<Effort>([
  'none',
  'minimal',
  'low',
  'medium',
  'high',
  'xhigh',
  'max',
]);
/** State that only its provider stores: no other provider can continue it. */
const STORED_BY_PROVIDER = ['previous_response_id', 'conversation', 'prompt'];

export function decodeRequest(body: JsonObject): ChatRequest {
  for (const member of STORED_BY_PROVIDER) {
    if (body[member] === undefined || body[member] === null) continue;
    refuse(
      member,
      'only a provider that speaks the Responses format itself can look this up; route the model to such a ' +
        'provider, or send the whole history in `input` (with `store: false`)',
    );
  }
  const model = stringAt(body.model, 'model');
  const instructions = optional(body.instructions, 'instructions', stringAt);
  const input = decodeInput(body.input);
  const offered = [...(optional(body.tools, 'tools', decodeTools) ?? []), ...input.tools];
  const { tools, toolChoice } = decodeToolChoice(body.tool_choice, offered);
  return compact({
    model,
    system: [...(instructions ? [{ type: 'text' as const, text: instructions }] : []), ...input.system],
    messages: input.messages,
    tools,
    toolChoice,
    parallelTools: optional(body.parallel_tool_calls, 'parallel_tool_calls', booleanAt),
    maxTokens: optional(body.max_output_tokens, 'max_output_tokens', numberAt),
    temperature: optional(body.temperature, 'temperature', numberAt),
    topP: optional(body.top_p, 'top_p', numberAt),
    effort: optional(body.reasoning, 'reasoning', decodeEffort),
    format: optional(body.text, 'text', decodeFormat),
    user: optional(body.user ?? body.safety_identifier, 'user', stringAt),
    stream: optional(body.stream, 'stream', booleanAt) ?? false,
  }) as ChatRequest;
}

/** An unknown effort is specific to one model and is left out. */
function decodeEffort(reasoning: Value, path: string): Effort | undefined {
  const effort = optional(objectAt(reasoning, path).effort, `${path}.effort`, stringAt);
  if (effort === 'ultra') return 'max';
  return effort !== undefined && EFFORTS.has(effort) ? (effort as Effort) : undefined;
}

function decodeFormat(text: Value, path: string): ReplyFormat | undefined {
  const format = optional(objectAt(text, path).format, `${path}.format`, objectAt);
  switch (format?.type) {
    case undefined:
    case 'text':
      return undefined;
    case 'json_object':
      return { type: 'json' };
    case 'json_schema': {
      const strict = optional(format.strict, `${path}.format.strict`, booleanAt);
      return {
        type: 'json-schema',
        name: stringAt(format.name, `${path}.format.name`),
        schema: objectAt(format.schema, `${path}.format.schema`),
        ...(strict === undefined ? {} : { strict }),
      };
    }
    default:
      return refuse(`${path}.format.type`, 'must be text, json_object or json_schema');
  }
}

/** This wire has no `stop`, no error flag for tool results, and no prompt-cache mark that all servers accept. */
export function encodeRequest(request: ChatRequest): JsonObject {
  const [first, ...rest] = request.system;
  const developer = { type: 'message', role: 'developer', content: rest.map(encodePart) };
  const thinks = request.effort !== undefined && request.effort !== 'none';
  return compact({
    model: request.model,
    instructions: first?.text,
    input: [...(rest.length > 0 ? [developer] : []), ...request.messages.flatMap(encodeMessage)],
    tools: request.tools.length > 0 ? request.tools.map(encodeTool) : undefined,
    tool_choice: request.toolChoice === undefined ? undefined : encodeToolChoice(request.toolChoice),
    parallel_tool_calls: request.parallelTools,
    max_output_tokens: request.maxTokens,
    temperature: request.temperature,
    top_p: request.topP,
    reasoning: request.effort === undefined ? undefined : { effort: request.effort },
    include: thinks ? ['reasoning.encrypted_content'] : undefined,
    text: request.format === undefined ? undefined : { format: encodeFormat(request.format) },
    user: request.user,
    store: false,
    stream: request.stream,
  });
}

function encodeFormat(format: ReplyFormat): JsonObject {
  if (format.type === 'json') return { type: 'json_object' };
  const { name, schema, strict } = format;
  return compact({ type: 'json_schema', name, schema, strict });
}
