import { outcomeKey } from './outcome-key.ts';
import type { Report, StageOutcome } from './stage-outcome.ts';
import { type StageVerdict, verdictsOf } from './verdicts-of.ts';

export interface MemoryReport {
  readonly report: Report;
  /** Every attempt once, in the order in which they were told. */
  outcomes(): readonly StageOutcome[];
  /** What a gateway would have been told about the turns. */
  verdicts(): readonly StageVerdict[];
}

/** Keeps outcomes for whoever wants to look at them when the run is over. */
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
