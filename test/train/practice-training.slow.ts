import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createRandom } from '../../src/base/random.ts';
import { systemClock } from '../../src/core/clock.ts';
import type { AttemptGroup, WeightsVerdict } from '../../src/core/practice.ts';
import type { TrainingTask } from '../../src/core/task-source.ts';
import { type TrainingEngine, TrainingError } from '../../src/core/training.ts';
import { startTinkerServer } from '../../train/nano/server/start-tinker-server.ts';
import { createPracticeTraining, type PracticeTrainingOptions } from '../../train/practice-training.ts';
import { DEFAULT_PROMOTION, type PromotionSettings } from '../../train/promotion.ts';
import { createRegressionTasks } from '../../train/regression-suite.ts';
import { DEFAULT_GUARD } from '../../train/reward-guard.ts';
import { openFileJournal } from '../../train/run-files.ts';
import { openRunLog } from '../../train/run-journal.ts';
import { connectTinker } from '../../train/tinker/connect-tinker.ts';
import { createEngine } from '../support/one-thread-engine.ts';
import { attempt, groupFrom } from './attempts.ts';
import { createOperations, Killed, withOperations } from './faulty.ts';
import { SMALL, smallWeights } from './nano/engine/small-model.ts';
import { digitTask, digitTemplate, groupOfAttempts, makeOf, memoryPromotions } from './practice-groups.ts';
import { bitsOf, createServer, createTabularEngine } from './tabular-engine.ts';

const signal = new AbortController().signal;
const VOCABULARY = 6;

function newFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'instar-practice-training-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const trainingWith = (engine: TrainingEngine, more: Partial<PracticeTrainingOptions> = {}) =>
  createPracticeTraining({
    engine,
    template: digitTemplate(2),
    name: 'table',
    promotions: memoryPromotions(DEFAULT_PROMOTION),
    folder: newFolder(),
    generation: async () => 0,
    rank: 1,
    signal,
    ...more,
    settings: { length: { tokens: 2 }, ...more.settings },
  });

const taskAt = (shown: number) => digitTask(`learn-${shown}`, shown, (shown + 2) % VOCABULARY);
const tasks = Array.from({ length: VOCABULARY }, (_, shown) => taskAt(shown));

const runIn = async (folder: string) => {
  const journal = openFileJournal(path.join(folder, 'run-1.jsonl'));
  const { run } = await openRunLog(journal, DEFAULT_GUARD);
  journal.close();
  return run;
};

/** The embedded engine with a small model, behind its own server. */
async function startNano(): Promise<TrainingEngine> {
  const engine = createEngine({ weights: smallWeights(), shape: SMALL, name: 'small' });
  const server = await startTinkerServer({ engine, folder: newFolder(), port: 0, key: 'tml-test' });
  onTestFinished(() => server.close());
  const client = await connectTinker({
    url: server.url,
    key: 'tml-test',
    baseModel: 'small',
    profile: 'nano',
    selfTest: false,
    fetch,
    clock: systemClock,
    random: createRandom('practice'),
  });
  onTestFinished(() => client.close());
  return client;
}

/** Rewards the attempt at this place alone. */
const rewarding = (group: AttemptGroup, best: number): AttemptGroup => ({
  ...group,
  attempts: group.attempts.map((one, place) => ({
    ...one,
    outcome: { is: 'graded', reward: place === best ? 1 : 0, reasons: [] },
  })),
});

/** The log-probability of what an attempt said, under the newest weights of a run. */
async function logprobOf(engine: TrainingEngine, folder: string, group: AttemptGroup, place: number) {
  const { prompt = [], tokens = [] } = group.attempts[place]?.sampled?.[0] ?? {};
  const model = await engine.openModel((await runIn(folder)).lineage.at(-1)?.state ?? '');
  const all = [...prompt, ...tokens];
  const targets = all.slice(1);
  const weights = targets.map((_, at) => (at >= prompt.length - 1 ? 1 : 0));
  const data = [{ tokens: all.slice(0, -1), targets, weights }];
  const { logprobs } = await model.forward({ data, loss: 'cross_entropy' }, signal);
  await model.close();
  return (logprobs[0] ?? []).slice(prompt.length - 1).reduce((sum, one) => sum + one, 0);
}

