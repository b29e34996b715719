import type { ChatEvent, ChatModel } from '../core/chat.ts';
import { type RetryRule, retryDelayMs } from '../core/retry.ts';
import { attempt } from './attempt.ts';
import { createChatEvents } from './chat-events.ts';
import { createAborted } from './model-error.ts';

export interface RetryOptions {
  readonly rule: RetryRule;
  /** Jitter from 0 up to 1, so that many callers do not retry at the same moment. */
  readonly random: () => number;
  /** Waits; returns early when the signal aborts. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** The same model, retried by the rule as long as no part of a reply was yielded. */
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
