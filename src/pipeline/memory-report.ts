import { outcomeKey } from './outcome-key.ts';
import type { Report, StageOutcome } from './stage-outcome.ts';
import { type StageVerdict, verdictsOf } from './verdicts-of.ts';

export interface MemoryReport {
  readonly report: Report;
  /** Every attempt once, in the order of the reports. */
  outcomes(): readonly StageOutcome[];
  /** The feedback that a gateway would have received. */
  verdicts(): readonly StageVerdict[];
}

/** Keeps outcomes in memory, to be read after the run. */
export function createMemoryReport(): MemoryReport {
  const kept = new Map<string, StageOutcome>();
  return {
    report: async (outcome) => {
      const key = outcomeKey(outcome);
      if (!kept.has(key)) kept.set(key, outcome);
    },
    outcomes: () => [...kept.values()],
    verdicts: () => [...kept.values()].flatMap(verdictsOf),
  };
}
