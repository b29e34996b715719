import { describe, expect, it } from 'vitest';
import { type TrainingEngine, TrainingError } from '../../src/core/training.ts';
import { wilsonInterval } from '../../src/stats/interval.ts';
import { withShuffledRewards } from '../../train/groups.ts';
import { createMemoryJournal, openRunLog } from '../../train/run-journal.ts';
import { train } from '../../train/trainer.ts';
import type { MakeRollouts, TrainerEvent, TrainInput } from '../../train/training-run.ts';
import { type EchoTask, echoTasks, rollOutEcho, VOCABULARY } from './echo-tasks.ts';
import { withOperations } from './faulty.ts';
import { bitsOf, createServer, createTabularEngine, type TabularServer } from './tabular-engine.ts';

const never = new AbortController().signal;

const inputFor = (
  engine: TrainingEngine,
  more: Partial<TrainInput<EchoTask>> = {},
): TrainInput<EchoTask> => ({
  engine,
  run: 'run',
  tasks: echoTasks,
  rollouts: rollOutEcho(engine, () => 0),
  steps: 40,
  batch: { groups: 6, size: 96 },
  generation: async () => 0,
  journal: createMemoryJournal(),
  signal: never,
  rank: 1,
  ...more,
  settings: { length: { tokens: 2 }, ...more.settings },
});

async function all(input: TrainInput<EchoTask>): Promise<readonly TrainerEvent[]> {
  const progress: TrainerEvent[] = [];
  for await (const each of train(input)) progress.push(each);
  return progress;
}

/** How many of so many attempts at each task were complete. */
async function completeness(
  server: TabularServer,
  sampler: string | undefined,
  each: number,
  seed: string,
): Promise<number> {
  const roll = rollOutEcho(createTabularEngine(server), () => 0);
  let complete = 0;
  for (const task of echoTasks) {
    const policy = { version: 0, sampler: sampler ?? '' };
    const done = await roll(policy, task, each, { seed: `eval/${seed}/${task.id}`, signal: never });
    complete += done.filter(({ isComplete }) => isComplete).length;
  }
  return complete;
}

async function learn(
  name: string,
  wrap: (roll: MakeRollouts<EchoTask>) => MakeRollouts<EchoTask>,
  more: Partial<TrainInput<EchoTask>> = {},
) {
  const server = createServer({ vocabulary: VOCABULARY });
  const engine = createTabularEngine(server);
  const rollouts = wrap(rollOutEcho(engine, () => 0));
  const last = (await all(inputFor(engine, { run: name, rollouts, ...more }))).at(-1);
  if (last?.type !== 'done') throw new Error(`it ended with ${last?.type}`);
  return { server, sampler: last.checkpoint.sampler };
}

const same = <T>(value: T): T => value;

describe('training', () => {
  it.each(['importance_sampling', 'ppo'] as const)(
    'with %s on true rewards solves more than nine in ten tasks',
    async (loss) => {
      const { server, sampler } = await learn(`true/${loss}`, same, {
        settings: { loss, length: { tokens: 2 }, kl: { warn: 0.01, refuse: 0.1, drift: 1 } },
      });
      const done = await completeness(server, sampler, 100, 'after');
      expect(wilsonInterval(done, 600).low).toBeGreaterThan(0.9);
    },
  );

  it('on shuffled rewards teaches nothing: twelve runs together end within noise of where they began', async () => {
    let done = 0;
    const shares: number[] = [];
    for (let run = 0; run < 12; run++) {
      const guard = { bound: 2, batches: 99, mostRollbacks: 0, slowDown: 1, errors: 0 };
      const { server, sampler } = await learn(`shuffled/${run}`, withShuffledRewards, { steps: 25, guard });
      const count = await completeness(server, sampler, 50, `${run}`);
      shares.push(count / 300);
      done += count;
    }
    const mean = done / 3600;
    const spread = Math.sqrt(shares.reduce((sum, share) => sum + (share - mean) ** 2, 0) / 11 / 12);
    const chance = 1 / VOCABULARY ** 2;
    expect(Math.abs(mean - chance)).toBeLessThan(Math.max(0.03, 3 * spread));
    expect(mean).toBeLessThan(0.2);
  });

  it('gives the same result for groups that are sampled in parallel as one by one', async () => {
    const one = await learn('same', same, { steps: 4 });
    const many = await learn('same', same, { steps: 4, batch: { groups: 6, size: 96, atOnce: 4 } });
    expect(bitsOf(many.server.saved.get(many.sampler))).toBe(bitsOf(one.server.saved.get(one.sampler)));
  });
});

