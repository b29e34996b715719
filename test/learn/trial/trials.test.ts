import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createRandom } from '../../../src/base/random.ts';
import { NOTHING_SPENT } from '../../../src/core/budget.ts';
import { asArray, asObject } from '../../../src/core/json.ts';
import { type Ask, NO_COST } from '../../../src/core/learn.ts';
import type { AttemptOrder } from '../../../src/core/practice.ts';
import { graded } from '../../../src/core/verifier.ts';
import { createCalibration } from '../../../src/evidence/judge/calibration.ts';
import { createTrialJudge } from '../../../src/learn/trial/replay-tasks.ts';
import { readTrials } from '../../../src/lessons/effect/fold-trials.ts';
import { createLessonEffects } from '../../../src/lessons/effect/lesson-effects.ts';
import { describeUse } from '../../../src/lessons/explain/describe-use.ts';
import { start } from '../../record/store/facts.ts';
import { openTrialWorld, tasksOf } from './trial-world.ts';

vi.setConfig({ testTimeout: 240_000 });

type World = Awaited<ReturnType<typeof openTrialWorld>>;
const opened: { world: World; folder: string }[] = [];
const open = async (): Promise<World> => {
  const folder = mkdtempSync(path.join(tmpdir(), 'trial-'));
  const world = await openTrialWorld(folder);
  opened.push({ world, folder });
  return world;
};
afterEach(() => {
  for (const { world, folder } of opened.splice(0)) {
    world.close();
    rmSync(folder, { recursive: true, force: true });
  }
});

const coin = (seed: string, chance: number): number => (createRandom(seed).next() < chance ? 1 : 0);
const DAY_MS = 86_400_000;

describe('a lesson on trial', () => {
  it('goes live when attempts come out better with it, by the measurement and with its figures', async () => {
    const world = await open();
    await world.add('iso-dates');
    world.grades((lessons) => (lessons.includes('iso-dates') ? 1 : 0));
    const events = await world.run();
    expect(events.find(({ type }) => type === 'trial-decided')).toMatchObject({ outcome: 'helpful' });
    expect(world.library.lesson('iso-dates')?.state).toBe('live');
    const last = world.library.history('iso-dates').at(-1);
    expect(last?.by).toEqual({ kind: 'instar', name: 'measurement' });
    expect(last?.reason).toMatch(
      /better with it: \+1\.00 \[\+0\.\d\d, \+1\.00\] in \d+ pairs of attempts at \d tasks/,
    );
  });

  it('is retired when attempts come out worse with it (not: left on trial), and can be brought back for good', async () => {
    const world = await open();
    await world.add('guess-wildly');
    world.grades((lessons) => (lessons.includes('guess-wildly') ? 0 : 1));
    await world.run();
    expect(world.library.lesson('guess-wildly')?.state).toBe('retired');
    const shown = await world.api.show('guess-wildly');
    expect(shown?.why).toMatchObject({ closedBy: 'harm' });
    await world.library.publish({
      id: 'back',
      by: { kind: 'person', name: 'person' },
      reason: 'I want it',
      changes: [{ op: 'move', id: 'guess-wildly', to: 'trial' }],
    });
    await world.run();
    expect(world.library.lesson('guess-wildly')?.state).toBe('trial');
  });

  it('stays on trial when it makes no difference (not: goes live), and its owner is asked on its date', async () => {
    const world = await open();
    await world.add('breathe-first');
    world.grades((lessons, _, seed) => coin(`${seed}/${lessons.length}`, 0.5));
    await world.run();
    world.pass(46 * DAY_MS);
    await world.run();
    expect(world.library.lesson('breathe-first')?.state).toBe('trial');
    const review = await world.api.review();
    expect(asArray(review.undecided).map(asObject)).toEqual([
      {
        id: 'breathe-first',
        name: 'breathe-first',
        title: expect.any(String),
        reason: expect.stringMatching(/^no verdict: no difference was seen: /),
      },
    ]);
    const before = world.made.length;
    await world.run();
    expect(world.made).toHaveLength(before);
  });

  it('is not moved by the measurement where every change needs a person, who is told the verdict', async () => {
    const world = await open();
    await world.add('iso-dates');
    world.grades((lessons) => (lessons.includes('iso-dates') ? 1 : 0));
    await world.run({ mayPromote: false });
    expect(world.library.lesson('iso-dates')?.state).toBe('trial');
    const shown = await openAgain(world, 'iso-dates');
    expect(shown.why).toMatch(/in use on trial: helps: work comes out better/);
  });

  it('is measured again from nothing when its text changes', async () => {
    const world = await open();
    await world.add('iso-dates');
    world.grades((lessons, _, seed) => coin(`${seed}/${lessons.length}`, 0.5));
    await world.run();
    const lesson = world.library.lesson('iso-dates');
    if (lesson === undefined) throw new Error('gone');
    await world.library.publish({
      id: 'revise',
      by: { kind: 'learner', name: 'practice' },
      reason: 'practice',
      changes: [
        {
          op: 'revise',
          id: lesson.id,
          from: lesson.revision,
          text: { ...lesson.text, content: 'Do it better.' },
        },
      ],
    });
    world.grades((lessons) => (lessons.includes('iso-dates') ? 1 : 0));
    await world.run();
    const trials = await readTrials(world.records);
    expect(trials.all().map(({ subject, place }) => [subject, place])).toEqual([
      ['lesson/iso-dates/1', 1],
      ['lesson/iso-dates/2', 2],
    ]);
    expect(world.library.lesson('iso-dates')?.state).toBe('live');
  });
});

