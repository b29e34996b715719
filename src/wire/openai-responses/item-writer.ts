import type { JsonObject } from '../../core/json.ts';

export type ItemStatus = 'completed' | 'incomplete';

/** Takes the next output index and returns it. */
export type ClaimPlace = () => number;

/** One output item being written; each method returns the events it causes, without sequence numbers. */
export interface ItemWriter {
  write(text: string): readonly JsonObject[];
  close(status: ItemStatus): readonly JsonObject[];
}

export interface ReasoningWriter extends ItemWriter {
  sign(signature: string): void;
}

export function createMessageWriter(id: string, claim: ClaimPlace): ItemWriter {
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
export function createReasoningWriter(id: string, claim: ClaimPlace): ReasoningWriter {
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
