import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createMemoryJournal } from '../../train/run-journal.ts';
import { train } from '../../train/trainer.ts';
import type { TrainerEvent, TrainInput } from '../../train/training-run.ts';
import { countOf, runsOf } from '../support/counts.ts';
import { type EchoTask, echoTasks, rollOutEcho, VOCABULARY } from './echo-tasks.ts';
import { createOperations, journalWithOperations, Killed, withOperations } from './faulty.ts';
import { bitsOf, createServer, createTabularEngine } from './tabular-engine.ts';

const STEPS = 3;

/** One training run over as many processes as are killed and one more. */
async function runThrough(
  kills: readonly { readonly at: number; readonly when: 'before' | 'after' }[],
  loss: 'importance_sampling' | 'ppo',
  more: Partial<TrainInput<EchoTask>> = {},
) {
  const server = createServer({ vocabulary: VOCABULARY });
  const journal = createMemoryJournal();
  let killed = 0;
  const progress: TrainerEvent[] = [];
  const names: (readonly string[])[] = [];
  for (const kill of [...kills, { at: -1, when: 'before' } as const]) {
    const operations = createOperations(kill.at, kill.when);
    const engine = withOperations(createTabularEngine(server), operations);
    try {
      for await (const each of train({
        engine,
        run: 'run',
        tasks: echoTasks,
        rollouts: rollOutEcho(engine, () => 0),
        steps: STEPS,
        batch: { groups: 2, size: 16 },
        generation: async () => 0,
        journal: journalWithOperations(journal, operations),
        signal: new AbortController().signal,
        rank: 1,
        settings: { loss, length: { tokens: 2 } },
        ...more,
      }))
        progress.push(each);
    } catch (error) {
      if (!(error instanceof Killed)) throw error;
      killed++;
    }
    names.push(operations.names);
  }
  const last = progress.at(-1);
  if (last?.type !== 'done') throw new Error(`the run ended with ${last?.type}`);
  const table = server.saved.get(last.checkpoint.state);
  const { entries } = await journal.read();
  return { bits: bitsOf(table), steps: table?.steps, killed, names, entries, last: last.checkpoint };
}

describe.each(['importance_sampling', 'ppo'] as const)('a run with %s that is killed', (loss) => {
  it('at any operation, before or after its effect, ends at the same weights, each batch trained once', async () => {
    const whole = await runThrough([], loss);
    const operations = whole.names[0] ?? [];
    const updates = loss === 'ppo' ? 4 : 1;
    expect(whole.steps).toBe(STEPS * updates);
    expect(new Set(operations)).toEqual(
      new Set([
        'read',
        'createModel',
        'saveState',
        'saveForSampler',
        'run-begun',
        'openSampler',
        'group-collected',
        'step-begun',
        'forwardBackward',
        'optimStep',
        'step-ended',
      ]),
    );
    let killed = 0;
    const deaths = deathsIn(operations);
    for (const at of deaths)
      for (const when of ['before', 'after'] as const) {
        const cut = await runThrough([{ at, when }], loss);
        killed += cut.killed;
        expect(cut.bits, `${operations[at]} ${at} ${when}`).toBe(whole.bits);
        const ended = cut.entries.flatMap((entry) => (entry.type === 'step-ended' ? [entry.batch] : []));
        expect(ended).toEqual(['run/0', 'run/1', 'run/2']);
        const ids = cut.entries.flatMap((entry) => (entry.type === 'step-ended' ? entry.rollouts : []));
        expect(new Set(ids).size).toBe(ids.length);
      }
    expect(killed).toBe(2 * deaths.length);
  });

  it('repeatedly, ends at the same weights too', async () => {
    const whole = await runThrough([], loss);
    const kill = fc.record({
      at: fc.nat({ max: 25 }),
      when: fc.constantFrom('before' as const, 'after' as const),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(kill, { minLength: 2, maxLength: 6 }), async (kills) => {
        const { bits, last } = await runThrough(kills, loss);
        expect(bits).toBe(whole.bits);
        expect(last.version).toBe(whole.last.version);
      }),
      runsOf(8, 20),
    );
  });
});

/** Where a run is killed: at every third operation, and at every one in full. */
const deathsIn = (operations: readonly unknown[]): readonly number[] =>
  [...operations.keys()].filter((at) => at % countOf(3, 1) === 0);

describe('a run that is taught, refilled and validated, and is killed', () => {
  const [tried, own] = [echoTasks.slice(0, 2), echoTasks.slice(2)];
  const fed: Partial<TrainInput<EchoTask>> = {
    tasks: own,
    teach: { tasks: own, attempts: 64, keep: 2, epochs: 24, size: 4, learningRate: 0.05 },
    refill: { kindOf: ({ id }) => id, rounds: 2, least: 1 },
    validate: { tasks: tried, every: 2 },
  };

  it.each([false, true])(
    'at any operation ends at the same weights, nothing sampled or taught twice (sampled ahead: %s)',
    async (isAhead) => {
      const more = { ...fed, isAhead };
      const whole = await runThrough([], 'importance_sampling', more);
      const operations = whole.names[0] ?? [];
      for (const wanted of ['examples-kept', 'taught', 'validated', 'group-collected'])
        expect(operations).toContain(wanted);
      const count = (entries: typeof whole.entries, type: string) =>
        entries.filter((entry) => entry.type === type).length;
      expect(count(whole.entries, 'taught')).toBeGreaterThan(1);
      for (const at of deathsIn(operations))
        for (const when of ['before', 'after'] as const) {
          const cut = await runThrough([{ at, when }], 'importance_sampling', more);
          expect(cut.bits, `${operations[at]} ${at} ${when}`).toBe(whole.bits);
          for (const type of ['examples-kept', 'taught', 'validated', 'group-collected', 'step-ended'])
            expect(count(cut.entries, type), `${type}: ${operations[at]} ${at}`).toBe(
              count(whole.entries, type),
            );
        }
    },
  );
});
