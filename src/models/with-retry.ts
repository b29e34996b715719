import type { ChatEvent, ChatModel } from '../core/chat.ts';
import { type RetryRule, retryDelayMs } from '../core/retry.ts';
import { attempt } from './attempt.ts';
import { createChatEvents } from './chat-events.ts';
import { createAborted } from './model-error.ts';

export interface RetryOptions {
  readonly rule: RetryRule;
  /** 0 up to 1: spreads the pauses, so that many callers do not come back at the same moment. */
  readonly random: () => number;
  /** Waits, or less when the signal aborts. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** The same model, tried again by the rule as long as nothing of a reply was passed on. */
export function withRetry(model: ChatModel, { rule, random, sleep }: RetryOptions): ChatModel {
  return (request, options) =>
    createChatEvents(options.signal, async function* (signal): AsyncGenerator<ChatEvent, undefined> {
      for (let tries = 1; ; tries++) {
        const failure = yield* attempt(model, request, { ...options, signal });
        if (failure === undefined) return;
        const pause = retryDelayMs(rule, failure, tries, random);
        if (pause === undefined) {
          yield { type: 'failure', failure };
          return;
        }
        await sleep(pause, signal);
        if (signal.aborted) {
          yield { type: 'failure', failure: createAborted() };
          return;
        }
      }
    });
}
