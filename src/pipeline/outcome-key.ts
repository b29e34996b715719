import { hash } from 'node:crypto';
import type { StageOutcome } from './stage-outcome.ts';

/** The idempotency key of an attempt: reports with the same key count once. */
export const outcomeKey = ({ pipeline, run, stage, attempt }: StageOutcome): string =>
  hash('sha256', JSON.stringify([pipeline, run, stage, attempt]), 'hex').slice(0, 40);
