import {
  afterRollback,
  type BatchRewards,
  FRESH_GUARD,
  observeRewards,
  type RewardGuard,
  type RewardGuardSettings,
} from './reward-guard.ts';
import type { BatchRefusal, Group } from './rollout.ts';
import type { StepReport } from './step-metrics.ts';

/** Saved weights: a state to continue training from, and weights to sample from. */
export interface RunCheckpoint {
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
  | { readonly type: 'run-begun'; readonly checkpoint: RunCheckpoint }
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
      readonly checkpoint?: RunCheckpoint;
      readonly rollouts: readonly string[];
      readonly report: StepReport;
    }
  /** Closes a batch; the weights are unchanged. */
  | {
      readonly type: 'step-refused';
      readonly batch: string;
      readonly refusal: BatchRefusal;
      /** Undefined when the batch was refused before training: it then says nothing about the weights. */
      readonly seen: BatchRewards | undefined;
    }
  /** Closes a batch that was not trained on: training continues from an older checkpoint. */
  | {
      readonly type: 'rolled-back';
      readonly batch: string;
      readonly to: RunCheckpoint;
      readonly seen: BatchRewards;
    };

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

/** The state of a run, folded from its journal. */
interface RunState {
  /** Checkpoints from the first to the one in training, without rolled-back ones. */
  readonly lineage: readonly RunCheckpoint[];
  readonly lastVersion: number;
  /** Finished batches, whatever their outcome, oldest first. */
  readonly closed: ReadonlySet<string>;
  readonly trained: ReadonlySet<string>;
  readonly refusedInARow: number;
  readonly guard: RewardGuard;
  attempts(batch: string): number;
  /** The groups collected for an open batch, by slot. */
  collected(batch: string): ReadonlyMap<number, Group>;
}

/** The journal together with its folded state. */
export interface RunLog {
  readonly run: RunState;
  /** Durable and folded when it resolves. Rejects when another process writes to the same run. */
  append(entry: RunEntry): Promise<void>;
}

export async function openRunLog(journal: RunJournal, settings: RewardGuardSettings): Promise<RunLog> {
  const lineage: RunCheckpoint[] = [];
  const closed = new Set<string>();
  const trained = new Set<string>();
  const attempts = new Map<string, number>();
  const collected = new Map<string, Map<number, Group>>();
  let lastVersion = 0;
  let refusedInARow = 0;
  let guard = FRESH_GUARD;

  const advance = (checkpoint: RunCheckpoint): void => {
    lineage.push(checkpoint);
    lastVersion = checkpoint.version;
  };
  const close = (batch: string): void => {
    closed.add(batch);
    attempts.delete(batch);
    collected.delete(batch);
  };
  const watched = (seen: BatchRewards | undefined): RewardGuard =>
    seen === undefined ? guard : observeRewards(guard, seen, settings);
  const fold = (entry: RunEntry): void => {
    if (entry.type === 'run-begun') {
      advance(entry.checkpoint);
      return;
    }
    const { batch } = entry;
    if (entry.type === 'step-begun') attempts.set(batch, entry.attempt);
    else if (entry.type === 'group-collected') {
      const slots = collected.get(batch) ?? new Map<number, Group>();
      collected.set(batch, slots.set(entry.slot, entry.group));
    } else if (entry.type === 'step-ended') {
      close(batch);
      refusedInARow = 0;
      guard = watched(entry.report.seen);
      for (const rollout of entry.rollouts) trained.add(rollout);
      if (entry.checkpoint !== undefined) advance(entry.checkpoint);
    } else {
      close(batch);
      guard = watched(entry.seen);
      if (entry.type === 'step-refused') refusedInARow++;
      else {
        guard = afterRollback(guard, settings);
        while ((lineage.at(-1)?.version ?? 0) > entry.to.version) lineage.pop();
      }
    }
  };

  const before = await journal.read();
  before.entries.forEach(fold);
  let { places } = before;
  return {
    run: {
      lineage,
      closed,
      trained,
      get lastVersion() {
        return lastVersion;
      },
      get refusedInARow() {
        return refusedInARow;
      },
      get guard() {
        return guard;
      },
      attempts: (batch) => attempts.get(batch) ?? 0,
      collected: (batch) => collected.get(batch) ?? new Map(),
    },
    append: async (entry) => {
      // An entry that cannot be folded must not be written: it would stay in the journal.
      if (entry.type !== 'run-begun' && closed.has(entry.batch))
        throw new Error(`batch ${entry.batch} is closed: ${entry.type} cannot follow`);
      await journal.append(entry, places);
      places++;
      fold(entry);
    },
  };
}
