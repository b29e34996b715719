import type { ChatEvent, ChatModel, ChatOptions, ChatRequest } from '../core/chat.ts';
import type { Failure } from '../core/failure.ts';

/**
 * One try. `reply-start` is held back until the next event, so that a reply that fails at once leaves no trace: its
 * failure is returned, and another try may follow. Once content was passed on, so is everything else.
 */
export async function* attempt(
  model: ChatModel,
  request: ChatRequest,
  options: ChatOptions,
): AsyncGenerator<ChatEvent, Failure | undefined> {
  let start: ChatEvent | undefined;
  let passed = false;
  for await (const event of model(request, options)) {
    if (!passed && event.type === 'failure') return event.failure;
    if (!passed && event.type === 'reply-start') {
      start = event;
      continue;
    }
    passed = true;
    if (start !== undefined) yield start;
    start = undefined;
    yield event;
  }
  return undefined;
}
