import { randomUUID } from 'node:crypto';
import type { AssistantPart, ChatEvent, StopReason, Usage } from '../../core/chat.ts';
import { createFailure, type Failure } from '../../core/failure.ts';
import {
  asArray,
  asNumber,
  asObject,
  asString,
  compact,
  isObject,
  type Json,
  type JsonObject,
} from '../../core/json.ts';
import { decodeOpenaiErrorBody, encodeOpenaiFailure } from './failure.ts';
import { encodeAssistantMessage } from './messages.ts';
import { plainReasoning, reasoningDetails } from './reasoning.ts';
import { createToolCallReader } from './tools.ts';

/** A reply that is not streamed counts as complete, even without a `finish_reason`. */
export function decodeChatReply(body: JsonObject, makeId?: MakeId): readonly ChatEvent[] {
  const reader = createChatReplyReader(makeId);
  const choices = asArray(body.choices)
    .filter(isObject)
    .map((choice) => ({
      ...choice,
      delta: asObject(choice.message),
      finish_reason: asString(choice.finish_reason) || 'stop',
    }));
  const events = reader.read({ ...body, choices });
  if (events.length > 0) return [...events, ...reader.finish()];
  return reader.fail(createFailure('upstream-error', 'The provider answered without any choices.'));
}

/** A failed reply becomes the error body. */
export function encodeChatReply(events: readonly ChatEvent[], now: () => number = Date.now): JsonObject {
  const start = events.find((event) => event.type === 'reply-start');
  const end = events.at(-1);
  if (end?.type === 'failure') return encodeOpenaiFailure(end.failure);
  const done = end?.type === 'reply-end' ? end : undefined;
  return compact({
    id: start?.id ?? '',
    object: 'chat.completion',
    created: Math.floor(now() / 1000),
    model: start?.model ?? '',
    choices: [
      {
        index: 0,
        message: { ...encodeAssistantMessage(partsOf(events), true), refusal: null },
        logprobs: null,
        finish_reason: encodeFinishReason(done?.stop ?? 'end'),
      },
    ],
    usage: done?.usage && encodeChatUsage(done.usage),
  });
}

function partsOf(events: readonly ChatEvent[]): readonly AssistantPart[] {
  const parts: AssistantPart[] = [];
  const calls = new Map<string, { readonly name: string; readonly json: string[] }>();
  let thought = '';
  let text = '';
  for (const event of events) {
    if (event.type === 'text-delta') text += event.text;
    else if (event.type === 'reasoning-delta') thought += event.text;
    else if (event.type === 'reasoning-signature') {
      parts.push({ type: 'reasoning', text: thought, signature: event.signature });
      thought = '';
    } else if (event.type === 'tool-start') calls.set(event.id, { name: event.name, json: [] });
    else if (event.type === 'tool-delta') calls.get(event.id)?.json.push(event.json);
  }
  if (thought !== '') parts.push({ type: 'reasoning', text: thought });
  if (text !== '') parts.push({ type: 'text', text });
  for (const [id, { name, json }] of calls) {
    parts.push({ type: 'tool-call', id, name, arguments: json.join('') });
  }
  return parts;
}

/** Decodes one reply from its chunks; a complete reply is one chunk. No events follow a failure or `finish`. */
interface ReplyReader {
  read(chunk: JsonObject): readonly ChatEvent[];
  fail(failure: Failure): readonly ChatEvent[];
  /** After the last chunk: the end of the reply, or a failure if it gave no finish reason. */
  finish(): readonly ChatEvent[];
}

export type MakeId = (prefix: string) => string;
const randomId: MakeId = (prefix) => `${prefix}${randomUUID().replaceAll('-', '')}`;

/** Finish reasons that mean a failure. */
const BROKEN: ReadonlySet<string> = new Set(['error', 'network_error', 'insufficient_system_resource']);

export function createChatReplyReader(makeId: MakeId = randomId): ReplyReader {
  const tools = createToolCallReader(makeId);
  let started = false;
  let over = false;
  let reason = '';
  let matched: string | undefined;
  let usage: Usage | undefined;
  let unsigned = '';

  function fail(failure: Failure): readonly ChatEvent[] {
    if (over) return [];
    over = true;
    return [{ type: 'failure', failure }];
  }

  function readReasoning(delta: JsonObject, out: ChatEvent[]): void {
    const plain = plainReasoning(delta);
    const details = reasoningDetails(delta);
    const text = details.map((detail) => detail.text).join('');
    // Details that come with the signature may repeat the text that was already streamed in pieces.
    const inDetails = text !== '' && !(plain === '' && text === unsigned);
    if (!inDetails && plain !== '') {
      out.push({ type: 'reasoning-delta', text: plain });
      unsigned += plain;
    }
    for (const detail of details) {
      if (inDetails && detail.text !== '') out.push({ type: 'reasoning-delta', text: detail.text });
      if (detail.signature === undefined) continue;
      out.push({ type: 'reasoning-signature', signature: detail.signature });
      unsigned = '';
    }
  }

  function readDelta(delta: JsonObject, out: ChatEvent[]): void {
    readReasoning(delta, out);
    for (const text of [contentText(delta.content), asString(delta.refusal) ?? '']) {
      if (text !== '') out.push({ type: 'text-delta', text });
    }
    out.push(...tools.read(asArray(delta.tool_calls)));
    if (isObject(delta.function_call))
      out.push(...tools.read([{ index: -1, function: delta.function_call }]));
  }

  function read(chunk: JsonObject): readonly ChatEvent[] {
    if (over) return [];
    if (chunk.error || chunk.object === 'error') return fail(decodeOpenaiErrorBody(chunk));
    const choice = firstChoice(chunk);
    // Moonshot reports usage inside the choice, Groq in `x_groq`.
    usage =
      decodeChatUsage(chunk.usage) ??
      decodeChatUsage(choice?.usage) ??
      decodeChatUsage(asObject(chunk.x_groq).usage) ??
      usage;
    // Azure begins with a chunk that has neither choices nor an id.
    if (choice === undefined) return [];
    const out: ChatEvent[] = [];
    if (!started) {
      started = true;
      out.push({
        type: 'reply-start',
        id: asString(chunk.id) || makeId('chatcmpl-'),
        model: asString(chunk.model) ?? '',
      });
    }
    readDelta(asObject(choice.delta), out);
    reason = asString(choice.finish_reason) || reason;
    matched = asString(choice.stop_reason) ?? matched;
    return BROKEN.has(reason) ? [...out, ...fail(brokenOff(reason))] : out;
  }

  function finish(): readonly ChatEvent[] {
    if (over) return [];
    if (reason === '')
      return fail(createFailure('truncated', 'The provider’s reply ended before it was complete.'));
    over = true;
    const stop = decodeFinishReason(reason, matched, tools.called());
    return [usage === undefined ? { type: 'reply-end', stop } : { type: 'reply-end', stop, usage }];
  }

  return { read, fail, finish };
}

