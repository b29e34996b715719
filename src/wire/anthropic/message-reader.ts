import type { ChatEvent } from '../../core/chat.ts';
import { createFailure } from '../../core/failure.ts';
import { asNumber, asObject, asString, isObject, type Json, type JsonObject } from '../../core/json.ts';
import { decodeStreamFailure } from './failure.ts';
import { signRedacted } from './reasoning.ts';
import { decodeStopReason } from './stop-reason.ts';
import { writeJson } from './tool-use.ts';
import { addCounts, type Counts, decodeUsage } from './usage.ts';

/** Decodes a message from its events, from a stream or made from a complete reply. */
export interface MessageReader {
  read(type: string | undefined, event: JsonObject): readonly ChatEvent[];
  end(): readonly ChatEvent[];
}

/** The state of an open block, needed when it closes. */
type Block =
  | { readonly kind: 'text' }
  | { readonly kind: 'thinking'; signature: string }
  | { readonly kind: 'tool'; readonly id: string; readonly input: string; hasDeltas: boolean }
  /** A trace of the provider's server-side tools. */
  | { readonly kind: 'foreign' };

export function createMessageReader(): MessageReader {
  const blocks = new Map<number, Block>();
  const ids = new Set<string>();
  let counts: Counts = {};
  let stop: string | undefined;
  let isStarted = false;
  let isOver = false;

  function start(message: JsonObject): readonly ChatEvent[] {
    if (isStarted) return [];
    isStarted = true;
    counts = addCounts(counts, message.usage);
    return [{ type: 'reply-start', id: asString(message.id) ?? '', model: asString(message.model) ?? '' }];
  }

  function open(index: number, content: JsonObject): readonly ChatEvent[] {
    const before = close(index);
    const [block, events] = openBlock(index, content);
    blocks.set(index, block);
    return [...before, ...events];
  }

  function openBlock(index: number, content: JsonObject): readonly [Block, readonly ChatEvent[]] {
    const name = asString(content.name);
    if (content.type === 'text') return [{ kind: 'text' }, say('text-delta', content.text)];
    if (content.type === 'thinking') {
      const signature = asString(content.signature) ?? '';
      return [{ kind: 'thinking', signature }, say('reasoning-delta', content.thinking)];
    }
    if (content.type === 'redacted_thinking') {
      return [{ kind: 'thinking', signature: signRedacted(asString(content.data) ?? '') }, []];
    }
    if (content.type !== 'tool_use' || name === undefined) return [{ kind: 'foreign' }, []];
    const id = claimId(asString(content.id) ?? '', index);
    const input = (isObject(content.input) && writeJson(content.input)) || '{}';
    return [{ kind: 'tool', id, input, hasDeltas: false }, [{ type: 'tool-start', id, name }]];
  }

  /** Some servers repeat an id or leave it out; a call without a unique id could not be answered. */
  function claimId(given: string, index: number): string {
    let id = given || `toolu_${index}`;
    while (ids.has(id)) id += `_${index}`;
    ids.add(id);
    return id;
  }

  function add(index: number, delta: JsonObject): readonly ChatEvent[] {
    const block = blocks.get(index) ?? { kind: 'text' };
    if (block.kind === 'foreign') return [];
    if (delta.type === 'text_delta') return say('text-delta', delta.text);
    if (delta.type === 'thinking_delta') return say('reasoning-delta', delta.thinking);
    if (delta.type === 'signature_delta' && block.kind === 'thinking') {
      block.signature = asString(delta.signature) ?? block.signature;
    }
    const json = asString(delta.partial_json);
    if (delta.type !== 'input_json_delta' || block.kind !== 'tool' || !json) return [];
    block.hasDeltas = true;
    return [{ type: 'tool-delta', id: block.id, json }];
  }

  function close(index: number): readonly ChatEvent[] {
    const block = blocks.get(index);
    blocks.delete(index);
    if (block?.kind === 'thinking' && block.signature !== '') {
      return [{ type: 'reasoning-signature', signature: block.signature }];
    }
    if (block?.kind !== 'tool' || block.hasDeltas) return [];
    return [{ type: 'tool-delta', id: block.id, json: block.input }];
  }

  function finish(): readonly ChatEvent[] {
    const closed = [...blocks.keys()].flatMap(close);
    isOver = true;
    const usage = decodeUsage(counts);
    const reason = decodeStopReason(stop, ids.size > 0);
    return [...closed, { type: 'reply-end', stop: reason, ...(usage === undefined ? {} : { usage }) }];
  }

  function read(type: string | undefined, event: JsonObject): readonly ChatEvent[] {
    if (isOver) return [];
    if (type === 'error') {
      isOver = true;
      return [{ type: 'failure', failure: decodeStreamFailure(event) }];
    }
    if (type === 'message_start') return start(asObject(event.message));
    if (!isStarted) return [];
    const index = asNumber(event.index) ?? -1;
    if (type === 'content_block_start') return open(index, asObject(event.content_block));
    if (type === 'content_block_delta') return add(index, asObject(event.delta));
    if (type === 'content_block_stop') return close(index);
    if (type === 'message_stop') return finish();
    if (type === 'message_delta') {
      stop = asString(asObject(event.delta).stop_reason) ?? stop;
      counts = addCounts(counts, event.usage);
    }
    return [];
  }

  /** A stop reason comes only after the last block, so a reply that has one is complete. */
  function end(): readonly ChatEvent[] {
    if (isOver) return [];
    if (isStarted && stop !== undefined) return finish();
    isOver = true;
    const message = 'The provider’s stream ended before the reply did';
    return [{ type: 'failure', failure: createFailure('truncated', message) }];
  }

  return { read, end };
}

const say = (type: 'text-delta' | 'reasoning-delta', text: Json | undefined): readonly ChatEvent[] =>
  typeof text === 'string' && text !== '' ? [{ type, text }] : [];
