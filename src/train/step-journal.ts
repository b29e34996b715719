import type { Refusal } from './refusal.ts';
import type { Seen } from './reward-guard.ts';
import type { Group } from './rollout.ts';
import type { StepReport } from './step-report.ts';

/** Weights as they were saved: to train on from, and to sample from. */
export interface Checkpoint {
  /** Grows with every update that was kept; never given twice in a run. */
  readonly version: number;
  readonly state: string;
  readonly sampler: string;
}

/**
 * What has become of a run, in order. An update exists when its `step-ended` is written and not before: weights that an
 * interrupted step left in an engine are in nobody's line, and the step is done again from the checkpoint before it.
 */
export type RunEntry =
  | { readonly type: 'run-begun'; readonly checkpoint: Checkpoint }
  /** One of a batch's groups, whole: going on does not sample it again. May be forgotten once the batch is closed. */
  | {
      readonly type: 'group-collected';
      readonly batch: string;
      readonly slot: number;
      readonly group: Group;
    }
  | { readonly type: 'step-begun'; readonly batch: string; readonly attempt: number; readonly from: number }
  /** Closes a batch. Without a checkpoint there was nothing to learn, and the weights stayed what they were. */
  | {
      readonly type: 'step-ended';
      readonly batch: string;
      readonly checkpoint?: Checkpoint;
      readonly rollouts: readonly string[];
      readonly report: StepReport;
    }
  /** Closes a batch; the weights stayed what they were. */
  | {
      readonly type: 'step-refused';
      readonly batch: string;
      readonly refusal: Refusal;
      /** Undefined when it was not let in: it then says nothing of the weights. */
      readonly seen: Seen | undefined;
    }
  /** Closes a batch that was not trained on: training goes on from an older checkpoint. */
  | { readonly type: 'rolled-back'; readonly batch: string; readonly to: Checkpoint; readonly seen: Seen };

export interface RunJournal {
  /** `places`: how many were ever written, those included that were forgotten since. */
  read(): Promise<{ readonly entries: readonly RunEntry[]; readonly places: number }>;
  /**
   * Durable when it resolves. `place`: how many were written before this one; rejects when there are more, because then
   * someone else works on the same run and this one has lost it.
   */
  append(entry: RunEntry, place: number): Promise<void>;
}

/** For runs that need not outlive their process. */
export function createMemoryJournal(): RunJournal {
  const entries: RunEntry[] = [];
  return {
    read: async () => ({ entries: [...entries], places: entries.length }),
    append: async (entry, place) => {
      if (place !== entries.length) throw new Error(`entry ${place} of the run is written already`);
      entries.push(entry);
    },
  };
}