/** What another process reads from the record. */
async function openAgain(world: World, name: string) {
  const trials = await readTrials(world.records);
  const lesson = world.library.find(name);
  const { explainState } = await import('../../../src/lessons/explain/explain-lesson.ts');
  if (lesson === undefined) throw new Error('gone');
  return {
    why: explainState(lesson, world.library, trials.of(`lesson/${lesson.id}/${lesson.revision}`)).because,
  };
}

describe('a pair', () => {
  it('has the same task, the same seeds and the same other lessons on both sides', async () => {
    const world = await open();
    await world.add('iso-dates');
    await world.add('other-lesson');
    const orders: AttemptOrder[] = [];
    const { attempt } = world.parts;
    world.grades((lessons) => (lessons.includes('iso-dates') ? 1 : 0));
    await world.run({
      settings: { ...world.parts.settings, repeats: 2 },
      attempt: (order, signal) => {
        orders.push(order);
        return attempt(order, signal);
      },
    });
    const of = (side: string) =>
      orders
        .filter(({ id }) => id.includes('iso-dates/1/') && id.includes(`/${side}/`))
        .sort((a, b) => (a.seed < b.seed ? -1 : 1));
    const [having, lacking] = [of('with'), of('without')];
    expect(having.length).toBeGreaterThan(5);
    expect(having.map(({ seed, task }) => [seed, task.id])).toEqual(
      lacking.map(({ seed, task }) => [seed, task.id]),
    );
    expect(new Set(having.map(({ seed }) => seed)).size).toBe(having.length);
    for (const [at, order] of having.entries()) {
      expect(order.shown.lessons).toContain('iso-dates');
      expect(order.shown.lessons.filter((id) => id !== 'iso-dates')).toEqual(lacking[at]?.shown.lessons);
    }
  });

  it('is never of a task that the lesson was learned from, nor of one made of it', async () => {
    const world = await open();
    await world.records.append([{ at: 1, fact: start('t_1', 's_1') }]);
    await world.add('iso-dates', { evidence: { turns: ['t_1'], quotes: [], learner: 'practice' } });
    const gateTasks = async () => [
      ...tasksOf(2, { from: { session: 's_1', turn: 't_9' } }),
      ...tasksOf(5).map((task) => ({ ...task, id: `x-${task.id}`, root: `x-${task.root}` })),
      ...tasksOf(1, { id: 'made', root: 't_1' }),
    ];
    world.grades((lessons) => (lessons.includes('iso-dates') ? 1 : 0));
    await world.run({ gateTasks });
    const trial = (await readTrials(world.records)).of('lesson/iso-dates/1');
    const roots = [...(trial?.differences.tasks.keys() ?? [])];
    expect(roots.length).toBeGreaterThanOrEqual(3);
    expect(roots.every((root) => root.startsWith('x-'))).toBe(true);
  });

  it('is dropped as a whole when one side failed for reasons of infrastructure (not: graded 0)', async () => {
    const world = await open();
    await world.add('iso-dates');
    world.grades((lessons, _, seed) =>
      !lessons.includes('iso-dates') && coin(`fault/${seed}`, 0.5) === 1 ? 'overloaded' : 1,
    );
    await world.run();
    const trial = (await readTrials(world.records)).of('lesson/iso-dates/1');
    const measured = [...(trial?.differences.tasks.values() ?? [])];
    const pairs = measured.reduce((sum, one) => sum + one.pairs, 0);
    expect(pairs).toBeGreaterThan(5);
    expect(pairs).toBeLessThan(trial?.begun.tasks ?? 0);
    expect(measured.every(({ sum }) => sum === 0)).toBe(true);
    expect(world.library.lesson('iso-dates')?.state).toBe('trial');
  });

  it('of variations of two tasks alone promotes nothing: the effect may be theirs', async () => {
    const world = await open();
    await world.add('iso-dates');
    world.grades((lessons) => (lessons.includes('iso-dates') ? 1 : 0));
    await world.run({
      gateTasks: async () => tasksOf(8).map((task, at) => ({ ...task, root: `root-${at % 2}` })),
    });
    expect(world.library.lesson('iso-dates')?.state).toBe('trial');
  });
});