describe('training on a group of practice with the embedded engine', () => {
  it('makes the better attempt more probable; with its reward given to another one it does not', async () => {
    const engine = await startNano();
    const BEST = 2;
    /** By how much the best attempt became more probable than the others, when this one was rewarded. */
    const gainWhen = async (rewarded: number): Promise<number> => {
      const folder = newFolder();
      const training = trainingWith(engine, {
        folder,
        rank: 4,
        seed: 5,
        template: digitTemplate(6),
        learningRate: 0.01,
        settings: { length: { tokens: 6 } },
      });
      const group = await groupOfAttempts(makeOf(training), digitTask('a', 3, 7), 'one', { size: 6 });
      const lead = async (): Promise<number> => {
        const all: number[] = [];
        for (const place of group.attempts.keys()) all.push(await logprobOf(engine, folder, group, place));
        return (all[BEST] ?? 0) - all.reduce((sum, one) => sum + one, 0) / all.length;
      };
      const before = await lead();
      expect(await training.trainOn([rewarding(group, rewarded)])).toEqual({
        groups: 1,
        version: 1,
        refused: [],
      });
      await training.close();
      return (await lead()) - before;
    };
    expect(await gainWhen(BEST)).toBeGreaterThan(0.05);
    for (const other of [0, 4]) expect(await gainWhen(other)).toBeLessThan(0);
  });

  it('attempts the next batch with the weights after it, and begins one run for attempts that start together', async () => {
    const engine = await startNano();
    const folder = newFolder();
    const training = trainingWith(engine, { folder, template: digitTemplate(6) });
    const make = makeOf(training);
    const groups = await Promise.all(
      tasks.slice(0, 3).map((task) => groupOfAttempts(make, task, 'first', { size: 4 })),
    );
    expect(new Set(groups.flatMap(({ attempts }) => attempts.map(({ by }) => by)))).toEqual(
      new Set(['table@0']),
    );
    await training.trainOn(groups.map((group) => rewarding(group, 1)));
    const next = await groupOfAttempts(make, digitTask('b', 1, 3), 'second', { size: 2 });
    expect(next.attempts.map(({ by }) => by)).toEqual(['table@1', 'table@1']);
    expect((await runIn(folder)).lineage.map(({ version }) => version)).toEqual([0, 1]);
    // What was attempted is in the record alone.
    expect(readFileSync(path.join(folder, 'run-1.jsonl'), 'utf8')).not.toContain('group-collected');
  });
});

describe('groups that must not be trained on', () => {
  it('are reported, and the others are trained on: another generation, another grader, mixed weights', async () => {
    const server = createServer({ vocabulary: VOCABULARY });
    const training = trainingWith(createTabularEngine(server), { generation: async () => 3 });
    const make = makeOf(training);
    const of = async (place: number, name: string, generation = 3) =>
      rewarding(await groupOfAttempts(make, taskAt(place), name, { generation }), 0);
    const [good, old, compared, recorded] = [
      await of(0, 'good'),
      await of(1, 'old', 2),
      { ...(await of(2, 'compared')), gradedBy: 'compared' as const },
      { ...(await of(3, 'recorded')), gradedBy: 'recorded' as const },
    ];
    const first = await training.trainOn([good, old, compared, recorded]);
    expect(first).toMatchObject({ groups: 1, version: 1 });
    expect(first.refused.map(({ group }) => group)).toEqual([old.id, compared.id, recorded.id]);
    expect(first.refused[0]?.why).toContain('generation 2, and generation 3 is in force');

    const mixed = await of(4, 'mixed');
    const older = good.attempts.slice(0, 1).map((one) => ({ ...one, id: 'attempt:x', task: mixed.task.id }));
    const second = await training.trainOn([{ ...mixed, attempts: [...mixed.attempts.slice(1), ...older] }]);
    expect(second).toMatchObject({ groups: 0, version: 1 });
    expect(second.refused[0]?.why).toContain('versions');
    expect(server.optimSteps).toBe(1);
  });

  it('are those of weights that are too many updates old, also when nothing else is in the batch', async () => {
    const training = trainingWith(createTabularEngine(createServer({ vocabulary: VOCABULARY })));
    const make = makeOf(training);
    const early = rewarding(await groupOfAttempts(make, taskAt(0), 'early'), 0);
    for (const name of ['a', 'b', 'c'])
      await training.trainOn([rewarding(await groupOfAttempts(make, taskAt(1), name), 0)]);
    for (let again = 0; again < 4; again++) {
      const told = await training.trainOn([early]);
      expect(told).toMatchObject({ groups: 0, version: 3 });
      expect(told.refused[0]?.why).toContain('3 updates ago');
    }
    // Refusals do not end the run.
    const late = rewarding(await groupOfAttempts(make, taskAt(2), 'late'), 0);
    expect(await training.trainOn([late])).toEqual({ groups: 1, version: 4, refused: [] });
  });

  it('are not joined by what an interrupted training window has collected for the same step', async () => {
    const folder = newFolder();
    const server = createServer({ vocabulary: VOCABULARY });
    const training = trainingWith(createTabularEngine(server), { folder });
    const make = makeOf(training);
    const group = rewarding(await groupOfAttempts(make, taskAt(0), 'own'), 0);
    const journal = openFileJournal(path.join(folder, 'run-1.jsonl'));
    const log = await openRunLog(journal, DEFAULT_GUARD);
    const left = groupFrom([attempt('window/1', { reward: 1 }), attempt('window/2')]);
    await log.append({ type: 'group-collected', batch: 'run-1/0', slot: 0, group: left });
    journal.close();
    expect(await training.trainOn([group])).toEqual({ groups: 1, version: 1, refused: [] });
    const { trained } = await runIn(folder);
    expect([...trained].toSorted()).toEqual(group.attempts.map(({ id }) => id).toSorted());
  });
});

