import type { ChatEvent, StopReason } from '../../core/chat.ts';
import { isObject, type JsonObject, parseJson } from '../../core/json.ts';
import { encodeFailureEvents } from './failure.ts';
import { encodeResponse, type ResponseState } from './response-object.ts';
import { createFreeformReader, type FreeformReader, findFreeformText, splitQualifiedName } from './tools.ts';

type Incomplete = ResponseState['incompleteReason'];

/** Encodes a reply as events of this wire; the last one contains the complete reply. */
export function createResponsesReplyWriter(
  now: () => number = Date.now,
): (event: ChatEvent) => readonly JsonObject[] {
  let reply = { id: 'resp_0', model: '', createdAt: Math.floor(now() / 1000) };
  // Providers limit the length of an id that they receive in a history.
  const items = createOutputItems(() => reply.id.slice(0, 48));
  let over = false;

  function end(stop: StopReason, usage: ResponseState['usage']): readonly JsonObject[] {
    const incompleteReason = INCOMPLETE[stop];
    const status = incompleteReason === undefined ? 'completed' : 'incomplete';
    const events = items.closeAll(status);
    const response = encodeResponse({ ...reply, status, output: items.output, usage, incompleteReason });
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
      case 'text-delta':
        return event.text === '' ? [] : items.addText(event.text);
      case 'reasoning-delta':
        return event.text === '' ? [] : items.addReasoning(event.text);
      case 'reasoning-signature':
        return items.sign(event.signature);
      case 'tool-start':
        return items.startTool(event);
      case 'tool-delta':
        return items.addToTool(event.id, event.json);
      case 'reply-end':
        return end(event.stop, event.usage);
      case 'failure':
        return encodeFailureEvents(event.failure, reply);
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

type ItemStatus = 'completed' | 'incomplete';

/** Takes the next output index and returns it. */
type ClaimOutputIndex = () => number;

/** One output item being written; each method returns the events it causes, without sequence numbers. */
interface ItemWriter {
  write(text: string): readonly JsonObject[];
  close(status: ItemStatus): readonly JsonObject[];
}

/** The items of a reply in their order. What begins an item ends those before it that the client would wait for. */
function createOutputItems(replyId: () => string) {
  const output: JsonObject[] = [];
  const tools = new Map<string, ToolCallWriter>();
  let places = 0;
  let message: ItemWriter | undefined;
  let reasoning: ReasoningWriter | undefined;

  const claim = (): number => places++;
  const itemId = (prefix: string): string => `${prefix}_${replyId()}_${places}`;

  /** The items that are complete, at their places. */
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

  function closeTools(which: (tool: ToolCallWriter) => boolean, status: ItemStatus): readonly JsonObject[] {
    const events: JsonObject[] = [];
    for (const [id, tool] of tools) {
      if (!which(tool)) continue;
      tools.delete(id);
      events.push(...tool.close(status));
    }
    return keep(events);
  }

  const closeWhole = () => closeTools((tool) => tool.isWhole(), 'completed');

  return {
    output,
    addText: (text: string): readonly JsonObject[] => {
      const before = [...closeReasoning(), ...closeWhole()];
      message ??= createMessageWriter(itemId('msg'), claim);
      return [...before, ...message.write(text)];
    },
    addReasoning: (text: string): readonly JsonObject[] => {
      const before = [...closeMessage(), ...closeWhole()];
      reasoning ??= createReasoningWriter(itemId('rs'), claim);
      return [...before, ...reasoning.write(text)];
    },
    sign: (signature: string): readonly JsonObject[] => {
      const before = [...closeMessage(), ...closeWhole()];
      reasoning ??= createReasoningWriter(itemId('rs'), claim);
      reasoning.sign(signature);
      return [...before, ...closeReasoning()];
    },
    startTool: (call: { readonly id: string; readonly name: string }): readonly JsonObject[] => {
      const before = [...closeReasoning(), ...closeMessage(), ...closeWhole()];
      tools.set(call.id, createToolCallWriter(replyId(), call, claim));
      return before;
    },
    addToTool: (id: string, json: string): readonly JsonObject[] => tools.get(id)?.write(json) ?? [],
    closeAll: (status: ItemStatus): readonly JsonObject[] => [
      ...closeReasoning(),
      ...closeMessage(status),
      ...closeTools(() => true, status),
    ],
  };
}

interface ReasoningWriter extends ItemWriter {
  sign(signature: string): void;
}

function createMessageWriter(id: string, claim: ClaimOutputIndex): ItemWriter {
  const output_index = claim();
  const place = { item_id: id, output_index, content_index: 0 };
  let text = '';
  let open = false;
  const part = (): JsonObject => ({ type: 'output_text', text, annotations: [], logprobs: [] });
  const item = (status: string, content: readonly JsonObject[]): JsonObject => ({
    id,
    type: 'message',
    status,
    role: 'assistant',
    content,
  });
  return {
    write(delta) {
      const events: JsonObject[] = [];
      if (!open) {
        const added = { type: 'response.output_item.added', output_index, item: item('in_progress', []) };
        events.push(added, { type: 'response.content_part.added', ...place, part: part() });
      }
      open = true;
      text += delta;
      events.push({ type: 'response.output_text.delta', ...place, delta, logprobs: [] });
      return events;
    },
    close: (status) => [
      { type: 'response.output_text.done', ...place, text, logprobs: [] },
      { type: 'response.content_part.done', ...place, part: part() },
      { type: 'response.output_item.done', output_index, item: item(status, [part()]) },
    ],
  };
}

/** Reasoning is written as a summary, since clients show that. */
function createReasoningWriter(id: string, claim: ClaimOutputIndex): ReasoningWriter {
  const output_index = claim();
  const place = { item_id: id, output_index, summary_index: 0 };
  let text = '';
  let signature: string | null = null;
  let open = false;
  const part = (): JsonObject => ({ type: 'summary_text', text });
  const item = (): JsonObject => ({
    id,
    type: 'reasoning',
    summary: text === '' ? [] : [part()],
    encrypted_content: signature,
  });
  function begin(): readonly JsonObject[] {
    if (open) return [];
    open = true;
    return [{ type: 'response.output_item.added', output_index, item: item() }];
  }
  return {
    write(delta) {
      const events = [...begin()];
      if (text === '') events.push({ type: 'response.reasoning_summary_part.added', ...place, part: part() });
      text += delta;
      events.push({ type: 'response.reasoning_summary_text.delta', ...place, delta });
      return events;
    },
    sign(given) {
      signature = given;
    },
    close() {
      const summary = [
        { type: 'response.reasoning_summary_text.done', ...place, text },
        { type: 'response.reasoning_summary_part.done', ...place, part: part() },
      ];
      const unsigned = begin().map((event) => ({ ...event, item: { ...item(), encrypted_content: null } }));
      const done = { type: 'response.output_item.done', output_index, item: item() };
      return [...unsigned, ...(text === '' ? [] : summary), done];
    },
  };
}

interface ToolCallWriter extends ItemWriter {
  /** Whether the arguments are complete, so that the client may run the tool before the reply ends. */
  isWhole(): boolean;
}

/** Nothing is written until the arguments show whether this is a freeform call. */
function createToolCallWriter(
  reply: string,
  call: { readonly id: string; readonly name: string },
  claim: ClaimOutputIndex,
): ToolCallWriter {
  let args = '';
  let input = '';
  let freeform: FreeformReader | undefined;
  let output_index: number | undefined;
  const id = () => `${freeform ? 'ctc' : 'fc'}_${reply}_${output_index}`;
  const kind = () => (freeform ? 'response.custom_tool_call_input' : 'response.function_call_arguments');

  const item = (status: string, text: string): JsonObject => ({
    id: id(),
    type: freeform ? 'custom_tool_call' : 'function_call',
    status,
    ...(freeform ? { input: text } : { arguments: text }),
    call_id: call.id,
    ...splitQualifiedName(call.name),
  });

  function begin(): JsonObject {
    output_index = claim();
    return { type: 'response.output_item.added', output_index, item: item('in_progress', '') };
  }

  function delta(piece: string): readonly JsonObject[] {
    const text = freeform ? freeform.read(piece) : piece;
    if (freeform) input += text;
    if (text === '') return [];
    return [{ type: `${kind()}.delta`, item_id: id(), output_index, delta: text }];
  }

  function decide(atEnd: boolean): readonly JsonObject[] {
    const at = findFreeformText(args);
    if (at === undefined && !atEnd) return [];
    if (typeof at !== 'number') return [begin(), ...delta(args)];
    freeform = createFreeformReader();
    return [begin(), ...delta(args.slice(at))];
  }

  return {
    isWhole: () => isObject(parseJson(args)),
    write(json) {
      args += json;
      return output_index === undefined ? decide(false) : delta(json);
    },
    close(status) {
      // Clients parse the arguments as JSON, so a call without arguments must contain an empty object.
      if (args.trim() === '') args = '{}';
      const late = output_index === undefined ? decide(true) : [];
      const whole = freeform ? { input } : { arguments: args, name: splitQualifiedName(call.name).name };
      return [
        ...late,
        { type: `${kind()}.done`, item_id: id(), output_index, ...whole },
        { type: 'response.output_item.done', output_index, item: item(status, freeform ? input : args) },
      ];
    },
  };
}
