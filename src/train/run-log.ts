import {
  FRESH_GUARD,
  type Guard,
  type GuardSettings,
  observe,
  rolledBack,
  type Seen,
} from './reward-guard.ts';
import type { Group } from './rollout.ts';
import type { Baselines } from './running-baseline.ts';
import type { Checkpoint, RunEntry, RunJournal } from './step-journal.ts';

/** The state of a run, folded from its journal. */
export interface Run {
  /** Checkpoints from the first to the one in training, without rolled-back ones. */
  readonly lineage: readonly Checkpoint[];
  readonly lastVersion: number;
  /** Finished batches, whatever their outcome, oldest first. */
  readonly closed: ReadonlySet<string>;
  readonly trained: ReadonlySet<string>;
  readonly refusedInARow: number;
  readonly guard: Guard;
  readonly baselines: Baselines;
  attempts(batch: string): number;
  /** The groups collected for an open batch, by slot. */
  collected(batch: string): ReadonlyMap<number, Group>;
}

/** The journal together with its folded state. */
export interface RunLog {
  readonly run: Run;
  /** Durable and folded when it resolves. Rejects when another process writes to the same run. */
  append(entry: RunEntry): Promise<void>;
}

export async function openRunLog(journal: RunJournal, settings: GuardSettings): Promise<RunLog> {
  const lineage: Checkpoint[] = [];
  const closed = new Set<string>();
  const trained = new Set<string>();
  const attempts = new Map<string, number>();
  const collected = new Map<string, Map<number, Group>>();
  let lastVersion = 0;
  let refusedInARow = 0;
  let guard = FRESH_GUARD;
  let baselines: Baselines = {};

  const advance = (checkpoint: Checkpoint): void => {
    lineage.push(checkpoint);
    lastVersion = checkpoint.version;
  };
  const close = (batch: string): void => {
    closed.add(batch);
    attempts.delete(batch);
    collected.delete(batch);
  };
  const watched = (seen: Seen | undefined): Guard =>
    seen === undefined ? guard : observe(guard, seen, settings);
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
      baselines = entry.report.baselines ?? baselines;
      for (const rollout of entry.rollouts) trained.add(rollout);
      if (entry.checkpoint !== undefined) advance(entry.checkpoint);
    } else {
      close(batch);
      guard = watched(entry.seen);
      if (entry.type === 'step-refused') refusedInARow++;
      else {
        guard = rolledBack(guard, settings);
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
      get baselines() {
        return baselines;
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
