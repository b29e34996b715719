import type { ChatEvent, StopReason } from '../../core/chat.ts';
import { createFailure, type Failure } from '../../core/failure.ts';
import { asArray, asNumber, asObject, asString, type JsonObject } from '../../core/json.ts';
import { decodeStreamError } from './failure.ts';
import { reasoningTexts } from './input.ts';
import { decodeResponsesUsage } from './response-object.ts';
import { freeformHead, freeformPiece, freeformTail, joinQualifiedName } from './tools.ts';

/** Decodes the events of one reply. Some vendors omit the deltas, some the complete texts: either is enough. */
interface ResponsesReplyReader {
  read(type: string, event: JsonObject): readonly ChatEvent[];
  /** After the last event: the failure, unless the reply was already complete. */
  end(failure: Failure): readonly ChatEvent[];
}

export function createResponsesReplyReader(): ResponsesReplyReader {
  const reply: ReplyState = {
    texts: new Map(),
    tools: new Map(),
    toolAt: new Map(),
    reasoningSource: new Map(),
    signed: new Set(),
    slotOf: createOutputItemLookup(),
    out: [],
    last: undefined,
    hasText: false,
    isOver: false,
  };
  return {
    read(type, event) {
      if (reply.isOver) return [];
      reply.out = [];
      const response = asObject(event.response);
      if (type === 'error') {
        emit(reply, [{ type: 'failure', failure: decodeStreamError(event) }]);
        reply.isOver = true;
      } else if (ENDS.has(type))
        finish(reply, response, asString(response.status) ?? type.slice('response.'.length));
      else if (BEGINS.has(type)) start(reply, response);
      else readEvent(reply, type, event);
      return reply.out;
    },
    end(failure) {
      if (reply.isOver) return [];
      reply.isOver = true;
      return [{ type: 'failure', failure }];
    },
  };
}

interface ReplyState {
  /** The text decoded so far, by its place in the output. */
  readonly texts: Map<string, string>;
  /** By the id of the call. */
  readonly tools: Map<string, ResponsesToolReader>;
  /** By the place of the call in the output. */
  readonly toolAt: Map<string, ResponsesToolReader>;
  /** Whether the reasoning of an item is its summary or its words: never both. */
  readonly reasoningSource: Map<string, string>;
  readonly signed: Set<string>;
  readonly slotOf: (event: JsonObject) => string;
  /** The events of the call in progress. */
  out: ChatEvent[];
  last: ChatEvent['type'] | undefined;
  hasText: boolean;
  isOver: boolean;
}

function start(reply: ReplyState, response: JsonObject): void {
  if (reply.last !== undefined) return;
  const type = 'reply-start';
  reply.last = type;
  reply.out.push({ type, id: asString(response.id) ?? 'resp_0', model: asString(response.model) ?? '' });
}

function emit(reply: ReplyState, events: readonly ChatEvent[] = []): void {
  for (const event of events) {
    if (event.type !== 'failure') start(reply, {});
    reply.out.push(event);
    reply.last = event.type;
    if (event.type === 'text-delta') reply.hasText = true;
  }
}

function addText(reply: ReplyState, at: string, delta: string): void {
  if (delta === '') return;
  reply.texts.set(at, (reply.texts.get(at) ?? '') + delta);
  emit(reply, [{ type: 'text-delta', text: delta }]);
}

/** Where a piece of reasoning stands. */
interface ReasoningPlace {
  readonly slot: string;
  readonly source: string;
  readonly index: number;
}

const reasoningKey = ({ slot, source, index }: ReasoningPlace): string => `${slot}/${source}/${index}`;

function addReasoning(reply: ReplyState, place: ReasoningPlace, delta: string): void {
  if (delta === '') return;
  const { texts, reasoningSource } = reply;
  const { slot, source } = place;
  if (reasoningSource.has(slot) && reasoningSource.get(slot) !== source) return;
  reasoningSource.set(slot, source);
  const at = reasoningKey(place);
  const gap = !texts.has(at) && reply.last === 'reasoning-delta' ? '\n\n' : '';
  texts.set(at, (texts.get(at) ?? '') + delta);
  emit(reply, [{ type: 'reasoning-delta', text: gap + delta }]);
}

