import type { ChatEvent, StopReason } from '../../core/chat.ts';
import { createFailure, type Failure } from '../../core/failure.ts';
import { asArray, asNumber, asObject, asString, type JsonObject } from '../../core/json.ts';
import { decodeStreamError } from './failure.ts';
import { reasoningTexts } from './reasoning-text.ts';
import { createSlots } from './slots.ts';
import { createToolReader, isToolItem, type ToolReader, toolName, toolText } from './tool-reader.ts';
import { decodeUsage } from './usage.ts';

/** Decodes the events of one reply. Some vendors omit the deltas, some the complete texts: either is enough. */
export interface ReplyReader {
  read(type: string, event: JsonObject): readonly ChatEvent[];
  /** After the last event: the failure, unless the reply was already complete. */
  end(failure: Failure): readonly ChatEvent[];
}

export function createReplyReader(): ReplyReader {
  /** The text decoded so far, by its place in the output. */
  const seen = new Map<string, string>();
  const tools = new Map<string, ToolReader>();
  const toolAt = new Map<string, ToolReader>();
  const reasoningSource = new Map<string, string>();
  const signed = new Set<string>();
  const slotOf = createSlots();
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

  function toolOf(slot: string, item: JsonObject): ToolReader | undefined {
    const known = toolAt.get(slot);
    if (known) return known;
    const name = toolName(item);
    if (name === undefined) return undefined;
    const id = asString(item.call_id) || asString(item.id) || `call_${slot}`;
    let tool = tools.get(id);
    if (!tool) {
      tool = createToolReader(id, item.type === 'custom_tool_call');
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
    if (isToolItem(item)) emit(...(toolOf(slot, item)?.settle(toolText(item)) ?? []));
    else if (item.type === 'message') readMessage(slot, item);
    else if (item.type === 'reasoning') readReasoning(slot, item);
  }

  /** The final output's indexes may differ from the stream's, so only items that the stream lacked are taken. */
  function readOutput(response: JsonObject): void {
    const isEmpty = last === 'reply-start';
    const hasNoText = !hasText;
    for (const [n, entry] of asArray(response.output).entries()) {
      const item = asObject(entry);
      const missed = isToolItem(item) ? Boolean(item.call_id) : hasNoText && item.type === 'message';
      if (isEmpty || missed) readItem(`final ${n}`, item);
    }
    for (const tool of tools.values()) emit(...tool.settle(undefined));
  }

  function finish(response: JsonObject, status: string): void {
    if (status === 'completed' || status === 'incomplete') {
      start(response);
      readOutput(response);
      const usage = decodeUsage(response.usage);
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
        if (isToolItem(asObject(event.item))) toolOf(slot, asObject(event.item));
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
        emit(...(toolAt.get(slot)?.settle(toolText(event)) ?? []));
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
