import type { Failure } from './failure.ts';

export interface RetryRule {
  /** Tries after the first. */
  readonly retries: number;
  /** The first pause if the provider names none; it doubles each time. */
  readonly baseMs: number;
  /** A provider that asks for a longer pause is not waited for: the client gets the failure. */
  readonly longestMs: number;
}

export const defaultRetryRule: RetryRule = { retries: 2, baseMs: 400, longestMs: 30_000 };

/** The rule with another number of tries, where one is given. */
export const withRetries = (rule: RetryRule, retries: number | undefined): RetryRule =>
  retries === undefined ? rule : { ...rule, retries };

const WORTH_ANOTHER_TRY = new Set([
  'rate-limited',
  'overloaded',
  'upstream-error',
  'unreachable',
  'timeout',
  'truncated',
]);

/**
 * How long to wait before the next try; undefined for no further try. A time-out is not retried on the same provider:
 * the caller has waited that long once already.
 */
export function retryDelayMs(
  rule: RetryRule,
  failure: Failure,
  triesSoFar: number,
  random: () => number,
): number | undefined {
  if (triesSoFar > rule.retries || failure.final || failure.kind === 'timeout') return undefined;
  if (!WORTH_ANOTHER_TRY.has(failure.kind)) return undefined;
  if (failure.retryAfterMs !== undefined) {
    return failure.retryAfterMs <= rule.longestMs ? failure.retryAfterMs : undefined;
  }
  const pause = rule.baseMs * 2 ** (triesSoFar - 1);
  return Math.min(rule.longestMs, pause / 2 + random() * (pause / 2));
}

/** A failure that another model may not have: overloaded, broken or unreachable, or a model that the provider lacks. */
export const isWorthAnotherModel = (failure: Failure): boolean =>
  WORTH_ANOTHER_TRY.has(failure.kind) || failure.kind === 'not-found';

/** `Retry-After` as seconds or as a date; undefined when absent or malformed. */
export function parseRetryAfter(value: string | undefined, nowMs: number): number | undefined {
  if (value === undefined || value.length > 64) return undefined;
  const text = value.trim();
  if (/^\d+(\.\d+)?$/.test(text)) return Math.round(Number(text) * 1000);
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - nowMs);
}