/** The part of a complete text that its deltas lacked; empty when it contradicts them. */
function beyond({ texts }: ReplyState, at: string, whole: string): string {
  const before = texts.get(at) ?? '';
  return whole.startsWith(before) ? whole.slice(before.length) : '';
}

function toolOf(reply: ReplyState, slot: string, item: JsonObject): ResponsesToolReader | undefined {
  const open = reply.toolAt.get(slot);
  if (open) return open;
  const name = toolCallName(item);
  if (name === undefined) return undefined;
  const id = asString(item.call_id) || asString(item.id) || `call_${slot}`;
  let tool = reply.tools.get(id);
  if (!tool) {
    tool = createResponsesToolReader(id, item.type === 'custom_tool_call');
    reply.tools.set(id, tool);
    emit(reply, [{ type: 'tool-start', id, name }]);
  }
  reply.toolAt.set(slot, tool);
  return tool;
}

function readMessage(reply: ReplyState, slot: string, item: JsonObject): void {
  for (const [n, entry] of asArray(item.content).entries()) {
    const part = asObject(entry);
    const at = `${slot}/text/${n}`;
    addText(reply, at, beyond(reply, at, asString(part.text) ?? asString(part.refusal) ?? ''));
  }
}

function readReasoning(reply: ReplyState, slot: string, item: JsonObject): void {
  const { source, texts } = reasoningTexts(item);
  for (const [index, text] of texts.entries()) {
    const place = { slot, source, index };
    addReasoning(reply, place, beyond(reply, reasoningKey(place), text));
  }
  const signature = asString(item.encrypted_content);
  if (!signature || reply.signed.has(slot)) return;
  reply.signed.add(slot);
  if (reply.last !== 'reasoning-delta') emit(reply, [{ type: 'reasoning-delta', text: '' }]);
  emit(reply, [{ type: 'reasoning-signature', signature }]);
}

function readItem(reply: ReplyState, slot: string, item: JsonObject): void {
  if (isToolCallItem(item)) emit(reply, toolOf(reply, slot, item)?.settle(toolCallText(item)));
  else if (item.type === 'message') readMessage(reply, slot, item);
  else if (item.type === 'reasoning') readReasoning(reply, slot, item);
}

/** The final output's indexes may differ from the stream's, so only items that the stream lacked are taken. */
function readOutput(reply: ReplyState, response: JsonObject): void {
  const isEmpty = reply.last === 'reply-start';
  const hasNoText = !reply.hasText;
  for (const [n, entry] of asArray(response.output).entries()) {
    const item = asObject(entry);
    const missed = isToolCallItem(item) ? Boolean(item.call_id) : hasNoText && item.type === 'message';
    if (isEmpty || missed) readItem(reply, `final ${n}`, item);
  }
  for (const tool of reply.tools.values()) emit(reply, tool.settle(undefined));
}

function finish(reply: ReplyState, response: JsonObject, status: string): void {
  if (status === 'completed' || status === 'incomplete') {
    start(reply, response);
    readOutput(reply, response);
    const usage = decodeResponsesUsage(response.usage);
    const stop = stopOf(response, status, reply.tools.size > 0);
    emit(reply, [{ type: 'reply-end', stop, ...(usage === undefined ? {} : { usage }) }]);
  } else if (status === 'failed')
    emit(reply, [{ type: 'failure', failure: decodeStreamError({ error: response.error ?? {} }) }]);
  else {
    const message = `The provider ended the reply with status "${status}".`;
    emit(reply, [{ type: 'failure', failure: createFailure('upstream-error', message) }]);
  }
  reply.isOver = true;
}

