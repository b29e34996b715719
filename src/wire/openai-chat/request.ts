import type { ChatRequest, Effort, ReplyFormat } from '../../core/chat.ts';
import { compact, type Json, type JsonObject } from '../../core/json.ts';
import {
  arrayAt,
  booleanAt,
  isAbsent,
  numberAt,
  objectAt,
  optional,
  refuse,
  stringAt,
  textAt,
} from '../fields.ts';
import { dialectOf } from './dialect.ts';
import { decodeMessages, encodeMessages } from './messages.ts';
import { decodeToolUse, encodeToolUse } from './tools.ts';

const EFFORTS: readonly Effort[] = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];

export function decodeRequest(body: JsonObject): ChatRequest {
  const choices = optional(body.n, 'n', numberAt) ?? 1;
  if (choices > 1) refuse('n', 'only one choice can be translated; send 1 or leave it out');
  return compact({
    model: textAt(body.model, 'model'),
    ...decodeMessages(body.messages),
    ...decodeToolUse(body),
    maxTokens:
      optional(body.max_completion_tokens, 'max_completion_tokens', requirePositiveCount) ??
      optional(body.max_tokens, 'max_tokens', requirePositiveCount),
    temperature: optional(body.temperature, 'temperature', numberAt),
    topP: optional(body.top_p, 'top_p', numberAt),
    stop: decodeStopSequences(body.stop),
    effort: optional(body.reasoning_effort, 'reasoning_effort', requireEffort),
    format: optional(body.response_format, 'response_format', requireFormat),
    user:
      optional(body.user, 'user', stringAt) ??
      optional(body.safety_identifier, 'safety_identifier', stringAt),
    stream: optional(body.stream, 'stream', booleanAt) ?? false,
  });
}

function requirePositiveCount(value: Json | undefined, path: string): number {
  const count = numberAt(value, path);
  return Number.isInteger(count) && count >= 1 ? count : refuse(path, 'must be a whole number, 1 or more');
}

const requireEffort = (value: Json | undefined, path: string): Effort =>
  EFFORTS.find((effort) => effort === value) ?? refuse(path, `must be one of ${EFFORTS.join(', ')}`);

function decodeStopSequences(value: Json | undefined): readonly string[] | undefined {
  if (isAbsent(value)) return undefined;
  if (typeof value === 'string') return value === '' ? undefined : [value];
  const list = arrayAt(value, 'stop').map((entry, index) => stringAt(entry, `stop[${index}]`));
  return list.length > 0 ? list : undefined;
}

function requireFormat(value: Json | undefined, path: string): ReplyFormat | undefined {
  const format = objectAt(value, path);
  if (format.type === 'text') return undefined;
  if (format.type === 'json_object') return { type: 'json' };
  if (format.type !== 'json_schema') {
    refuse(`${path}.type`, 'must be "text", "json_object" or "json_schema"');
  }
  const spec = objectAt(format.json_schema, `${path}.json_schema`);
  const strict = optional(spec.strict, `${path}.json_schema.strict`, booleanAt);
  return {
    type: 'json-schema',
    name: textAt(spec.name, `${path}.json_schema.name`),
    schema: optional(spec.schema, `${path}.json_schema.schema`, objectAt) ?? {},
    ...(strict === undefined ? {} : { strict }),
  };
}

/** Prompt-cache marks are never written: servers of this format cache without them, and some refuse them. */
export function encodeRequest(request: ChatRequest): JsonObject {
  const dialect = dialectOf(request.model, request.effort);
  return compact({
    model: request.model,
    messages: encodeMessages(request, dialect),
    ...encodeToolUse(request),
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
