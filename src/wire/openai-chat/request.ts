import type { ChatRequest, Effort, ReplyFormat } from '../../core/chat.ts';
import { compact, type Json, type JsonObject } from '../../core/json.ts';
import {
  isAbsent,
  optionalField,
  rejectField,
  requireArray,
  requireBoolean,
  requireNumber,
  requireObject,
  requireString,
  requireText,
} from '../fields.ts';
import { decodeChatMessages, encodeChatMessages } from './messages.ts';
import { decodeChatTools, encodeChatTools } from './tools.ts';

const EFFORTS: readonly Effort[] = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];

export function decodeChatRequest(body: JsonObject): ChatRequest {
  const choices = optionalField(body.n, 'n', requireNumber) ?? 1;
  if (choices > 1) rejectField('n', 'only one choice can be translated; send 1 or leave it out');
  return compact({
    model: requireText(body.model, 'model'),
    ...decodeChatMessages(body.messages),
    ...decodeChatTools(body),
    maxTokens:
      optionalField(body.max_completion_tokens, 'max_completion_tokens', requirePositiveCount) ??
      optionalField(body.max_tokens, 'max_tokens', requirePositiveCount),
    temperature: optionalField(body.temperature, 'temperature', requireNumber),
    topP: optionalField(body.top_p, 'top_p', requireNumber),
    stop: decodeStopSequences(body.stop),
    effort: optionalField(body.reasoning_effort, 'reasoning_effort', requireEffort),
    format: optionalField(body.response_format, 'response_format', requireFormat),
    user:
      optionalField(body.user, 'user', requireString) ??
      optionalField(body.safety_identifier, 'safety_identifier', requireString),
    stream: optionalField(body.stream, 'stream', requireBoolean) ?? false,
  });
}

function requirePositiveCount(value: Json | undefined, path: string): number {
  const count = requireNumber(value, path);
  return Number.isInteger(count) && count >= 1
    ? count
    : rejectField(path, 'must be a whole number, 1 or more');
}

const requireEffort = (value: Json | undefined, path: string): Effort =>
  EFFORTS.find((effort) => effort === value) ?? rejectField(path, `must be one of ${EFFORTS.join(', ')}`);

function decodeStopSequences(value: Json | undefined): readonly string[] | undefined {
  if (isAbsent(value)) return undefined;
  if (typeof value === 'string') return value === '' ? undefined : [value];
  const list = requireArray(value, 'stop').map((entry, index) => requireString(entry, `stop[${index}]`));
  return list.length > 0 ? list : undefined;
}

function requireFormat(value: Json | undefined, path: string): ReplyFormat | undefined {
  const format = requireObject(value, path);
  if (format.type === 'text') return undefined;
  if (format.type === 'json_object') return { type: 'json' };
  if (format.type !== 'json_schema') {
    rejectField(`${path}.type`, 'must be "text", "json_object" or "json_schema"');
  }
  const spec = requireObject(format.json_schema, `${path}.json_schema`);
  const strict = optionalField(spec.strict, `${path}.json_schema.strict`, requireBoolean);
  return {
    type: 'json-schema',
    name: requireText(spec.name, `${path}.json_schema.name`),
    schema: optionalField(spec.schema, `${path}.json_schema.schema`, requireObject) ?? {},
    ...(strict === undefined ? {} : { strict }),
  };
}

/** Prompt-cache marks are never written: servers of this format cache without them, and some refuse them. */
export function encodeChatRequest(request: ChatRequest): JsonObject {
  const dialect = chatDialectOf(request.model, request.effort);
  return compact({
    model: request.model,
    messages: encodeChatMessages(request, dialect),
    ...encodeChatTools(request),
    [dialect.limit]: request.maxTokens,
    temperature: request.temperature,
    top_p: request.topP,
    stop: request.stop,
    reasoning_effort: dialect.effort ? request.effort : undefined,
    response_format: request.format && encodeFormat(request.format),
    user: request.user,
    ...(request.stream ? { stream: true, stream_options: { include_usage: true } } : {}),
  });
}

function encodeFormat(format: ReplyFormat): JsonObject {
  if (format.type === 'json') return { type: 'json_object' };
  const { type: _, ...spec } = format;
  return { type: 'json_schema', json_schema: { ...spec } };
}

/**
 * The differences between servers of this format, chosen by the model's name, since nothing else distinguishes them. An
 * unknown name gets what most servers accept.
 */
interface Dialect {
  /** OpenAI's reasoning models refuse `max_tokens`; many local servers do not know the newer name. */
  readonly limit: 'max_tokens' | 'max_completion_tokens';
  /** OpenAI's older models refuse `reasoning_effort`. */
  readonly effort: boolean;
  /** OpenAI and Mistral refuse reasoning in a request; DeepSeek refuses a request without it. */
  readonly reasoning: boolean;
  /** DeepSeek accepts content only as one string, not as an array of parts. */
  readonly plainText: boolean;
}

const OPENAI = /^(?:gpt-\d|chatgpt|o\d)/;
const OPENAI_OLDER = /^(?:gpt-[34]|chatgpt)/;
const OPENAI_REASONING = /^(?:[\w.-]+\/)?(?:o\d(?:$|-)|gpt-(?:[5-9]|\d\d))/;
const MISTRAL = /^(?:open-)?(?:mi[sx]tral|ministral|magistral|devstral|codestral|pixtral)/;

function chatDialectOf(model: string, effort: Effort | undefined): Dialect {
  const name = model.slice(0, 200).toLowerCase();
  const takesEffort = !OPENAI_OLDER.test(name);
  return {
    limit:
      OPENAI_REASONING.test(name) || (effort !== undefined && takesEffort)
        ? 'max_completion_tokens'
        : 'max_tokens',
    effort: takesEffort,
    reasoning: !OPENAI.test(name) && !MISTRAL.test(name),
    plainText: name.includes('deepseek'),
  };
}
