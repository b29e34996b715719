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
  /** The text decoded so far, by its place in the output. */
  const seen = new Map<string, string>();
  const tools = new Map<string, ResponsesToolReader>();
  const toolAt = new Map<string, ResponsesToolReader>();
  const reasoningSource = new Map<string, string>();
  const signed = new Set<string>();
  const slotOf = createOutputItemLookup();
  let out: ChatEvent[] = [];
  let last: ChatEvent['type'] | undefined;
  let hasText = false;
  let over = false;

  function start(response: JsonObject): void {
    if (last !== undefined) return;
    last = 'reply-start';
    out.push({ type: last, id: asString(response.id) ?? 'resp_0', model: asString(response.model) ?? '' });
  }

  function emit(...events: readonly ChatEvent[]): void {
    for (const event of events) {
      if (event.type !== 'failure') start({});
      out.push(event);
      last = event.type;
      if (event.type === 'text-delta') hasText = true;
    }
  }

  function addText(at: string, delta: string): void {
    if (delta === '') return;
    seen.set(at, (seen.get(at) ?? '') + delta);
    emit({ type: 'text-delta', text: delta });
  }

  function addReasoning(slot: string, source: string, index: number, delta: string): void {
    if (delta === '') return;
    if (reasoningSource.has(slot) && reasoningSource.get(slot) !== source) return;
    reasoningSource.set(slot, source);
    const at = `${slot}/${source}/${index}`;
    const gap = !seen.has(at) && last === 'reasoning-delta' ? '\n\n' : '';
    seen.set(at, (seen.get(at) ?? '') + delta);
    emit({ type: 'reasoning-delta', text: gap + delta });
  }

  /** The part of a complete text that its deltas lacked; empty when it contradicts them. */
  function beyond(at: string, whole: string): string {
    const before = seen.get(at) ?? '';
    return whole.startsWith(before) ? whole.slice(before.length) : '';
  }

  function toolOf(slot: string, item: JsonObject): ResponsesToolReader | undefined {
    const known = toolAt.get(slot);
    if (known) return known;
    const name = toolCallName(item);
    if (name === undefined) return undefined;
    const id = asString(item.call_id) || asString(item.id) || `call_${slot}`;
    let tool = tools.get(id);
    if (!tool) {
      tool = createResponsesToolReader(id, item.type === 'custom_tool_call');
      tools.set(id, tool);
      emit({ type: 'tool-start', id, name });
    }
    toolAt.set(slot, tool);
    return tool;
  }

  function readMessage(slot: string, item: JsonObject): void {
    for (const [n, entry] of asArray(item.content).entries()) {
      const part = asObject(entry);
      const at = `${slot}/text/${n}`;
      addText(at, beyond(at, asString(part.text) ?? asString(part.refusal) ?? ''));
    }
  }

  function readReasoning(slot: string, item: JsonObject): void {
    const { source, texts } = reasoningTexts(item);
    for (const [n, text] of texts.entries()) {
      addReasoning(slot, source, n, beyond(`${slot}/${source}/${n}`, text));
    }
    const signature = asString(item.encrypted_content);
    if (!signature || signed.has(slot)) return;
    signed.add(slot);
    if (last !== 'reasoning-delta') emit({ type: 'reasoning-delta', text: '' });
    emit({ type: 'reasoning-signature', signature });
  }

  function readItem(slot: string, item: JsonObject): void {
    if (isToolCallItem(item)) emit(...(toolOf(slot, item)?.settle(toolCallText(item)) ?? []));
    else if (item.type === 'message') readMessage(slot, item);
    else if (item.type === 'reasoning') readReasoning(slot, item);
  }

  /** The final output's indexes may differ from the stream's, so only items that the stream lacked are taken. */
  function readOutput(response: JsonObject): void {
    const isEmpty = last === 'reply-start';
    const hasNoText = !hasText;
    for (const [n, entry] of asArray(response.output).entries()) {
      const item = asObject(entry);
      const missed = isToolCallItem(item) ? Boolean(item.call_id) : hasNoText && item.type === 'message';
      if (isEmpty || missed) readItem(`final ${n}`, item);
    }
    for (const tool of tools.values()) emit(...tool.settle(undefined));
  }

  function finish(response: JsonObject, status: string): void {
    if (status === 'completed' || status === 'incomplete') {
      start(response);
      readOutput(response);
      const usage = decodeResponsesUsage(response.usage);
      const stop = stopOf(response, status, tools.size > 0);
      emit({ type: 'reply-end', stop, ...(usage === undefined ? {} : { usage }) });
    } else if (status === 'failed')
      emit({ type: 'failure', failure: decodeStreamError({ error: response.error ?? {} }) });
    else {
      const message = `The provider ended the reply with status "${status}".`;
      emit({ type: 'failure', failure: createFailure('upstream-error', message) });
    }
    over = true;
  }

  function readEvent(type: string, event: JsonObject): void {
    const slot = slotOf(event);
    const index = asNumber(event.content_index) ?? asNumber(event.summary_index) ?? 0;
    const at = `${slot}/text/${index}`;
    const whole = asString(event.text) ?? asString(event.refusal) ?? '';
    const delta = asString(event.delta) ?? '';
    switch (type) {
      case 'response.output_item.added':
        if (isToolCallItem(asObject(event.item))) toolOf(slot, asObject(event.item));
        break;
      case 'response.output_item.done':
        readItem(slot, asObject(event.item));
        break;
      case 'response.output_text.delta':
      case 'response.refusal.delta':
        addText(at, delta);
        break;
      case 'response.output_text.done':
      case 'response.refusal.done':
        addText(at, beyond(at, whole));
        break;
      case 'response.reasoning_summary_text.delta':
        addReasoning(slot, 'summary', index, delta);
        break;
      case 'response.reasoning_summary_text.done':
        addReasoning(slot, 'summary', index, beyond(`${slot}/summary/${index}`, whole));
        break;
      case 'response.reasoning_text.delta':
        addReasoning(slot, 'words', index, delta);
        break;
      case 'response.reasoning_text.done':
        addReasoning(slot, 'words', index, beyond(`${slot}/words/${index}`, whole));
        break;
      case 'response.function_call_arguments.delta':
      case 'response.custom_tool_call_input.delta':
        emit(...(toolAt.get(slot)?.add(delta) ?? []));
        break;
      case 'response.function_call_arguments.done':
      case 'response.custom_tool_call_input.done':
        emit(...(toolAt.get(slot)?.settle(toolCallText(event)) ?? []));
        break;
    }
  }

  return {
    read(type, event) {
      if (over) return [];
      out = [];
      const response = asObject(event.response);
      if (type === 'error') {
        emit({ type: 'failure', failure: decodeStreamError(event) });
        over = true;
      } else if (ENDS.has(type))
        finish(response, asString(response.status) ?? type.slice('response.'.length));
      else if (BEGINS.has(type)) start(response);
      else readEvent(type, event);
      return out;
    },
    end(failure) {
      if (over) return [];
      over = true;
      return [{ type: 'failure', failure }];
    },
  };
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