describe('a session that is killed while it trains', () => {
  /** One step over as many processes as are killed and one more; the groups were attempted before. */
  async function stepThrough(kills: readonly { readonly at: number; readonly when: 'before' | 'after' }[]) {
    const folder = newFolder();
    const server = createServer({ vocabulary: VOCABULARY });
    const first = trainingWith(createTabularEngine(server), { folder });
    const made = await Promise.all(tasks.map((task) => groupOfAttempts(makeOf(first), task, 'killed')));
    const groups = made.map((group) => rewarding(group, 0));
    let killed = 0;
    let names: readonly string[] = [];
    for (const { at, when } of [...kills, { at: -1, when: 'before' as const }]) {
      const operations = createOperations(at, when);
      const engine = withOperations(createTabularEngine(server), operations);
      try {
        await trainingWith(engine, { folder }).trainOn(groups);
      } catch (error) {
        if (!(error instanceof Killed)) throw error;
        killed++;
      }
      names = operations.names;
    }
    const run = await runIn(folder);
    const newest = server.saved.get(run.lineage.at(-1)?.state ?? '');
    return { folder, groups, server, killed, names, run, bits: bitsOf(newest), steps: newest?.steps };
  }

  it('at any operation of the engine trains each group once and ends at the same weights', async () => {
    const whole = await stepThrough([]);
    expect(whole.names).toEqual(['openModel', 'forwardBackward', 'optimStep', 'saveState', 'saveForSampler']);
    expect(whole.steps).toBe(1);
    for (const [at, name] of whole.names.entries())
      for (const when of ['before', 'after'] as const) {
        const cut = await stepThrough([{ at, when }]);
        expect(cut.killed, `${name} ${when}`).toBe(1);
        expect(cut.bits, `${name} ${when}`).toBe(whole.bits);
        expect([...cut.run.closed]).toEqual(['run-1/0']);
        expect(cut.run.trained.size).toBe(8 * tasks.length);
      }
  });

  it('after the step and before practice has noted it, trains nothing again and says that it is done', async () => {
    const { folder, groups, server, bits } = await stepThrough([]);
    const done = server.optimSteps;
    const again = trainingWith(createTabularEngine(server), { folder });
    expect(await again.trainOn(groups)).toEqual({ groups: groups.length, version: 1, refused: [] });
    expect(server.optimSteps).toBe(done);
    const run = await runIn(folder);
    expect(bitsOf(server.saved.get(run.lineage.at(-1)?.state ?? ''))).toBe(bits);
  });

  it('by an engine that fails is told so, and the same groups train later', async () => {
    const folder = newFolder();
    const server = createServer({ vocabulary: VOCABULARY });
    const engine = createTabularEngine(server);
    const made = await groupOfAttempts(makeOf(trainingWith(engine, { folder })), taskAt(0), 'down');
    const group = rewarding(made, 0);
    const down: TrainingEngine = {
      ...engine,
      openModel: () => Promise.reject(new TrainingError('server', 'the engine is down')),
    };
    await expect(trainingWith(down, { folder }).trainOn([group])).rejects.toThrow('the engine is down');
    expect(server.optimSteps).toBe(0);
    expect(await trainingWith(engine, { folder }).trainOn([group])).toMatchObject({ groups: 1, version: 1 });
  });
});