describe('a pause', () => {
  it('after any number of events ends at the same bits as no pause, and samples nothing twice', async () => {
    const runIn = async (stops: readonly number[]) => {
      const server = createServer({ vocabulary: VOCABULARY });
      const journal = createMemoryJournal();
      const engine = createTabularEngine(server);
      let sampled = 0;
      let pauses = 0;
      const roll = rollOutEcho(engine, () => 0);
      const rollouts: MakeRollouts<EchoTask> = (...given) => {
        sampled++;
        return roll(...given);
      };
      for (const stop of [...stops, Number.POSITIVE_INFINITY]) {
        const away = new AbortController();
        let seen = 0;
        let last: TrainerEvent | undefined;
        for await (const each of train(
          inputFor(engine, {
            steps: 3,
            batch: { groups: 3, size: 24 },
            journal,
            rollouts,
            signal: away.signal,
          }),
        )) {
          last = each;
          if (++seen === stop) away.abort();
        }
        if (last?.type === 'paused') pauses++;
        if (last?.type === 'done')
          return { bits: bitsOf(server.saved.get(last.checkpoint.state)), sampled, pauses };
      }
      throw new Error('it never ended');
    };
    const whole = await runIn([]);
    expect(whole.sampled).toBe(9);
    let pauses = 0;
    for (let stop = 1; stop <= 11; stop++) {
      const cut = await runIn([stop, 2, 1]);
      pauses += cut.pauses;
      expect(cut.bits).toBe(whole.bits);
      expect(cut.sampled).toBe(9);
    }
    expect(pauses).toBeGreaterThan(25);
  });

  it('during any request to the engine ends at the same bits, too', async () => {
    const runIn = async (at: number) => {
      const server = createServer({ vocabulary: VOCABULARY });
      const journal = createMemoryJournal();
      const names: string[] = [];
      const away = new AbortController();
      const around = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
        if (names.push(name) - 1 === at) away.abort();
        return work();
      };
      const engine = withOperations(createTabularEngine(server), { names, around });
      const rollouts = rollOutEcho(engine, () => 0);
      const input = inputFor(engine, { steps: 2, batch: { groups: 2, size: 16 }, journal, rollouts });
      const first = (await all({ ...input, signal: away.signal })).at(-1);
      const last = first?.type === 'done' ? first : (await all(input)).at(-1);
      if (last?.type !== 'done') throw new Error(`it ended with ${last?.type}`);
      return { bits: bitsOf(server.saved.get(last.checkpoint.state)), names, end: first?.type };
    };
    const whole = await runIn(-1);
    for (const [at, name] of whole.names.entries()) {
      const cut = await runIn(at);
      expect(cut.end, name).toBe('paused');
      expect(cut.bits, name).toBe(whole.bits);
    }
    expect(whole.names.length).toBeGreaterThan(12);
  });

  it('during sampling requests that group again under the same seed', async () => {
    const server = createServer({ vocabulary: VOCABULARY });
    const engine = createTabularEngine(server);
    const journal = createMemoryJournal();
    const away = new AbortController();
    const seeds: string[] = [];
    const roll = rollOutEcho(engine, () => 0);
    const rollouts: MakeRollouts<EchoTask> = async (policy, task, count, context) => {
      seeds.push(context.seed);
      if (seeds.length === 2) away.abort(new Error('someone is back'));
      context.signal.throwIfAborted();
      return roll(policy, task, count, context);
    };
    const input = inputFor(engine, { steps: 1, batch: { groups: 3, size: 24 }, journal, rollouts });
    expect((await all({ ...input, signal: away.signal })).map(({ type }) => type)).toEqual([
      'group-collected',
      'paused',
    ]);
    expect((await all(input)).at(-1)?.type).toBe('done');
    expect(seeds).toEqual(['run/0/0', 'run/0/1', 'run/0/1', 'run/0/2']);
  });
});

