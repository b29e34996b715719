import type { Refusal } from './refusal.ts';
import type { Seen } from './reward-guard.ts';
import type { Group } from './rollout.ts';
import type { StepReport } from './step-report.ts';

/** Saved weights: a state to continue training from, and weights to sample from. */
export interface Checkpoint {
  /** Grows with every kept update; unique within a run. */
  readonly version: number;
  readonly state: string;
  readonly sampler: string;
}

/**
 * The events of a run, in order. An update exists once its `step-ended` is written: weights that an interrupted step left in
 * an engine are not part of the run, and the step is repeated from the checkpoint before it.
 */
export type RunEntry =
  | { readonly type: 'run-begun'; readonly checkpoint: Checkpoint }
  /** A complete group of a batch, which is not sampled again after an interruption. Not needed once the batch is closed. */
  | {
      readonly type: 'group-collected';
      readonly batch: string;
      readonly slot: number;
      readonly group: Group;
    }
  | { readonly type: 'step-begun'; readonly batch: string; readonly attempt: number; readonly from: number }
  /** Closes a batch. Without a checkpoint there was nothing to learn, and the weights are unchanged. */
  | {
      readonly type: 'step-ended';
      readonly batch: string;
      readonly checkpoint?: Checkpoint;
      readonly rollouts: readonly string[];
      readonly report: StepReport;
    }
  /** Closes a batch; the weights are unchanged. */
  | {
      readonly type: 'step-refused';
      readonly batch: string;
      readonly refusal: Refusal;
      /** Undefined when the batch was refused before training: it then says nothing about the weights. */
      readonly seen: Seen | undefined;
    }
  /** Closes a batch that was not trained on: training continues from an older checkpoint. */
  | { readonly type: 'rolled-back'; readonly batch: string; readonly to: Checkpoint; readonly seen: Seen };

export interface RunJournal {
  /** `places`: how many entries were ever written, including those removed since. */
  read(): Promise<{ readonly entries: readonly RunEntry[]; readonly places: number }>;
  /**
   * Durable when it resolves. `place`: how many entries were written before this one. Rejects when there are more: then
   * another process works on the same run.
   */
  append(entry: RunEntry, place: number): Promise<void>;
}

/** For runs that end with their process. */
export function createMemoryJournal(): RunJournal {
  const entries: RunEntry[] = [];
  return {
    read: async () => ({ entries: [...entries], places: entries.length }),
    append: async (entry, place) => {
      if (place !== entries.length) throw new Error(`entry ${place} of the run already exists`);
      entries.push(entry);
    },
  };
}