describe('the end of a session', () => {
  const promotion: PromotionSettings = { ...DEFAULT_PROMOTION, effect: 0.5, canarySessions: 0 };
  const gateTasks = Array.from({ length: 8 }, (_, round) =>
    tasks.map((_task, shown) => digitTask(`gate-${shown}-${round}`, shown, (shown + 2) % VOCABULARY)),
  ).flat();

  /** General questions about a digit, of which the table answers with digits. */
  const questionsFor = (shown: number, pattern: string): readonly TrainingTask[] =>
    createRegressionTasks(
      Array.from({ length: 96 }, (_, at) => ({
        id: `q${at}`,
        prompt: `Question ${at}, about #${shown}`,
        tools: [],
        check: { kind: 'regex', pattern },
      })),
    );

  async function practise(
    steps: number,
    deal: (group: AttemptGroup) => AttemptGroup = (same) => same,
    {
      settings = promotion,
      ...more
    }: { readonly settings?: PromotionSettings } & Partial<PracticeTrainingOptions> = {},
  ) {
    const promotions = memoryPromotions(settings);
    const training = trainingWith(createTabularEngine(createServer({ vocabulary: VOCABULARY })), {
      promotions,
      learningRate: 0.3,
      ...more,
    });
    const attempt = makeOf(training);
    for (let step = 0; step < steps; step++)
      await training.trainOn(
        await Promise.all(
          tasks.map(async (task) => deal(await groupOfAttempts(attempt, task, `step-${step}`))),
        ),
      );
    const finish = async (on = gateTasks): Promise<WeightsVerdict> => {
      const lessonsFor = async () => ({ text: '', lessons: [], generation: 0 });
      const news = training.finish({ tasks: on, attempt, lessonsFor, timeoutMs: 60_000, mostPairs: 300 });
      let next = await news.next();
      while (next.done !== true) next = await news.next();
      return next.value;
    };
    return { promotions, finish, training, attempt };
  }

  it('measures the new weights against the live ones on gate tasks, and better ones serve', async () => {
    const { promotions, finish } = await practise(8);
    const verdict = await finish();
    expect(verdict).toMatchObject({ outcome: 'promoted', version: 8 });
    expect(verdict.tasks).toBeGreaterThanOrEqual(promotion.fewestTasks);
    expect(verdict.why).toMatch(/^better on \d+ tasks of the user/);
    expect((verdict.candidate ?? 0) - (verdict.live ?? 1)).toBeGreaterThan(0.3);
    expect(promotions.state().live.version).toBe(8);
    expect(await finish()).toMatchObject({ outcome: 'unchanged' });
  });

  it('does not let weights serve that learned the opposite', async () => {
    const { promotions, finish } = await practise(8, (group) => ({
      ...group,
      attempts: group.attempts.map((one) => ({
        ...one,
        outcome: {
          is: 'graded',
          reward: one.outcome.is === 'graded' ? 1 - one.outcome.reward : 0,
          reasons: [],
        },
      })),
    }));
    expect(await finish()).toMatchObject({ outcome: 'refused' });
    expect(promotions.state()).toMatchObject({ live: { version: 0 }, trial: undefined });
  });

  it('asks general questions besides: weights that lost those do not serve, however much better they are', async () => {
    // Right without the digit that training teaches: the bare table mostly is, the trained one hardly ever.
    const lost = await practise(8, undefined, { regression: questionsFor(1, '^(?!.*3)') });
    const refused = await lost.finish();
    expect(refused).toMatchObject({ outcome: 'refused' });
    expect(refused.why).toMatch(/general questions/);
    expect((refused.candidate ?? 0) - (refused.live ?? 1)).toBeGreaterThan(0.3);
    expect(lost.promotions.state().live.version).toBe(0);
    // Nobody answers these: they cannot get worse, and the verdict says that they show nothing.
    const unanswered = await practise(8, undefined, { regression: questionsFor(1, '^99') });
    const verdict = await unanswered.finish();
    expect(verdict).toMatchObject({ outcome: 'promoted' });
    expect(verdict.why).toContain('answers none of 96 general questions');
    expect(unanswered.promotions.state().live.version).toBe(8);
  });

  it('measures newer weights while a canary waits, and replays what its measurement has not used', async () => {
    const settings = { ...promotion, canarySessions: 30 };
    const { promotions, finish, training, attempt } = await practise(6, undefined, { settings });
    expect(await finish()).toMatchObject({ outcome: 'promoted', version: 6 });
    expect(promotions.state().trial).toMatchObject({ stage: 'canary', served: { version: 6 } });
    const used = promotions.state().trial?.roots?.length ?? 0;
    await training.trainOn(await Promise.all(tasks.map((task) => groupOfAttempts(attempt, task, 'later'))));
    const verdict = await finish();
    expect(verdict.version).toBeGreaterThanOrEqual(6);
    expect(verdict.why).not.toContain('nothing else is proposed');
    const { live, trial } = promotions.state();
    // The rest of the gate's tasks has decided about the canary, or the newer version is compared with it.
    expect(live.version === 6 || (trial?.replay?.n ?? 0) > 0).toBe(true);
    expect(used).toBeLessThan(gateTasks.length);
  });

  it('proposes nothing with too few gate tasks, and says which command adds some', async () => {
    const { promotions, finish } = await practise(1);
    const ungraded = gateTasks.map(({ check: _, ...task }) => task);
    for (const few of [[], gateTasks.slice(0, 4), ungraded]) {
      const verdict = await finish(few);
      expect(verdict).toMatchObject({ outcome: 'unmeasured', pairs: 0 });
      expect(verdict.why).toContain('instar practice tasks --add');
    }
    expect(promotions.state()).toMatchObject({ live: { version: 0 }, trial: undefined });
  });
});