describe('a fault in training', () => {
  it('closes a batch whose prompts change while it is collected, and collects the next', async () => {
    const engine = createTabularEngine(createServer({ vocabulary: VOCABULARY }));
    let generation = 0;
    const progress: TrainerEvent[] = [];
    const rollouts = rollOutEcho(engine, () => generation);
    for await (const each of train(
      inputFor(engine, {
        steps: 2,
        batch: { groups: 3, size: 24 },
        rollouts,
        generation: async () => generation,
      }),
    )) {
      progress.push(each);
      if (progress.length === 2) generation = 1;
    }
    const ends = progress.filter(({ type }) => type !== 'group-collected');
    expect(ends).toMatchObject([
      { type: 'step-refused', refusal: { refused: 'other-generation' } },
      { type: 'step-trained', batch: 'run/1' },
      { type: 'done', checkpoint: { version: 1 } },
    ]);
  });

  it('rolls falling rewards back to the best weights with a lower rate, and gives up in the end', async () => {
    const engine = createTabularEngine(createServer({ vocabulary: VOCABULARY }));
    const roll = rollOutEcho(engine, () => 0);
    // A world in which all that was learned turns out to be worthless: every version but the first three does badly.
    const asked: number[] = [];
    const rollouts: MakeRollouts<EchoTask> = async (policy, ...rest) => {
      if (asked.at(-1) !== policy.version) asked.push(policy.version);
      return (await roll(policy, ...rest)).map((rollout, at) => ({
        ...rollout,
        reward: policy.version > 2 ? 0.1 * (at % 2) : policy.version + (at % 2),
      }));
    };
    const guard = { bound: 0.2, batches: 2, mostRollbacks: 2, slowDown: 0.5, errors: 0 };
    const journal = createMemoryJournal();
    const progress = await all(
      inputFor(engine, { batch: { groups: 2, size: 16 }, rollouts, guard, journal }),
    );
    const told = progress.flatMap((each): readonly unknown[] =>
      each.type === 'rolled-back'
        ? [[each.to.version, each.rate]]
        : each.type === 'stuck'
          ? [each.checkpoint?.version]
          : [],
    );
    expect(told).toEqual([[2, 0.5], [2, 0.25], 2]);
    const versions = progress.flatMap((each) =>
      each.type === 'step-trained' ? [each.checkpoint.version] : [],
    );
    expect(new Set(versions).size).toBe(versions.length);
    const rates = progress.flatMap((each) =>
      each.type === 'step-trained' ? [each.report.learningRate] : [],
    );
    expect(rates.at(-1)).toBeCloseTo(0.025);
    const { run } = await openRunLog(journal, guard);
    expect(run.guard).toMatchObject({ rate: 0.25, rollbacks: 2, best: { version: 2 } });
    expect(asked).toEqual([0, 1, 2, 3, 4, 2, 5, 6, 2, 7, 8]);
    expect(run.lineage.map(({ version }) => version)).toEqual([0, 1, 2, 7, 8]);
    expect(run.lastVersion).toBe(versions.at(-1));
  });

  it('retries a failing engine from the last checkpoint, three times', async () => {
    const whole = await learn('run', same, { steps: 2 });
    const server = createServer({ vocabulary: VOCABULARY });
    const real = createTabularEngine(server);
    let failures = 0;
    const failing = (most: number): TrainingEngine => ({
      ...real,
      openModel: async (path) => {
        const model = await real.openModel(path);
        return {
          ...model,
          optimStep: (adam, signal) => {
            const stepped = model.optimStep(adam, signal);
            if (failures++ >= most) return stepped;
            // The step was taken; only the answer is lost.
            return { done: stepped.done.then(() => Promise.reject(new TrainingError('server', 'lost'))) };
          },
        };
      },
    });
    const journal = createMemoryJournal();
    await all(inputFor(real, { steps: 0, journal }));
    const stuck = await all(inputFor(failing(3), { steps: 2, journal }));
    expect(stuck.filter(({ type }) => type === 'step-failed')).toHaveLength(3);
    expect(stuck.at(-1)).toMatchObject({ type: 'stuck', isRetryable: true });
    failures = 0;
    const last = (await all(inputFor(failing(2), { steps: 2, journal }))).at(-1);
    expect(last).toMatchObject({ type: 'done', checkpoint: { version: 2 } });
    const bits = last?.type === 'done' ? bitsOf(server.saved.get(last.checkpoint.sampler)) : '';
    expect(bits).toBe(bitsOf(whole.server.saved.get(whole.sampler)));
  });

  it('stops the run at NaN with the weights of the last checkpoint', async () => {
    const real = createTabularEngine(createServer({ vocabulary: VOCABULARY }));
    const engine: TrainingEngine = {
      ...real,
      createModel: async (options) => {
        const model = await real.createModel(options);
        return {
          ...model,
          optimStep: (adam, signal) => model.optimStep({ ...adam, learningRate: Number.NaN }, signal),
          forwardBackward: (input, signal) => ({
            done: model
              .forwardBackward(input, signal)
              .done.then((output) => ({ ...output, metrics: { 'loss:sum': Number.NaN } })),
          }),
        };
      },
    };
    const progress = await all(inputFor(engine));
    expect(progress.slice(-2)).toMatchObject([
      { type: 'step-refused', refusal: { refused: 'not-finite' } },
      { type: 'stuck', isRetryable: false, checkpoint: { version: 0 } },
    ]);
  });
});
