import type { ChatEvent, ChatModel, ChatOptions, ChatRequest } from '../core/chat.ts';
import type { Failure } from '../core/failure.ts';

/**
 * One try. Holds `reply-start` back until the next event: if a reply fails at once, its failure is returned and nothing was
 * yielded, so that another try may follow. Once content was yielded, every later event is too.
 */
export async function* attempt(
  model: ChatModel,
  request: ChatRequest,
  options: ChatOptions,
): AsyncGenerator<ChatEvent, Failure | undefined> {
  let start: ChatEvent | undefined;
  let hasYielded = false;
  for await (const event of model(request, options)) {
    if (!hasYielded && event.type === 'failure') return event.failure;
    if (!hasYielded && event.type === 'reply-start') {
      start = event;
      continue;
    }
    hasYielded = true;
    if (start !== undefined) yield start;
    start = undefined;
    yield event;
  }
  return undefined;
}
