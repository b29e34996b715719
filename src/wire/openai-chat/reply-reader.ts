import { randomUUID } from 'node:crypto';
import type { ChatEvent, Usage } from '../../core/chat.ts';
import { createFailure, type Failure } from '../../core/failure.ts';
import { asArray, asObject, asString, isObject, type Json, type JsonObject } from '../../core/json.ts';
import { decodeErrorBody } from './failure.ts';
import { plainReasoning, reasoningDetails } from './reasoning.ts';
import { decodeStop } from './stop.ts';
import { createToolCallReader } from './tool-call-reader.ts';
import { decodeUsage } from './usage.ts';

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

export function createReplyReader(makeId: MakeId = randomId): ReplyReader {
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
    if (chunk.error || chunk.object === 'error') return fail(decodeErrorBody(chunk));
    const choice = firstChoice(chunk);
    // Moonshot reports usage inside the choice, Groq in `x_groq`.
    usage =
      decodeUsage(chunk.usage) ??
      decodeUsage(choice?.usage) ??
      decodeUsage(asObject(chunk.x_groq).usage) ??
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
    const stop = decodeStop(reason, matched, tools.called());
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
