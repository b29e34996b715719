import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { createManualClock } from '../../../src/core/clock.ts';
import type { Store } from '../../../src/core/store.ts';
import { createMemoryStore } from '../../../src/record/store/memory-store.ts';
import { openSqliteStore } from '../../../src/record/store/sqlite-store.ts';
import { scratch } from '../../record/store/scratch.ts';
import { runsOf } from '../../support/counts.ts';
import { commands, open, type Real } from './commands.ts';
import { newModel } from './library-model.ts';

/** Seconds on an idle machine. */
vi.setConfig({ testTimeout: 240_000 });

/** Runs commands against a library and the model, and counts them. */
async function compare(
  newStore: () => { readonly store: Store; readonly reopen: (store: Store) => Store },
  runs: ReturnType<typeof runsOf>,
): Promise<ReadonlyMap<string, number>> {
  const tally = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(commands, async (drawn) => {
      const { store, reopen } = newStore();
      const real: Real = {
        ...{ clock: createManualClock(1_000), store, sets: [], tally, fault: 'none' as const },
        reopenStore: reopen,
        library: undefined as never,
      };
      await open(real);
      await fc.asyncModelRun(() => ({ model: newModel(), real }), drawn);
      tally.set('generations', (tally.get('generations') ?? 0) + real.library.generation);
      real.store.close();
    }),
    runs,
  );
  return tally;
}

const OPS = ['add', 'revise', 'merge', 'retire', 'move', 'mark', 'expire', 'restore'];

/** Every kind of result occurred: agreement about nothing proves nothing. */
function expectMuch(tally: ReadonlyMap<string, number>): void {
  const total = (end: string): number =>
    [...tally].reduce((sum, [what, times]) => sum + (what.endsWith(end) ? times : 0), 0);
  const done = ['publish', 'again', 'echo', 'crash', 'refuse', 'lose-answer', 'roll-back', 'generations'];
  expect(done.filter((what) => (tally.get(what) ?? 0) < 3)).toEqual([]);
  for (const end of [' applied', ' refused', ' same']) expect(total(end)).toBeGreaterThan(30);
}

describe('a library', () => {
  it('agrees with a simple model under random publishes, lost replies, rollbacks and crashes, in memory', async () => {
    const tally = await compare(
      () => ({ store: createMemoryStore(), reopen: (store) => store }),
      runsOf(12, 30),
    );
    expectMuch(tally);
    expect(OPS.filter((op) => !tally.has(`${op} applied`))).toEqual([]);
  });

  it('agrees with a simple model on disk, with the file reopened after each crash', async () => {
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
      runsOf(5, 12),
    );
    expectMuch(tally);
  });
});