function readEvent(reply: ReplyState, type: string, event: JsonObject): void {
  const slot = reply.slotOf(event);
  const index = asNumber(event.content_index) ?? asNumber(event.summary_index) ?? 0;
  const at = `${slot}/text/${index}`;
  const summary = { slot, source: 'summary', index };
  const words = { slot, source: 'words', index };
  const whole = asString(event.text) ?? asString(event.refusal) ?? '';
  const delta = asString(event.delta) ?? '';
  switch (type) {
    case 'response.output_item.added':
      if (isToolCallItem(asObject(event.item))) toolOf(reply, slot, asObject(event.item));
      break;
    case 'response.output_item.done':
      readItem(reply, slot, asObject(event.item));
      break;
    case 'response.output_text.delta':
    case 'response.refusal.delta':
      addText(reply, at, delta);
      break;
    case 'response.output_text.done':
    case 'response.refusal.done':
      addText(reply, at, beyond(reply, at, whole));
      break;
    case 'response.reasoning_summary_text.delta':
      addReasoning(reply, summary, delta);
      break;
    case 'response.reasoning_summary_text.done':
      addReasoning(reply, summary, beyond(reply, reasoningKey(summary), whole));
      break;
    case 'response.reasoning_text.delta':
      addReasoning(reply, words, delta);
      break;
    case 'response.reasoning_text.done':
      addReasoning(reply, words, beyond(reply, reasoningKey(words), whole));
      break;
    case 'response.function_call_arguments.delta':
    case 'response.custom_tool_call_input.delta':
      emit(reply, reply.toolAt.get(slot)?.add(delta));
      break;
    case 'response.function_call_arguments.done':
    case 'response.custom_tool_call_input.done':
      emit(reply, reply.toolAt.get(slot)?.settle(toolCallText(event)));
      break;
  }
}

const BEGINS: ReadonlySet<string> = new Set(['response.created', 'response.in_progress', 'response.queued']);
const ENDS: ReadonlySet<string> = new Set(['response.completed', 'response.incomplete', 'response.failed']);

function stopOf(response: JsonObject, status: string, called: boolean): StopReason {
  if (status === 'incomplete') {
    return asObject(response.incomplete_details).reason === 'content_filter' ? 'filter' : 'length';
  }
  return called ? 'tool-calls' : 'end';
}

/**
 * Finds the output item of an event. The output index has precedence, since some vendors' item ids change from event to
 * event; others omit the index in deltas, or both.
 */
function createOutputItemLookup(): (event: JsonObject) => string {
  const byId = new Map<string, string>();
  let current = '0';
  return (event) => {
    const index = asNumber(event.output_index);
    const itemId = asString(asObject(event.item).id);
    const id = asString(event.item_id) ?? itemId;
    const known = id === undefined ? current : (byId.get(id) ?? id);
    const slot = index === undefined ? known : `${index}`;
    if (itemId !== undefined) byId.set(itemId, slot);
    current = slot;
    return slot;
  };
}

/** One tool call being decoded; each method returns the events it causes. */
interface ResponsesToolReader {
  add(delta: string): readonly ChatEvent[];
  /** Takes the complete text and returns what the deltas lacked. */
  settle(whole: string | undefined): readonly ChatEvent[];
}

const isToolCallItem = (item: JsonObject): boolean =>
  item.type === 'function_call' || item.type === 'custom_tool_call';

/** The item's arguments or its freeform input. */
const toolCallText = (item: JsonObject): string | undefined => asString(item.input ?? item.arguments);

function toolCallName(item: JsonObject): string | undefined {
  const name = asString(item.name);
  const namespace = asString(item.namespace);
  return name && namespace ? joinQualifiedName({ name, namespace }) : name || undefined;
}

function createResponsesToolReader(id: string, freeform: boolean): ResponsesToolReader {
  let seen = '';
  let open = false;
  let closed = false;

  const event = (json: string): readonly ChatEvent[] =>
    json === '' ? [] : [{ type: 'tool-delta', id, json }];

  function add(delta: string): readonly ChatEvent[] {
    if (closed) return [];
    seen += delta;
    if (!freeform) return event(delta);
    const head = open ? '' : freeformHead;
    open = true;
    return event(head + freeformPiece(delta));
  }

  return {
    add: (delta) => (delta === '' ? [] : add(delta)),
    settle(whole) {
      const rest = whole?.startsWith(seen) ? whole.slice(seen.length) : '';
      if (!freeform) return rest === '' ? [] : add(rest);
      if (closed) return [];
      const events = rest === '' && open ? [] : add(rest);
      closed = true;
      return [...events, ...event(freeformTail)];
    },
  };
}
