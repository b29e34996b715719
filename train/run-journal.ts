import {
  afterRollback,
  type BatchRewards,
  FRESH_GUARD,
  observeRewards,
  type RewardGuard,
  type RewardGuardSettings,
} from './reward-guard.ts';
import type { BatchRefusal, Group, Rollout } from './rollout.ts';
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
  /** Examples of one task, for supervised updates; none: no attempt was right. Not needed once they were taught. */
  | {
      readonly type: 'examples-kept';
      readonly slot: number;
      readonly rollouts: readonly Rollout[];
    }
  /** Some of the supervised updates. */
  | {
      readonly type: 'taught';
      readonly checkpoint: RunCheckpoint;
      readonly report: TeachReport;
      readonly isLast: boolean;
    }
  /** The mean reward of a version on the tasks that choose the best one. */
  | {
      readonly type: 'validated';
      readonly version: number;
      readonly reward: number;
      readonly tasks: number;
    }
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
      /** How many groups there were of each kind of task, and how many of them differed. */
      readonly kinds?: readonly GroupCounts[];
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

/** The supervised updates that one entry stands for. */
export interface TeachReport {
  readonly examples: number;
  readonly updates: number;
  /** The mean negative log-probability of a token of the examples, before the updates. */
  readonly loss: number;
}

/** Groups of one kind of task. */
export interface GroupCounts {
  readonly kind: string;
  readonly groups: number;
  readonly differ: number;
}

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
  /** What the last batch replaced; undefined when it left the weights as they were. */
  readonly replaced: RunCheckpoint | undefined;
  /** Finished batches, whatever their outcome, oldest first. */
  readonly closed: ReadonlySet<string>;
  readonly trained: ReadonlySet<string>;
  readonly refusedInARow: number;
  readonly guard: RewardGuard;
  /** Groups by kind of task, of all batches so far. */
  readonly kinds: ReadonlyMap<string, GroupCounts>;
  /** Of the last batch that was trained on; undefined before the first. */
  readonly differed: number | undefined;
  readonly validated: ReadonlyMap<number, number>;
  /** Parts of the supervised updates that are done. */
  readonly taught: number;
  readonly isTaught: boolean;
  /** By slot, for supervised updates that are not done. */
  readonly examples: ReadonlyMap<number, readonly Rollout[]>;
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

/** What `RunState` shows. */
interface FoldedRun {
  readonly lineage: RunCheckpoint[];
  readonly closed: Set<string>;
  readonly trained: Set<string>;
  readonly tries: Map<string, number>;
  readonly groups: Map<string, Map<number, Group>>;
  readonly kinds: Map<string, GroupCounts>;
  readonly validated: Map<number, number>;
  readonly examples: Map<number, readonly Rollout[]>;
  lastVersion: number;
  replaced: RunCheckpoint | undefined;
  refusedInARow: number;
  guard: RewardGuard;
  differed: number | undefined;
  taught: number;
  isTaught: boolean;
}

export async function openRunLog(journal: RunJournal, settings: RewardGuardSettings): Promise<RunLog> {
  const folded: FoldedRun = {
    lineage: [],
    closed: new Set(),
    trained: new Set(),
    tries: new Map(),
    groups: new Map(),
    kinds: new Map(),
    validated: new Map(),
    examples: new Map(),
    lastVersion: 0,
    replaced: undefined,
    refusedInARow: 0,
    guard: FRESH_GUARD,
    differed: undefined,
    taught: 0,
    isTaught: false,
  };
  const before = await journal.read();
  for (const entry of before.entries) fold(folded, entry, settings);
  let { places } = before;
  const run: RunState = Object.assign(folded, {
    attempts: (batch: string) => folded.tries.get(batch) ?? 0,
    collected: (batch: string) => folded.groups.get(batch) ?? new Map(),
  });
  const write = async (entry: RunEntry): Promise<void> => {
    // An entry that cannot be folded must not be written: it would stay in the journal.
    if ('batch' in entry && folded.closed.has(entry.batch))
      throw new Error(`batch ${entry.batch} is closed: ${entry.type} cannot follow`);
    await journal.append(entry, places);
    places++;
    fold(folded, entry, settings);
  };
  let last: Promise<unknown> = Promise.resolve();
  return {
    run,
    // One after the other: a batch may be sampled while another is trained on.
    append: (entry) => {
      const written = last.then(() => write(entry));
      last = written.catch(() => undefined);
      return written;
    },
  };
}

function fold(run: FoldedRun, entry: RunEntry, settings: RewardGuardSettings): void {
  switch (entry.type) {
    case 'run-begun':
      advance(run, entry.checkpoint);
      return;
    case 'examples-kept':
      run.examples.set(entry.slot, entry.rollouts);
      return;
    case 'taught':
      run.taught++;
      run.isTaught = entry.isLast;
      if (run.isTaught) run.examples.clear();
      advance(run, entry.checkpoint);
      return;
    case 'validated':
      run.validated.set(entry.version, entry.reward);
      return;
    case 'step-begun':
      run.tries.set(entry.batch, entry.attempt);
      return;
    case 'group-collected': {
      const slots = run.groups.get(entry.batch) ?? new Map<number, Group>();
      run.groups.set(entry.batch, slots.set(entry.slot, entry.group));
      return;
    }
    default:
      foldEnd(run, entry, settings);
  }
}

type BatchEnd = Extract<RunEntry, { readonly type: 'step-ended' | 'step-refused' | 'rolled-back' }>;

function foldEnd(run: FoldedRun, entry: BatchEnd, settings: RewardGuardSettings): void {
  const { batch } = entry;
  run.closed.add(batch);
  run.replaced = undefined;
  run.tries.delete(batch);
  run.groups.delete(batch);
  const seen = entry.type === 'step-ended' ? entry.report.seen : entry.seen;
  if (seen !== undefined) run.guard = observeRewards(run.guard, seen, settings);
  if (entry.type === 'step-refused') run.refusedInARow++;
  if (entry.type === 'rolled-back') {
    run.guard = afterRollback(run.guard, settings);
    while ((run.lineage.at(-1)?.version ?? 0) > entry.to.version) run.lineage.pop();
  }
  if (entry.type !== 'step-ended') return;
  run.refusedInARow = 0;
  for (const rollout of entry.rollouts) run.trained.add(rollout);
  for (const { kind, groups, differ } of entry.kinds ?? []) {
    const before = run.kinds.get(kind);
    const counts = { groups: groups + (before?.groups ?? 0), differ: differ + (before?.differ ?? 0) };
    run.kinds.set(kind, { kind, ...counts });
  }
  if (entry.report.groups > 0) run.differed = entry.report.groups - entry.report.constantGroups;
  if (entry.checkpoint === undefined) return;
  run.replaced = run.lineage.at(-1);
  advance(run, entry.checkpoint);
}

function advance(run: FoldedRun, checkpoint: RunCheckpoint): void {
  run.lineage.push(checkpoint);
  run.lastVersion = checkpoint.version;
}
