import { describe, expect, it } from 'vitest';
import { DEFAULT_GUARD } from '../../train/reward-guard.ts';
import { createMemoryJournal, openRunLog } from '../../train/run-journal.ts';
import { train } from '../../train/trainer.ts';
import type { MakeRollouts, TrainerEvent, TrainInput } from '../../train/training-run.ts';
import { type EchoTask, echoTasks, rollOutEcho, VOCABULARY } from './echo-tasks.ts';
import { createServer, createTabularEngine } from './tabular-engine.ts';

const GROUPS = 4;

/** Tasks of which some cannot be told apart: whatever is answered to them has the same reward. */
function openFed(hopeless: (task: EchoTask) => boolean, copies = 8) {
  const engine = createTabularEngine(createServer({ vocabulary: VOCABULARY }));
  const roll = rollOutEcho(engine, () => 0);
  const asked: string[] = [];
  const rollouts: MakeRollouts<EchoTask> = async (policy, task, count, context) => {
    asked.push(task.id);
    const made = await roll(policy, task, count, context);
    return hopeless(task) ? made.map((one) => ({ ...one, reward: 0, isComplete: false })) : made;
  };
  const tasks = echoTasks.flatMap((task) =>
    Array.from({ length: copies }, (_, copy) => ({ ...task, id: `${task.id}/${copy}` })),
  );
  const kindOf = ({ id }: EchoTask): string => id.split('/')[0] ?? '';
  const input: TrainInput<EchoTask> = {
    engine,
    run: 'fed',
    tasks,
    rollouts,
    steps: 6,
    batch: { groups: GROUPS, size: GROUPS * 8 },
    refill: { kindOf, rounds: 3, least: 2 },
    generation: async () => 0,
    journal: createMemoryJournal(),
    signal: new AbortController().signal,
    rank: 1,
    settings: { length: { tokens: 2 } },
  };
  return { input, asked, kindOf };
}

async function eventsOf(input: TrainInput<EchoTask>): Promise<readonly TrainerEvent[]> {
  const events: TrainerEvent[] = [];
  for await (const event of train(input)) events.push(event);
  return events;
}

describe('a batch that is refilled', () => {
  it('samples on until it has its number of groups that differ, and reports what it drew', async () => {
    const { input } = openFed(({ id }) => !id.startsWith('echo-0') && !id.startsWith('echo-1'));
    const steps = (await eventsOf(input)).flatMap((event) => (event.type === 'step-trained' ? [event] : []));
    expect(steps).toHaveLength(6);
    for (const { report } of steps) {
      expect(report.groups - report.constantGroups).toBeGreaterThanOrEqual(GROUPS - 1);
      expect(report.drawn).toBeGreaterThanOrEqual(report.groups);
    }
    // Two kinds of six differ: without refilling a batch would have one or two such groups.
    const alone = openFed(({ id }) => !id.startsWith('echo-0') && !id.startsWith('echo-1')).input;
    const { refill: _, ...bare } = alone;
    const starved = (await eventsOf(bare)).flatMap((event) => (event.type === 'step-trained' ? [event] : []));
    const differing = starved.reduce((sum, { report }) => sum + report.groups - report.constantGroups, 0);
    expect(differing / 6).toBeLessThan(GROUPS - 1);
  });

  it('prefers kinds of tasks whose groups differed before', async () => {
    const { input, asked, kindOf } = openFed(
      ({ id }) => !id.startsWith('echo-0') && !id.startsWith('echo-1'),
      40,
    );
    await eventsOf(input);
    const { run } = await openRunLog(input.journal, DEFAULT_GUARD);
    const { groups = 0, differ = 0 } = run.kinds.get('echo-0') ?? {};
    expect(differ).toBeGreaterThan(groups / 2);
    const often = asked.filter((id) => ['echo-0', 'echo-1'].includes(kindOf({ id, shown: 0, wanted: [] })));
    expect(often.length / asked.length).toBeGreaterThan(0.4);
  });

  it('is rewarded by its first round alone: chosen tasks say nothing about the policy', async () => {
    const { input } = openFed(({ id }) => !id.startsWith('echo-0'));
    const { journal } = input;
    await eventsOf({ ...input, steps: 1 });
    const { entries } = await journal.read();
    const ended = entries.find((entry) => entry.type === 'step-ended');
    const groups = entries.flatMap((entry) => (entry.type === 'group-collected' ? [entry] : []));
    expect(groups.length).toBeGreaterThan(GROUPS);
    const first = groups.filter(({ slot }) => slot < GROUPS).flatMap(({ group }) => group.rollouts);
    const mean = first.reduce((sum, { reward }) => sum + reward, 0) / first.length;
    expect(ended?.type === 'step-ended' && ended.report.seen?.reward).toBeCloseTo(mean, 10);
  });

  it('ends the run when twice running too few groups differ', async () => {
    const { input } = openFed(({ id }) => id !== 'echo-0/0');
    const events = await eventsOf({ ...input, steps: 20 });
    expect(events.filter(({ type }) => type === 'step-trained' || type === 'step-idle')).toHaveLength(1);
    expect(events.map(({ type }) => type).slice(-2)).toEqual(['ran-dry', 'done']);
  });
});

