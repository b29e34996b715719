import type { ChatEvent } from '../../core/chat.ts';
import { createFailure } from '../../core/failure.ts';
import { asObject, type JsonObject } from '../../core/json.ts';
import { encodeFailure } from './failure.ts';
import { createMessageReader } from './message-reader.ts';
import { encodeThinkingBlock, redactedData } from './reasoning.ts';
import { encodeStopReason } from './stop-reason.ts';
import { encodeToolUse } from './tool-use.ts';
import { encodeUsage } from './usage.ts';

export function decodeReply(body: JsonObject): readonly ChatEvent[] {
  const reader = createMessageReader();
  if (body.type === 'error' || body.error) return reader.read('error', body);
  if (!Array.isArray(body.content)) {
    const message = 'The provider’s reply is not a message: it has no content';
    return [{ type: 'failure', failure: createFailure('upstream-error', message) }];
  }
  return [
    ...reader.read('message_start', { message: body }),
    ...body.content.flatMap((block, index) => [
      ...reader.read('content_block_start', { index, content_block: asObject(block) }),
      ...reader.read('content_block_stop', { index }),
    ]),
    ...reader.read('message_delta', { delta: body }),
    ...reader.read('message_stop', {}),
  ];
}

/** A block that is still being assembled. */
type Draft =
  | { readonly type: 'text'; text: string }
  | { readonly type: 'reasoning'; text: string; signature?: string }
  | { readonly type: 'tool-call'; readonly id: string; readonly name: string; arguments: string };

export function encodeReply(events: readonly ChatEvent[]): JsonObject {
  const drafts: Draft[] = [];
  let head: { readonly id: string; readonly model: string } = { id: '', model: '' };
  let end: Extract<ChatEvent, { type: 'reply-end' }> | undefined;
  for (const event of events) {
    if (event.type === 'failure') return encodeFailure(event.failure);
    if (event.type === 'reply-start') head = event;
    else if (event.type === 'reply-end') end = event;
    else addToDrafts(drafts, event);
  }
  const hasCalls = drafts.some(({ type }) => type === 'tool-call');
  return {
    id: head.id,
    type: 'message',
    role: 'assistant',
    model: head.model,
    content: drafts.map(encodeDraft),
    stop_reason: end ? encodeStopReason(end.stop, hasCalls) : null,
    stop_sequence: null,
    usage: encodeUsage(end?.usage),
  };
}

function addToDrafts(
  drafts: Draft[],
  event: Exclude<ChatEvent, { type: 'reply-start' | 'reply-end' | 'failure' }>,
) {
  const last = drafts.at(-1);
  if (event.type === 'text-delta') {
    if (last?.type === 'text') last.text += event.text;
    else if (event.text !== '') drafts.push({ type: 'text', text: event.text });
  } else if (event.type === 'reasoning-delta') {
    if (last?.type === 'reasoning' && last.signature === undefined) last.text += event.text;
    else if (event.text !== '') drafts.push({ type: 'reasoning', text: event.text });
  } else if (event.type === 'reasoning-signature') {
    const { signature } = event;
    const isSeparate = last?.type !== 'reasoning' || last.signature !== undefined;
    if (isSeparate || redactedData(signature) !== undefined)
      drafts.push({ type: 'reasoning', text: '', signature });
    else last.signature = signature;
  } else if (event.type === 'tool-start') {
    drafts.push({ type: 'tool-call', id: event.id, name: event.name, arguments: '' });
  } else {
    const call = drafts.find((entry) => entry.type === 'tool-call' && entry.id === event.id);
    if (call?.type === 'tool-call') call.arguments += event.json;
  }
}

function encodeDraft(block: Draft): JsonObject {
  if (block.type === 'text') return { type: 'text', text: block.text };
  return block.type === 'reasoning' ? encodeThinkingBlock(block) : encodeToolUse(block);
}
