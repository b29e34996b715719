import { createManualClock } from '../../../src/core/clock.ts';
import type { Fact, StoredFact } from '../../../src/core/fact.ts';
import type { Library } from '../../../src/core/library.ts';
import { FOLDED_TYPES, type NewFact, type Store, type StoreReader } from '../../../src/core/store.ts';
import {
  createTrainingBuffer,
  findSurvivors,
  type TrainingBuffer as Samples,
  type TrainingSample,
} from '../../../src/evidence/training-buffer.ts';
import { createFailureClusters, type FailureClusters } from '../../../src/learn/failure-clusters.ts';
import { openLibrary } from '../../../src/lessons/library.ts';

export const CAP = 4;

/** What a trainer takes: the samples of the generation in force, which only the library knows. */
export const trainableIn = (samples: Samples, inForce: number): readonly TrainingSample[] =>
  samples.samples().filter(({ generation }) => generation === inForce);

/** What a sample's prompt would be under a change; `unknown` is a question that ends in an exception. */
export type Fate = 'same' | 'other' | 'unknown';

/** A daemon's worth of learning over a store: what it knows it has read from there. */
export interface World {
  store: Store;
  library: Library;
  /** Reads the library again after an erasure. */
  reload: () => Promise<void>;
  samples: Samples;
  support: FailureClusters;
  /** The newest fact that was folded. */
  seq: number;
  /** Undefined flushes everything. */
  fateOf: ((sample: TrainingSample) => Fate) | undefined;
  /** What the next publication meets. */
  fault: 'none' | 'refuse' | 'lose-answer';
  readonly reopenStore: (store: Store) => Store;
}

export async function openWorld(store: Store, reopenStore: World['reopenStore']): Promise<World> {
  const world: World = {
    ...{ store, reopenStore, seq: 0, fateOf: undefined, fault: 'none' },
    library: undefined as never,
    reload: async () => undefined,
    ...foldAgain(store),
  };
  await restart(world);
  return world;
}

/** Everything but the file is gone and made again. */
export async function restart(world: World): Promise<void> {
  world.store = world.reopenStore(world.store);
  world.fault = 'none';
  world.fateOf = undefined;
  let ids = 0;
  const { library, reload } = await openLibrary({
    load: async (after, limit) => world.store.factsOf('library-changed', after, limit),
    append: async (fact) => {
      const { fault } = world;
      world.fault = 'none';
      if (fault === 'refuse') throw new Error('refused');
      const appended = append(world, fact);
      if (fault === 'lose-answer') throw new Error('lost');
      return appended;
    },
    recertify: async () => {
      const { fateOf } = world;
      if (fateOf === undefined) return [];
      const wouldDiffer = async (sample: TrainingSample): Promise<boolean> => {
        const fate = fateOf(sample);
        if (fate === 'unknown') throw new Error('nobody knows');
        return fate === 'other';
      };
      return findSurvivors({ samples: world.samples.samples(), wouldDiffer });
    },
    clock: createManualClock(1_000),
    newId: (prefix) => `${prefix}_${world.store.totals().facts}_${++ids}`,
    onFault: (error) => {
      throw error;
    },
  });
  world.library = library;
  world.reload = reload;
  Object.assign(world, foldAgain(world.store), { seq: world.store.totals().facts });
}

export function append(world: World, fact: NewFact) {
  const [appended] = world.store.append({ facts: [fact] });
  if (appended === undefined) throw new Error('the store gave no answer');
  return appended;
}

/** Takes in what was written since. */
export function follow(world: World): void {
  for (const stored of world.store.facts(world.seq, 1_000)) {
    world.samples.add(stored);
    world.support.add(stored);
    world.seq = stored.seq;
  }
}

/** What a process knows that starts now: only the kinds of facts that an index leads to. */
export function foldAgain(store: StoreReader): { samples: Samples; support: FailureClusters } {
  const facts = FOLDED_TYPES.flatMap((type): readonly StoredFact[] => store.factsOf(type, 0, 10_000));
  const samples = createTrainingBuffer({ cap: CAP });
  const support = createFailureClusters();
  for (const stored of facts.toSorted((a, b) => a.seq - b.seq)) {
    samples.add(stored);
    support.add(stored);
  }
  return { samples, support };
}

/** Every reason against a sample that can be read off the bare log. */
export function whyNotIn(log: readonly StoredFact[], sample: TrainingSample): string | undefined {
  let generation = 0;
  let last: (Fact & { readonly type: 'turn-appraised' }) | undefined;
  for (const { fact } of log) {
    if (fact.type === 'library-changed') {
      generation = fact.generation;
      const cited = fact.changes.some((change) => JSON.stringify(change).includes(`"${sample.turn}"`));
      if (fact.by.kind === 'learner' && cited) return `${sample.turn} was cited by a learner`;
    } else if (fact.type === 'cycle-end') {
      if (fact.turns.includes(sample.turn)) return `${sample.turn} was learned from`;
    } else if (fact.type === 'turn-appraised' && fact.turn === sample.turn) {
      if (fact.verdict === 'failure') return `${sample.turn} was a failure`;
      last = fact;
    }
  }
  if (last?.verdict !== 'success' || last.reward !== sample.reward)
    return `${sample.turn} has no such reward`;
  return sample.generation === generation ? undefined : `${sample.turn} is of another generation`;
}
