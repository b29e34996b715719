import { parseRetryAfter } from '../../core/retry.ts';
import type { Answer } from './transport.ts';

/** A longer wish is not granted: the connection may be better used before. */
const LONGEST_MS = 60_000;

/** How long the server asks us to wait, in one of the two headers for it. */
export function retryAfterOf(answer: Answer, nowMs: number): number | undefined {
  const exact = Number(answer.header('retry-after-ms') ?? Number.NaN);
  const wanted =
    Number.isFinite(exact) && exact >= 0 ? exact : parseRetryAfter(answer.header('retry-after'), nowMs);
  return wanted === undefined ? undefined : Math.min(wanted, LONGEST_MS);
}