describe('examples', () => {
  it('of attempts that were right in full teach the answers, before anything is compared', async () => {
    const { input } = openFed(() => false, 1);
    const teach = { tasks: input.tasks, attempts: 200, keep: 2, epochs: 60, size: 6, learningRate: 0.05 };
    const events = await eventsOf({ ...input, steps: 0, teach, validate: { tasks: input.tasks, every: 1 } });
    expect(events.map(({ type }) => type).at(-1)).toBe('done');
    const kept = events.flatMap((event) => (event.type === 'examples-kept' ? [event.kept] : [])).at(-1);
    expect(kept).toBe(6);
    const parts = events.flatMap((event) => (event.type === 'taught' ? [event.report] : []));
    expect(parts.at(-1)?.loss).toBeLessThan((parts[0]?.loss ?? 0) / 2);
    // By chance one answer in 36 is right.
    const right = events.flatMap((event) => (event.type === 'validated' ? [event.reward] : [])).at(-1);
    expect(right).toBeGreaterThan(0.5);
  });

  it('are refused with the reason when no attempt was right', async () => {
    const { input } = openFed(() => true);
    const teach = { tasks: input.tasks, attempts: 4, keep: 1, epochs: 1, size: 4, learningRate: 0.05 };
    const last = (await eventsOf({ ...input, teach })).at(-1);
    expect(last?.type === 'stuck' && last.why).toContain('No attempt at any task was right');
  });
});

describe('the best checkpoint', () => {
  it('is the one that did best on tasks that are not trained on, and may be the first', async () => {
    const { input } = openFed(() => false, 1);
    // Rewards are turned over: what is trained makes the tasks that choose worse.
    const wrong: MakeRollouts<EchoTask> = async (policy, task, count, context) => {
      const made = await input.rollouts(policy, task, count, context);
      return count === 1 ? made : made.map((one) => ({ ...one, reward: 1 - one.reward }));
    };
    const tried = Array.from({ length: 30 }, () => input.tasks).flat();
    const events = await eventsOf({
      ...input,
      rollouts: wrong,
      steps: 12,
      guard: { bound: 2, batches: 99, mostRollbacks: 0, slowDown: 1, errors: 0 },
      validate: { tasks: tried, every: 3 },
    });
    const scores = events.flatMap((event) => (event.type === 'validated' ? [event] : []));
    expect(scores.map(({ version }) => version)).toEqual([0, 3, 6, 9, 12]);
    const best = scores.reduce((one, two) => (two.reward >= one.reward ? two : one));
    const done = events.at(-1);
    expect(done?.type === 'done' && done.checkpoint.version).toBe(best.version);
    expect(best.version).toBeLessThan(12);
  });
});

describe('a batch that is sampled while the one before it is trained on', () => {
  /** Updates of the first batch end only once the second has been asked for: without that the run would stand still. */
  function openApart(isAhead: boolean) {
    const { input } = openFed(() => false);
    const sampledBy = new Map<string, Set<number>>();
    let ask = (): void => undefined;
    const asked = new Promise<void>((resolve) => {
      ask = resolve;
    });
    const { rollouts, engine } = input;
    const wait = isAhead ? asked : Promise.resolve();
    const apart: TrainInput<EchoTask> = {
      ...input,
      isAhead,
      rollouts: (policy, task, count, context) => {
        const batch = context.seed.split('/').slice(0, 2).join('/');
        sampledBy.set(batch, (sampledBy.get(batch) ?? new Set()).add(policy.version));
        if (batch === 'fed/1') ask();
        return rollouts(policy, task, count, context);
      },
      engine: {
        ...engine,
        createModel: async (options) => {
          const model = await engine.createModel(options);
          return {
            ...model,
            forwardBackward: (data, signal) => {
              const { done } = model.forwardBackward(data, signal);
              return { done: wait.then(() => done) };
            },
          };
        },
      },
    };
    return { apart, sampledBy };
  }

  it('is by the weights of one update ago, all its rounds, and is trained on', async () => {
    const { apart, sampledBy } = openApart(true);
    const steps = (await eventsOf(apart)).flatMap((event) => (event.type === 'step-trained' ? [event] : []));
    expect(steps).toHaveLength(6);
    expect([...sampledBy].map(([batch, versions]) => [batch, ...versions])).toEqual([
      ['fed/0', 0],
      ['fed/1', 0],
      ['fed/2', 1],
      ['fed/3', 2],
      ['fed/4', 3],
      ['fed/5', 4],
    ]);
    expect(steps.map(({ report }) => report.seen?.version)).toEqual([0, 0, 1, 2, 3, 4]);
  });

  it('is by the newest weights where sampling is not apart from training', async () => {
    const { apart, sampledBy } = openApart(false);
    await eventsOf(apart);
    expect([...sampledBy.values()].map((versions) => [...versions])).toEqual([[0], [1], [2], [3], [4], [5]]);
  });

  it('is sampled anew by the newest weights when the step before it was refused', async () => {
    const { apart, sampledBy } = openApart(true);
    let generation = 0;
    const events: TrainerEvent[] = [];
    for await (const event of train({ ...apart, generation: async () => generation })) {
      events.push(event);
      // A lesson changed while batch 2 was sampled: what was asked under the old ones must not be trained on.
      if (event.type === 'step-trained' && event.batch === 'fed/1') generation = 1;
      if (event.type === 'step-refused') generation = 0;
    }
    const refused = events.flatMap((event) => (event.type === 'step-refused' ? [event.batch] : []));
    expect(refused).toEqual(['fed/2']);
    expect([...(sampledBy.get('fed/3') ?? [])]).toEqual([2]);
    expect(events.at(-1)?.type).toBe('done');
  });
});
