import { hash } from 'node:crypto';
import type { StageOutcome } from './stage-outcome.ts';

/** Names an attempt for ever: what is told of it twice under this name is told once. */
export const outcomeKey = ({ pipeline, run, stage, attempt }: StageOutcome): string =>
  hash('sha256', JSON.stringify([pipeline, run, stage, attempt]), 'hex').slice(0, 40);
