import type { ChatEvent } from '../core/chat.ts';
import { createFailure } from '../core/failure.ts';
import { createAborted, ModelError } from './model-error.ts';

export const isTerminal = (event: ChatEvent): boolean =>
  event.type === 'reply-end' || event.type === 'failure';

/**
 * The promises of `ChatModel` kept for any generator: it never throws, it ends with exactly one terminal event, and
 * `run`'s signal aborts when the caller's does or when the reader leaves. A plain generator would hear of a leaving
 * reader only after its pending read, which on a silent provider is minutes later.
 */
export function createChatEvents(
  signal: AbortSignal,
  run: (signal: AbortSignal) => AsyncIterable<ChatEvent>,
): AsyncIterable<ChatEvent> {
  return {
    [Symbol.asyncIterator]() {
      const leaving = new AbortController();
      const events = guard(signal, leaving, run);
      return {
        next: () => events.next(),
        return: () => {
          leaving.abort();
          return events.return(undefined);
        },
      };
    },
  };
}

async function* guard(
  signal: AbortSignal,
  leaving: AbortController,
  run: (signal: AbortSignal) => AsyncIterable<ChatEvent>,
): AsyncGenerator<ChatEvent, undefined> {
  const leave = () => leaving.abort();
  if (signal.aborted) leave();
  else signal.addEventListener('abort', leave, { once: true });
  let over = false;
  try {
    for await (const event of run(leaving.signal)) {
      over = isTerminal(event);
      yield event;
      if (over) return;
    }
    over = true;
    yield {
      type: 'failure',
      failure: leaving.signal.aborted
        ? createAborted()
        : createFailure('truncated', 'The reply stopped before its end.'),
    };
  } catch (error) {
    if (!over) yield { type: 'failure', failure: failureOf(error) };
  } finally {
    signal.removeEventListener('abort', leave);
  }
}

function failureOf(error: unknown) {
  if (error instanceof ModelError) return error.failure;
  return createFailure('internal', error instanceof Error ? error.message : String(error));
}
