import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Store } from '../../../src/core/store.ts';
import { createTrainingBuffer } from '../../../src/evidence/training-buffer.ts';
import { createMemoryStore } from '../../../src/record/store/memory-store.ts';
import { openSqliteStore } from '../../../src/record/store/sqlite-store.ts';
import { scratch } from '../../record/store/scratch.ts';
import { runsOf } from '../../support/counts.ts';
import { act, type Count } from './act.ts';
import { history } from './actions.ts';
import { type Model, newModel, visible, waiting } from './model.ts';
import { CAP, foldAgain, openWorld, trainableIn, type World, whyNotIn } from './world.ts';

type NewStore = () => { readonly store: Store; readonly reopen: (store: Store) => Store };

const inMemory: NewStore = () => ({ store: createMemoryStore(), reopen: (store) => store });

/** Comparing as text is quick enough to be done after every command. */
function expectSame(real: unknown, wanted: unknown): void {
  if (JSON.stringify(real) !== JSON.stringify(wanted)) expect(real).toEqual(wanted);
}

/** Everything that must be so between any two commands. */
function check(model: Model, world: World, count: Count): void {
  const { samples, library, store, support } = world;
  const held = samples.samples();
  const wanted = visible(model).map(({ id, session, certified, reward }) => ({
    turn: id,
    session,
    generation: certified,
    reward,
  }));
  expectSame(held, wanted);
  expectSame(samples.counts().generation, model.generation);
  const again = foldAgain(store);
  expectSame(again.samples.samples(), held);
  expectSame(again.samples.counts(), samples.counts());
  const failures = (from: typeof support): readonly string[] =>
    from
      .ready(1, 0)
      .flatMap((cluster) => cluster.failures.map(({ turn }) => turn))
      .sort();
  expectSame(failures(support), waiting(model));
  expectSame(failures(again.support), waiting(model));
  const log = store.facts(0, 10_000);
  const batch = trainableIn(samples, library.generation);
  // A library that lost the answer to what it wrote shows its old prompts until it has read the log.
  const isBehind = library.generation !== model.generation;
  if (isBehind) count('library behind');
  expectSame(batch.length, isBehind ? 0 : held.length);
  for (const sample of batch) expectSame(whyNotIn(log, sample), undefined);
  count('samples in batches', batch.length);
}

/** A log that ends anywhere keeps the fence too, also between facts that were written as one. */
function checkPrefixes(store: Store): void {
  const log = store.facts(0, 10_000);
  const samples = createTrainingBuffer({ cap: CAP });
  log.forEach((stored, index) => {
    samples.add(stored);
    const { generation } = samples.counts();
    for (const sample of trainableIn(samples, generation))
      expectSame(whyNotIn(log.slice(0, index + 1), sample), undefined);
  });
}

async function compare(newStore: NewStore, runs: typeof RUNS): Promise<ReadonlyMap<string, number>> {
  const tally = new Map<string, number>();
  const count: Count = (what, times = 1) => void tally.set(what, (tally.get(what) ?? 0) + times);
  await fc.assert(
    fc.asyncProperty(history, async (actions) => {
      const { store, reopen } = newStore();
      const model = newModel(CAP);
      const world = await openWorld(store, reopen);
      for (const action of actions) {
        await act({ model, world, action, count });
        check(model, world, count);
      }
      checkPrefixes(world.store);
      count('generations', world.library.generation);
      world.store.close();
    }),
    runs,
  );
  return tally;
}

const DEEDS = [
  ...[
    'serve',
    'appraise',
    'evolve',
    'person',
    'roll-back',
    'erase',
    'kill',
    'serve cut off',
    'evolve cut off',
  ],
  ...['rewarded', 'appraised again', 'support called a success', 'success of another generation', 'full'],
  ...['certified and rewarded again', 'samples erased', 'rewarded after erasing', 'samples in batches'],
  ...['published without a new generation', 'flushed: strict', 'flushed: scoped', 'survived', 'flushed out'],
  ...['publish: refuse', 'publish: lose-answer', 'library behind', 'generations'],
];

const RUNS = runsOf(40, 500);
const HISTORIES = RUNS.numRuns;

describe('the generation fence', () => {
  it(`lets no support data and no sample of another generation into a batch, over ${HISTORIES} histories of 50 commands`, async () => {
    const tally = await compare(inMemory, RUNS);
    // Agreeing about what never happened proves nothing.
    expect(DEEDS.filter((deed) => (tally.get(deed) ?? 0) < 0.08 * HISTORIES)).toEqual([]);
  });

  it('holds on disk, with the file reopened after each kill', async () => {
    const dir = scratch();
    let files = 0;
    const tally = await compare(
      () => {
        const file = join(dir, `${++files}.db`);
        const reopen = (store: Store): Store => {
          store.close();
          return openSqliteStore({ file });
        };
        return { store: openSqliteStore({ file }), reopen };
      },
      runsOf(3, 12),
    );
    const much = ['rewarded', 'evolve', 'serve cut off', 'kill', 'samples erased', 'survived', 'flushed out'];
    expect(much.filter((deed) => !tally.has(deed))).toEqual([]);
  });
});
