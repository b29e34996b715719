import type { ChatEvent } from '../core/chat.ts';
import { createFailure, errorMessage, type Failure } from '../core/failure.ts';

export const isTerminalEvent = (event: ChatEvent): boolean =>
  event.type === 'reply-end' || event.type === 'failure';

/**
 * Makes any generator keep the contract of `ChatModel`: it never throws, it ends with exactly one terminal event, and
 * `run`'s signal aborts when the caller's does or when the reader stops. A plain generator would learn that its reader
 * stopped only after its pending read, which takes minutes with a silent provider.
 */
export function createChatEvents(
  signal: AbortSignal,
  run: (signal: AbortSignal) => AsyncIterable<ChatEvent>,
): AsyncIterable<ChatEvent> {
  return {
    [Symbol.asyncIterator]() {
      const controller = new AbortController();
      const events = guard(signal, controller, run);
      return {
        next: () => events.next(),
        return: () => {
          controller.abort();
          return events.return(undefined);
        },
      };
    },
  };
}

async function* guard(
  signal: AbortSignal,
  controller: AbortController,
  run: (signal: AbortSignal) => AsyncIterable<ChatEvent>,
): AsyncGenerator<ChatEvent, undefined> {
  const abort = () => controller.abort();
  if (signal.aborted) abort();
  else signal.addEventListener('abort', abort, { once: true });
  let over = false;
  try {
    for await (const event of run(controller.signal)) {
      over = isTerminalEvent(event);
      yield event;
      if (over) return;
    }
    over = true;
    yield {
      type: 'failure',
      failure: controller.signal.aborted
        ? createAbortedFailure()
        : createFailure('truncated', 'The reply stopped before its end.'),
    };
  } catch (error) {
    if (!over) yield { type: 'failure', failure: failureOf(error) };
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

function failureOf(error: unknown) {
  if (error instanceof ModelError) return error.failure;
  return createFailure('internal', errorMessage(error));
}

/** Carries a failure to where it becomes a reply's last event; no model throws it to its caller. */
export class ModelError extends Error {
  override readonly name = 'ModelError';
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.message);
    this.failure = failure;
  }
}

export const createAbortedFailure = (): Failure =>
  createFailure('aborted', 'The request was cancelled before the reply was complete.');