/** Only one choice is ever requested. */
const firstChoice = (chunk: JsonObject): JsonObject | undefined =>
  asArray(chunk.choices)
    .filter(isObject)
    .find((choice) => choice.index === undefined || choice.index === null || choice.index === 0);

/** Content is a string; Mistral sends parts when a model thinks. */
const contentText = (content: Json | undefined): string =>
  typeof content === 'string'
    ? content
    : asArray(content)
        .map((part) => asString(asObject(part).text) ?? '')
        .join('');

const brokenOff = (reason: string): Failure =>
  createFailure(
    reason === 'insufficient_system_resource' ? 'overloaded' : 'upstream-error',
    `The provider broke the reply off with finish_reason "${reason}".`,
  );

const STOPS: Readonly<Record<string, StopReason>> = {
  length: 'length',
  max_tokens: 'length',
  model_length: 'length',
  content_filter: 'filter',
  sensitive: 'filter',
};

/**
 * Some servers send `stop` after tool calls, and some `tool_calls` without any: the calls themselves decide. A truncated
 * reply stays truncated, with or without calls.
 */
function decodeFinishReason(reason: string, matched: string | undefined, called: boolean): StopReason {
  const stop = Object.hasOwn(STOPS, reason) ? STOPS[reason] : undefined;
  if (stop !== undefined) return stop;
  if (called) return 'tool-calls';
  return matched ? 'stop-sequence' : 'end';
}

const REASONS: Readonly<Record<StopReason, string>> = {
  end: 'stop',
  'stop-sequence': 'stop',
  length: 'length',
  'tool-calls': 'tool_calls',
  filter: 'content_filter',
};

export const encodeFinishReason = (stop: StopReason): string => REASONS[stop];

/** Zero counts are left out: this format contains them even if the provider does not count such tokens. */
function decodeChatUsage(value: Json | undefined): Usage | undefined {
  if (!isObject(value)) return undefined;
  const input = asNumber(value.prompt_tokens);
  const output = asNumber(value.completion_tokens);
  if (input === undefined && output === undefined) return undefined;
  const inputDetails = asObject(value.prompt_tokens_details);
  // The second and third are DeepSeek's and Moonshot's names for the cached tokens.
  const read =
    positive(inputDetails.cached_tokens) ??
    positive(value.prompt_cache_hit_tokens) ??
    positive(value.cached_tokens);
  const write = positive(inputDetails.cache_write_tokens);
  const thought = positive(asObject(value.completion_tokens_details).reasoning_tokens);
  return {
    inputTokens: input ?? 0,
    outputTokens: (output ?? 0) + (isBeside(value, thought) ? (thought ?? 0) : 0),
    ...(read === undefined ? {} : { cacheReadTokens: read }),
    ...(write === undefined ? {} : { cacheWriteTokens: write }),
    ...(thought === undefined ? {} : { reasoningTokens: thought }),
  };
}

/** xAI and Gemini do not include reasoning in the completion tokens; only their total shows that. */
const isBeside = (usage: JsonObject, thought = 0): boolean =>
  thought > 0 &&
  asNumber(usage.total_tokens) ===
    (asNumber(usage.prompt_tokens) ?? 0) + (asNumber(usage.completion_tokens) ?? 0) + thought;

const positive = (value: Json | undefined): number | undefined => {
  const count = asNumber(value);
  return count !== undefined && count > 0 ? count : undefined;
};

export const encodeChatUsage = (usage: Usage): JsonObject => ({
  prompt_tokens: usage.inputTokens,
  completion_tokens: usage.outputTokens,
  total_tokens: usage.inputTokens + usage.outputTokens,
  prompt_tokens_details: {
    cached_tokens: usage.cacheReadTokens ?? 0,
    cache_write_tokens: usage.cacheWriteTokens ?? 0,
  },
  completion_tokens_details: { reasoning_tokens: usage.reasoningTokens ?? 0 },
});
