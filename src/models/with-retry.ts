import type { ChatEvent, ChatModel, ChatOptions, ChatRequest } from '../core/chat.ts';
import type { Failure } from '../core/failure.ts';
import { type RetryRule, retryDelayMs, withRetries } from '../core/retry.ts';
import { createAbortedFailure, createChatEvents } from './chat-events.ts';

export interface RetryOptions {
  /** Or the one in force, asked for each request. */
  readonly rule: RetryRule | (() => RetryRule);
  /** Jitter from 0 up to 1, so that many callers do not retry at the same moment. */
  readonly random: () => number;
  /** Waits; returns early when the signal aborts. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** The same model, retried by the rule as long as no part of a reply was yielded. */
export function withRetry(model: ChatModel, retry: RetryOptions): ChatModel {
  return (request, options) =>
    createChatEvents(options.signal, async function* (signal): AsyncGenerator<ChatEvent, undefined> {
      const { random, sleep } = retry;
      const inForce = typeof retry.rule === 'function' ? retry.rule() : retry.rule;
      const rule = withRetries(inForce, options.limits?.retries);
      for (let tries = 1; ; tries++) {
        const failure = yield* attemptReply(model, request, { ...options, signal });
        if (failure === undefined) return;
        const pause = retryDelayMs(rule, failure, tries, random);
        if (pause === undefined) {
          yield { type: 'failure', failure };
          return;
        }
        await sleep(pause, signal);
        if (signal.aborted) {
          yield { type: 'failure', failure: createAbortedFailure() };
          return;
        }
      }
    });
}

/**
 * One try. Holds `reply-start` back until the next event: if a reply fails at once, its failure is returned and nothing was
 * yielded, so that another try may follow. Once content was yielded, every later event is too.
 */
export async function* attemptReply(
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
