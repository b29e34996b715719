import type { ChatEvent, ChatModel } from '../core/chat.ts';
import { createFailure } from '../core/failure.ts';
import { isWorthAnotherModel } from '../core/retry.ts';
import { attempt } from './attempt.ts';
import { createChatEvents } from './chat-events.ts';

/** The first of the models that answers. Its reply is whole: once content was passed on, no other takes over. */
export function withFallback(models: readonly ChatModel[]): ChatModel {
  return (request, options) =>
    createChatEvents(options.signal, async function* (signal): AsyncGenerator<ChatEvent, undefined> {
      let last = createFailure('not-found', 'No model is configured.');
      for (const model of models) {
        const failure = yield* attempt(model, request, { ...options, signal });
        if (failure === undefined) return;
        last = failure;
        if (signal.aborted || !isWorthAnotherModel(failure)) break;
      }
      yield { type: 'failure', failure: last };
    });
}