describe('a person’s word', () => {
  it('takes no part: no attempt is made, and nothing moves it', async () => {
    const world = await open();
    await world.add('use-pnpm', { note: { source: 'told' } });
    world.grades((lessons) => (lessons.includes('use-pnpm') ? 0 : 1));
    await world.run();
    world.pass(100 * DAY_MS);
    await world.run();
    expect(world.made).toEqual([]);
    expect((await readTrials(world.records)).all()).toEqual([]);
    expect(world.library.lesson('use-pnpm')?.state).toBe('trial');
  });
});

describe('what cannot be tested', () => {
  it('stays on trial until its date, and then its owner is asked', async () => {
    const world = await open();
    await world.add('iso-dates');
    const nothing = { gateTasks: async () => [] };
    const early = await world.run(nothing);
    expect(early.filter(({ type }) => type === 'trial-decided')).toEqual([]);
    expect(world.made).toEqual([]);
    world.pass(46 * DAY_MS);
    const late = await world.run(nothing);
    const reason = 'it could not be measured by its date: 0 sessions with it, 0 without';
    expect(late.find(({ type }) => type === 'trial-decided')).toMatchObject({
      outcome: 'untested',
      why: reason,
    });
    expect(world.library.lesson('iso-dates')?.state).toBe('trial');
    const trials = await readTrials(world.records);
    expect(describeUse(world.library, trials, createLessonEffects()).undecided).toEqual([
      { id: 'iso-dates', name: 'iso-dates', title: expect.any(String), reason },
    ]);
    expect((await world.run(nothing)).filter(({ type }) => type === 'trial-decided')).toEqual([]);
    await world.run();
    expect((await readTrials(world.records)).of('lesson/iso-dates/1')?.begun.tasks).toBeGreaterThan(0);
  });

  it('waits while a budget is spent or a provider is down', async () => {
    const world = await open();
    await world.add('iso-dates');
    world.grades(() => 'the provider is down');
    const early = await world.run();
    expect(early.filter(({ type }) => type === 'trial-decided')).toEqual([]);
    const made = world.made.length;
    expect((await world.run({ budget: { refusal: () => 'practice.budget.usd is spent' } })).at(-1)).toEqual({
      type: 'stopped',
      why: 'practice.budget.usd is spent',
    });
    expect(world.made).toHaveLength(made);
  });

  it('is answered again and compared by a judge where no task has a check, and that is said to be weaker', async () => {
    const world = await open();
    await world.add('iso-dates');
    const recorded = tasksOf(6).map(({ reference: _, ...task }) => task);
    world.grades((lessons) => (lessons.includes('iso-dates') ? 1 : 0));
    await world.run({
      gateTasks: async () => [],
      replayTasks: async () => recorded,
      compare: () => async (submissions) =>
        submissions.map(({ output }) => graded(Number(output) > 0 ? 1 : 0, 'compared')),
      judgeRefusal: () => undefined,
    });
    const trial = (await readTrials(world.records)).of('lesson/iso-dates/1');
    expect(trial?.differences.tasks.size).toBe(0);
    expect(trial?.differences.replay.size).toBeGreaterThanOrEqual(3);
    expect(world.library.lesson('iso-dates')?.state).toBe('live');
    expect(world.library.history('iso-dates').at(-1)?.reason).toContain(
      'pairs of answers that a judge compared',
    );
  });
});

