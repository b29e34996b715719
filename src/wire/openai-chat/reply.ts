import type { AssistantPart, ChatEvent } from '../../core/chat.ts';
import { createFailure } from '../../core/failure.ts';
import { asArray, asObject, asString, compact, isObject, type JsonObject } from '../../core/json.ts';
import { encodeAssistant } from './assistant.ts';
import { encodeFailure } from './failure.ts';
import { createReplyReader, type MakeId } from './reply-reader.ts';
import { encodeStop } from './stop.ts';
import { encodeUsage } from './usage.ts';

/** A reply that is not streamed counts as complete, even without a `finish_reason`. */
export function decodeReply(body: JsonObject, makeId?: MakeId): readonly ChatEvent[] {
  const reader = createReplyReader(makeId);
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
export function encodeReply(events: readonly ChatEvent[], now: () => number = Date.now): JsonObject {
  const start = events.find((event) => event.type === 'reply-start');
  const end = events.at(-1);
  if (end?.type === 'failure') return encodeFailure(end.failure);
  const done = end?.type === 'reply-end' ? end : undefined;
  return compact({
    id: start?.id ?? '',
    object: 'chat.completion',
    created: Math.floor(now() / 1000),
    model: start?.model ?? '',
    choices: [
      {
        index: 0,
        message: { ...encodeAssistant(partsOf(events), true), refusal: null },
        logprobs: null,
        finish_reason: encodeStop(done?.stop ?? 'end'),
      },
    ],
    usage: done?.usage && encodeUsage(done.usage),
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
