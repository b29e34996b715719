import type { ChatEvent, StopReason } from '../../core/chat.ts';
import type { JsonObject } from '../../core/json.ts';
import { failureEvents } from './failure.ts';
import {
  createMessageWriter,
  createReasoningWriter,
  type ItemStatus,
  type ItemWriter,
  type ReasoningWriter,
} from './item-writer.ts';
import { encodeResponse, type ResponseState } from './response-object.ts';
import { createToolWriter, type ToolWriter } from './tool-writer.ts';

type Incomplete = ResponseState['incompleteReason'];

/** Encodes a reply as events of this wire; the last one contains the complete reply. */
export function createReplyWriter(now: () => number = Date.now): (event: ChatEvent) => readonly JsonObject[] {
  let reply = { id: 'resp_0', model: '', createdAt: Math.floor(now() / 1000) };
  const output: JsonObject[] = [];
  const tools = new Map<string, ToolWriter>();
  let places = 0;
  let message: ItemWriter | undefined;
  let reasoning: ReasoningWriter | undefined;
  let over = false;

  const claim = (): number => places++;
  // Providers limit the length of an id that they receive in a history.
  const itemId = (prefix: string): string => `${prefix}_${reply.id.slice(0, 48)}_${places}`;

  function keep(events: readonly JsonObject[]): readonly JsonObject[] {
    for (const { type, output_index, item } of events) {
      if (type === 'response.output_item.done') output[output_index as number] = item as JsonObject;
    }
    return events;
  }

  function closeReasoning(): readonly JsonObject[] {
    const events = reasoning?.close('completed') ?? [];
    reasoning = undefined;
    return keep(events);
  }

  function closeMessage(status: ItemStatus = 'completed'): readonly JsonObject[] {
    const events = message?.close(status) ?? [];
    message = undefined;
    return keep(events);
  }

  function closeTools(which: (tool: ToolWriter) => boolean, status: ItemStatus): readonly JsonObject[] {
    const events: JsonObject[] = [];
    for (const [id, tool] of tools) {
      if (!which(tool)) continue;
      tools.delete(id);
      events.push(...tool.close(status));
    }
    return keep(events);
  }

  const closeWhole = () => closeTools((tool) => tool.isWhole(), 'completed');

  function end(stop: StopReason, usage: ResponseState['usage']): readonly JsonObject[] {
    const incompleteReason = INCOMPLETE[stop];
    const status = incompleteReason === undefined ? 'completed' : 'incomplete';
    const events = [...closeReasoning(), ...closeMessage(status), ...closeTools(() => true, status)];
    const response = encodeResponse({ ...reply, status, output, usage, incompleteReason });
    return [...events, { type: `response.${status}`, response }];
  }

  function write(event: ChatEvent): readonly JsonObject[] {
    switch (event.type) {
      case 'reply-start': {
        reply = { ...reply, id: event.id, model: event.model };
        const response = encodeResponse({ ...reply, status: 'in_progress' });
        return [
          { type: 'response.created', response },
          { type: 'response.in_progress', response },
        ];
      }
      case 'text-delta': {
        if (event.text === '') return [];
        const before = [...closeReasoning(), ...closeWhole()];
        message ??= createMessageWriter(itemId('msg'), claim);
        return [...before, ...message.write(event.text)];
      }
      case 'reasoning-delta': {
        if (event.text === '') return [];
        const before = [...closeMessage(), ...closeWhole()];
        reasoning ??= createReasoningWriter(itemId('rs'), claim);
        return [...before, ...reasoning.write(event.text)];
      }
      case 'reasoning-signature': {
        const before = [...closeMessage(), ...closeWhole()];
        reasoning ??= createReasoningWriter(itemId('rs'), claim);
        reasoning.sign(event.signature);
        return [...before, ...closeReasoning()];
      }
      case 'tool-start': {
        const before = [...closeReasoning(), ...closeMessage(), ...closeWhole()];
        tools.set(event.id, createToolWriter(reply.id.slice(0, 48), event, claim));
        return before;
      }
      case 'tool-delta':
        return tools.get(event.id)?.write(event.json) ?? [];
      case 'reply-end':
        return end(event.stop, event.usage);
      case 'failure':
        return failureEvents(event.failure, reply);
    }
  }

  return (event) => {
    if (over) return [];
    over = event.type === 'reply-end' || event.type === 'failure';
    return write(event);
  };
}

const INCOMPLETE: Readonly<Record<StopReason, Incomplete>> = {
  end: undefined,
  'tool-calls': undefined,
  'stop-sequence': undefined,
  length: 'max_output_tokens',
  filter: 'content_filter',
};
