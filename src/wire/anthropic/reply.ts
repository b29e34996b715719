import type { ChatEvent, StopReason, Usage } from '../../core/chat.ts';
import { createFailure } from '../../core/failure.ts';
import {
  asNumber,
  asObject,
  asString,
  compact,
  isObject,
  type Json,
  type JsonObject,
} from '../../core/json.ts';
import { decodeAnthropicStreamFailure, encodeAnthropicFailure } from './failure.ts';
import { encodeThinkingBlock, redactedData, signRedacted } from './messages.ts';
import { encodeToolUseBlock, writeJson } from './tools.ts';

export function decodeAnthropicReply(body: JsonObject): readonly ChatEvent[] {
  const reader = createAnthropicReplyReader();
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

export function encodeAnthropicReply(events: readonly ChatEvent[]): JsonObject {
  const drafts: Draft[] = [];
  let head: { readonly id: string; readonly model: string } = { id: '', model: '' };
  let end: Extract<ChatEvent, { type: 'reply-end' }> | undefined;
  for (const event of events) {
    if (event.type === 'failure') return encodeAnthropicFailure(event.failure);
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
    usage: encodeAnthropicUsage(end?.usage),
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
  return block.type === 'reasoning' ? encodeThinkingBlock(block) : encodeToolUseBlock(block);
}

/** Decodes a message from its events, from a stream or made from a complete reply. */
interface AnthropicReplyReader {
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

/** Reads the blocks of a message, several of which may be open at a time. */
function createBlockReader() {
  const blocks = new Map<number, Block>();
  const ids = new Set<string>();

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

  return {
    open,
    add,
    close,
    closeAll: (): readonly ChatEvent[] => [...blocks.keys()].flatMap(close),
    /** Whether a tool was called in any of them. */
    hasCalls: (): boolean => ids.size > 0,
  };
}

export function createAnthropicReplyReader(): AnthropicReplyReader {
  const blocks = createBlockReader();
  let counts: TokenCounts = {};
  let stop: string | undefined;
  let isStarted = false;
  let isOver = false;

  function start(message: JsonObject): readonly ChatEvent[] {
    if (isStarted) return [];
    isStarted = true;
    counts = addTokenCounts(counts, message.usage);
    return [{ type: 'reply-start', id: asString(message.id) ?? '', model: asString(message.model) ?? '' }];
  }

  function finish(): readonly ChatEvent[] {
    const closed = blocks.closeAll();
    isOver = true;
    const usage = decodeAnthropicUsage(counts);
    const reason = decodeStopReason(stop, blocks.hasCalls());
    return [...closed, { type: 'reply-end', stop: reason, ...(usage === undefined ? {} : { usage }) }];
  }

  function read(type: string | undefined, event: JsonObject): readonly ChatEvent[] {
    if (isOver) return [];
    if (type === 'error') {
      isOver = true;
      return [{ type: 'failure', failure: decodeAnthropicStreamFailure(event) }];
    }
    if (type === 'message_start') return start(asObject(event.message));
    if (!isStarted) return [];
    const index = asNumber(event.index) ?? -1;
    if (type === 'content_block_start') return blocks.open(index, asObject(event.content_block));
    if (type === 'content_block_delta') return blocks.add(index, asObject(event.delta));
    if (type === 'content_block_stop') return blocks.close(index);
    if (type === 'message_stop') return finish();
    if (type === 'message_delta') {
      stop = asString(asObject(event.delta).stop_reason) ?? stop;
      counts = addTokenCounts(counts, event.usage);
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

const DECODED: ReadonlyMap<string, StopReason> = new Map<string, StopReason>([
  ['end_turn', 'end'],
  ['max_tokens', 'length'],
  ['stop_sequence', 'stop-sequence'],
  ['tool_use', 'tool-calls'],
  ['pause_turn', 'end'],
  ['refusal', 'filter'],
  ['model_context_window_exceeded', 'length'],
]);

const ENCODED: Record<StopReason, string> = {
  end: 'end_turn',
  length: 'max_tokens',
  'tool-calls': 'tool_use',
  'stop-sequence': 'stop_sequence',
  filter: 'refusal',
};

const decodeStopReason = (reason: string | undefined, hasCalls: boolean): StopReason =>
  DECODED.get(reason ?? '') ?? (hasCalls ? 'tool-calls' : 'end');

/** Some models end a turn with tool calls like a turn without; a client of this wire waits for `tool_use`. */
export const encodeStopReason = (stop: StopReason, hasCalls: boolean): string =>
  ENCODED[stop === 'end' && hasCalls ? 'tool-calls' : stop];

/** The token counts that a reply has reported so far. */
interface TokenCounts {
  readonly input?: number;
  readonly output?: number;
  readonly read?: number;
  readonly write?: number;
  readonly thought?: number;
}

/**
 * Counts are cumulative, so a later one replaces an earlier one. A zero does not: some vendors report the input when the
 * reply starts and write zeros at its end.
 */
function addTokenCounts(counts: TokenCounts, value: Json | undefined): TokenCounts {
  const usage = asObject(value);
  const later = (before: number | undefined, now: Json | undefined) => {
    const count = Math.max(0, asNumber(now) ?? -1);
    return asNumber(now) === undefined || (count === 0 && before !== undefined) ? before : count;
  };
  return compact({
    input: later(counts.input, usage.input_tokens),
    output: later(counts.output, usage.output_tokens),
    read: later(counts.read, usage.cache_read_input_tokens),
    write: later(counts.write, usage.cache_creation_input_tokens),
    thought: later(counts.thought, asObject(usage.output_tokens_details).thinking_tokens),
  });
}

/** Undefined when the reply reported no counts. */
function decodeAnthropicUsage({
  input,
  output,
  read = 0,
  write = 0,
  thought = 0,
}: TokenCounts): Usage | undefined {
  if (input === undefined && output === undefined) return undefined;
  return {
    inputTokens: (input ?? 0) + read + write,
    outputTokens: output ?? 0,
    ...(read > 0 ? { cacheReadTokens: read } : {}),
    ...(write > 0 ? { cacheWriteTokens: write } : {}),
    ...(thought > 0 ? { reasoningTokens: thought } : {}),
  };
}

/** Clients read every count without checking that it exists, so all are written. */
export function encodeAnthropicUsage(usage: Usage = { inputTokens: 0, outputTokens: 0 }): JsonObject {
  const { inputTokens, outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0, reasoningTokens } = usage;
  return {
    input_tokens: Math.max(0, inputTokens - cacheReadTokens - cacheWriteTokens),
    cache_creation_input_tokens: cacheWriteTokens,
    cache_read_input_tokens: cacheReadTokens,
    output_tokens: outputTokens,
    ...(reasoningTokens === undefined ? {} : { output_tokens_details: { thinking_tokens: reasoningTokens } }),
  };
}
