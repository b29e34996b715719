import type { ChatRequest, Effort, ReplyFormat } from '../../core/chat.ts';
import { compact, type Json, type JsonObject } from '../../core/json.ts';
import {
  optionalField,
  rejectField,
  requireBoolean,
  requireNumber,
  requireObject,
  requireString,
} from '../fields.ts';
import { decodeInput, encodeInputItems, encodeInputPart } from './input.ts';
import {
  decodeResponsesToolChoice,
  decodeResponsesTools,
  encodeResponsesTool,
  encodeResponsesToolChoice,
} from './tools.ts';

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

export function decodeResponsesRequest(body: JsonObject): ChatRequest {
  for (const member of STORED_BY_PROVIDER) {
    if (body[member] === undefined || body[member] === null) continue;
    rejectField(
      member,
      'only a provider that speaks the Responses format itself can look this up; route the model to such a ' +
        'provider, or send the whole history in `input` (with `store: false`)',
    );
  }
  const model = requireString(body.model, 'model');
  const instructions = optionalField(body.instructions, 'instructions', requireString);
  const input = decodeInput(body.input);
  const offered = [...(optionalField(body.tools, 'tools', decodeResponsesTools) ?? []), ...input.tools];
  const { tools, toolChoice } = decodeResponsesToolChoice(body.tool_choice, offered);
  return compact({
    model,
    system: [...(instructions ? [{ type: 'text' as const, text: instructions }] : []), ...input.system],
    messages: input.messages,
    tools,
    toolChoice,
    parallelTools: optionalField(body.parallel_tool_calls, 'parallel_tool_calls', requireBoolean),
    maxTokens: optionalField(body.max_output_tokens, 'max_output_tokens', requireNumber),
    temperature: optionalField(body.temperature, 'temperature', requireNumber),
    topP: optionalField(body.top_p, 'top_p', requireNumber),
    effort: optionalField(body.reasoning, 'reasoning', decodeEffort),
    format: optionalField(body.text, 'text', decodeFormat),
    user: optionalField(body.user ?? body.safety_identifier, 'user', requireString),
    stream: optionalField(body.stream, 'stream', requireBoolean) ?? false,
  }) as ChatRequest;
}

/** An unknown effort is specific to one model and is left out. */
function decodeEffort(reasoning: Value, path: string): Effort | undefined {
  const effort = optionalField(requireObject(reasoning, path).effort, `${path}.effort`, requireString);
  if (effort === 'ultra') return 'max';
  return effort !== undefined && EFFORTS.has(effort) ? (effort as Effort) : undefined;
}

function decodeFormat(text: Value, path: string): ReplyFormat | undefined {
  const format = optionalField(requireObject(text, path).format, `${path}.format`, requireObject);
  switch (format?.type) {
    case undefined:
    case 'text':
      return undefined;
    case 'json_object':
      return { type: 'json' };
    case 'json_schema': {
      const strict = optionalField(format.strict, `${path}.format.strict`, requireBoolean);
      return {
        type: 'json-schema',
        name: requireString(format.name, `${path}.format.name`),
        schema: requireObject(format.schema, `${path}.format.schema`),
        ...(strict === undefined ? {} : { strict }),
      };
    }
    default:
      return rejectField(`${path}.format.type`, 'must be text, json_object or json_schema');
  }
}

/** This wire has no `stop`, no error flag for tool results, and no prompt-cache mark that all servers accept. */
export function encodeResponsesRequest(request: ChatRequest): JsonObject {
  const [first, ...rest] = request.system;
  const developer = { type: 'message', role: 'developer', content: rest.map(encodeInputPart) };
  const thinks = request.effort !== undefined && request.effort !== 'none';
  return compact({
    model: request.model,
    instructions: first?.text,
    input: [...(rest.length > 0 ? [developer] : []), ...request.messages.flatMap(encodeInputItems)],
    tools: request.tools.length > 0 ? request.tools.map(encodeResponsesTool) : undefined,
    tool_choice: request.toolChoice === undefined ? undefined : encodeResponsesToolChoice(request.toolChoice),
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
