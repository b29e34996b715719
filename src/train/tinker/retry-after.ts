import { parseRetryAfter } from '../../core/retry.ts';
import type { Answer } from './transport.ts';

/** The longest pause that a server can ask for. */
const LONGEST_MS = 60_000;

/** How long the server asks us to wait, by `retry-after-ms` or `retry-after`. */
export function retryAfterOf(answer: Answer, nowMs: number): number | undefined {
  const exact = Number(answer.header('retry-after-ms') ?? Number.NaN);
  const wanted =
    Number.isFinite(exact) && exact >= 0 ? exact : parseRetryAfter(answer.header('retry-after'), nowMs);
  return wanted === undefined ? undefined : Math.min(wanted, LONGEST_MS);
}