describe('a judge', () => {
  const recorded = async () => tasksOf(6).map(({ reference: _, ...task }) => task);

  it('that nobody has compared with people measures nothing', async () => {
    const world = await open();
    await world.add('iso-dates');
    const calibration = createCalibration();
    const judge = createTrialJudge(
      () => async () => ({ ok: false, why: 'off', isRetryable: false, cost: NO_COST }),
      calibration,
    );
    await world.run({ gateTasks: recorded });
    await world.run({ gateTasks: recorded, ...judge });
    expect(judge.judgeRefusal()).toContain('on too few turns: no turns to compare the judge with yet');
    expect(world.made).toEqual([]);
    for (let at = 0; at < 30; at++) {
      calibration.hear({ turn: `t${at}`, source: 'judge', score: 1, at: 1 });
      calibration.hear({ turn: `t${at}`, source: 'person', score: 1, at: 1 });
    }
    expect(judge.judgeRefusal()).toBeUndefined();
  });

  it('that always prefers the first answer promotes nothing: both orders are asked', async () => {
    const world = await open();
    await world.add('iso-dates');
    world.grades((lessons) => (lessons.includes('iso-dates') ? 1 : 0));
    const first: Ask = async (question) => {
      const read = question.read({ better: 'first' });
      if (!read.ok) throw new Error('unreadable');
      return { ok: true, value: read.value, cost: NO_COST, model: 'm', prompt: 'p' };
    };
    const { compare } = createTrialJudge(() => first, createCalibration());
    await world.run({ gateTasks: recorded, compare, judgeRefusal: () => undefined });
    const trial = (await readTrials(world.records)).of('lesson/iso-dates/1');
    expect(trial?.differences.replay.size).toBeGreaterThan(0);
    expect([...(trial?.differences.replay.values() ?? [])].every(({ sum }) => sum === 0)).toBe(true);
    expect(world.library.lesson('iso-dates')?.state).toBe('trial');
  });
});

describe('a run that is interrupted', () => {
  it('anywhere goes on from the record: the same measurements, the same verdicts, no attempt made twice', async () => {
    const grade: Parameters<World['grades']>[0] = (lessons, { id }, seed) =>
      coin(`${id}/${seed}/${lessons.join()}`, lessons.includes('helps') ? 0.9 : 0.2);
    const finish = async (stops: readonly number[]) => {
      const world = await open();
      await world.add('helps');
      await world.add('idle');
      world.grades(grade);
      for (const stop of stops) {
        const controller = new AbortController();
        const { attempt } = world.parts;
        let left = stop;
        await world.run(
          {
            attempt: async (order, signal) => {
              if (left-- <= 0) controller.abort();
              if (!signal.aborted) return attempt(order, signal);
              const { id, task, shown } = order;
              return {
                ...{ id, task: task.id, by: 'scripted', generation: 1, lessons: shown.lessons },
                ...{ outcome: { is: 'infrastructure', why: 'stopped' }, output: '', steps: [] },
                used: NOTHING_SPENT,
              };
            },
          },
          controller.signal,
        );
      }
      await world.run();
      expect(new Set(world.made).size).toBe(world.made.length);
      const trials = await readTrials(world.records);
      return {
        trials: trials.all().map(({ openedAt: _, ...trial }) => ({ ...trial, end: trial.end?.why, used: 0 })),
        states: world.library.lessons().map(({ id, state }) => [id, state]),
      };
    };
    const whole = await finish([]);
    expect(whole.states).toContainEqual(['helps', 'live']);
    for (const stops of [[1], [7], [3, 9, 20], [41]]) expect(await finish(stops)).toEqual(whole);
  });

  it('after a verdict was written and before the library changed changes the library once', async () => {
    const world = await open();
    await world.add('iso-dates');
    world.grades((lessons) => (lessons.includes('iso-dates') ? 1 : 0));
    await expect(
      world.run({
        library: {
          ...world.library,
          publish: async () => {
            throw new Error('killed');
          },
        },
      }),
    ).rejects.toThrow('killed');
    expect(world.library.lesson('iso-dates')?.state).toBe('trial');
    await world.run();
    expect(world.library.lesson('iso-dates')?.state).toBe('live');
    const events = await world.records.events('library/trials');
    expect(events.filter(({ fact }) => fact.type === 'trial-ended')).toHaveLength(1);
  });
});
