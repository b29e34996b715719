import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import type { TaskRecall, TrainingTask } from '../../src/core/task-source.ts';
import { type PolicyTemplate, TrainingError } from '../../src/core/training.ts';
import { toRecords } from '../../src/record/records.ts';
import { createMemoryStore } from '../../src/record/store/memory-store.ts';
import { DEFAULT_PROMOTION } from '../../train/promotion.ts';
import { openPromotionLog } from '../../train/promotion-log.ts';
import type { PolicyVersion } from '../../train/promotion-stages.ts';
import { drawRememberTasks, measureRemembered } from '../../train/remember-rules.ts';
import type { Rollout } from '../../train/rollout.ts';
import { runTrainingWindow, type TrainingEvent } from '../../train/training-window.ts';
import { createServer, createTabularEngine } from './tabular-engine.ts';

const signal = new AbortController().signal;
const RULE = 'Begin with a two.';
const REMEMBERED = { at: 9, rules: [{ lesson: 'two', revision: 3 }] };

/** The prompt says by one token whether the rule is in view. */
const WITH_RULE = 3;
const WITHOUT = 4;
const template: PolicyTemplate = {
  render: ({ system, messages }) => ({
    is: 'prompt',
    tokens: [1, JSON.stringify([system, messages]).includes(RULE) ? WITH_RULE : WITHOUT],
  }),
  write: () => [],
  read: (tokens) => ({ text: tokens.join(' '), calls: [] }),
  stop: [0],
  longestReply: 1,
};

/** A recorded request whose answer the rule grades. */
const taskAt = (at: number): TrainingTask => ({
  id: `recorded/${at}`,
  form: 'two',
  recall: { task: `count ${at}` },
  open: async () => ({
    run: async ({ speak, session }, stop) => {
      const content = [{ type: 'text' as const, text: `count ${at}` }];
      const asked = { model: 'policy', system: [], tools: [], stream: false };
      const request = { ...asked, messages: [{ role: 'user' as const, content }] };
      const { text } = await speak(request, { session, agent: 'a', runKind: 'train' }, stop);
      const isKept = text.startsWith('2');
      return { ok: true, reward: isKept ? 1 : 0, isComplete: isKept, rules: ['two'] };
    },
    close: async () => undefined,
  }),
});
const tasksFrom = (from: number, count: number) =>
  Array.from({ length: count }, (_, at) => taskAt(from + at));

const show = async ({ remembered }: TaskRecall) => ({
  text: remembered === undefined ? RULE : '',
  generation: 1,
});

async function openWindow() {
  const folder = mkdtempSync(path.join(tmpdir(), 'instar-remember-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const records = toRecords(createMemoryStore(), systemClock.now);
  const open = () =>
    openPromotionLog({ engine: 'table', records, clock: systemClock, settings: DEFAULT_PROMOTION });
  const promotions = await open();
  const engine = createTabularEngine(createServer({ vocabulary: 5 }));
  const run = async (rate: number): Promise<readonly TrainingEvent[]> => {
    const news: TrainingEvent[] = [];
    const own = tasksFrom(0, 60);
    const remember = { rate, remembered: REMEMBERED };
    const heldOut = async () => tasksFrom(100, 130);
    const train = () =>
      drawRememberTasks({ own, replay: [], remembered: REMEMBERED, show, count: 900, seed: 1 });
    for await (const one of runTrainingWindow(
      {
        ...{ engine, template, promotions, folder, show, remember },
        tasks: { train, heldOut },
        generation: async () => 1,
        rank: 1,
        batch: { groups: 4, size: 32 },
        seed: 1,
      },
      0,
      signal,
    ))
      news.push(one);
    return news;
  };
  return { run, promotions, open };
}

describe('a window of remembering', () => {
  it('teaches replies that kept the rule behind prompts without it, and serves the weights without its lesson', async () => {
    const { run, promotions, open } = await openWindow();
    const news = await run(0.3);
    const taught = news.flatMap((one) => (one.type === 'taught' ? [one.report] : []));
    expect(taught[0]?.examples).toBeGreaterThan(100);
    const { trial } = promotions.state();
    expect(trial?.served.remembers).toEqual(REMEMBERED);
    const moves = news.flatMap((one) => (one.type === 'moved' ? [one.moved] : []));
    expect(moves.map(({ to }) => to)).toEqual(['candidate', 'canary']);
    // The live weights had the lesson in view, these had not.
    expect(moves.at(-1)?.why).toMatch(/on \d+ tasks/);
    expect((await open()).state().trial?.served.remembers).toEqual(REMEMBERED);
  });

  it('shows the lesson to weights that did not learn the rule, and promotes nothing that is not better', async () => {
    const { run, promotions } = await openWindow();
    const moves = (await run(1e-6)).flatMap((one) => (one.type === 'moved' ? [one.moved] : []));
    expect(moves.map(({ to }) => to)).toEqual(['candidate', 'rejected']);
    expect(promotions.state().trial).toBeUndefined();
  });
});

describe('the tasks of a window of remembering', () => {
  const draw = (own: readonly TrainingTask[], replay: readonly TrainingTask[] = []) =>
    drawRememberTasks({ own, replay, remembered: REMEMBERED, show, count: 500, seed: 1 });

  it('are told, shown and replayed in fixed shares, however few the person has', async () => {
    const replay = Array.from({ length: 400 }, (_, at) => ({ ...taskAt(at), id: `reading/${at}` }));
    const tasks = await draw(tasksFrom(0, 10), replay);
    const told = tasks.filter(({ learnedWith }) => learnedWith !== undefined);
    const replayed = tasks.filter(({ id }) => id.startsWith('reading/'));
    expect(told).toHaveLength(80);
    expect(told.every(({ learnedWith }) => learnedWith?.text === '')).toBe(true);
    expect(tasks.length - told.length - replayed.length).toBe(24);
    expect(replayed).toHaveLength(96);
  });

  it('are refused with the reason where no rule grades any of them', async () => {
    const { form: _, ...verified } = taskAt(1);
    await expect(draw([verified])).rejects.toThrow(TrainingError);
  });
});

describe('what weights remember', () => {
  const rolling = (kept: (task: string, at: number) => boolean, rules: readonly string[]) => {
    const asked: (PolicyVersion['remembers'] | undefined)[] = [];
    const rollOut = async (policy: PolicyVersion, { id }: TrainingTask, count: number) => {
      asked.push(policy.remembers);
      return Array.from({ length: count }, (_, at): Rollout => {
        const common = { id: `${id}/${at}`, task: id, segments: [], rewardSource: 'verifier' as const };
        return { ...common, rules, reward: kept(id, at) ? 1 : 0.5 };
      });
    };
    return { rollOut, asked };
  };
  const best = { version: 4, state: 's', sampler: 'p' };
  const remembered = { at: 9, rules: [...REMEMBERED.rules, { lesson: 'three', revision: 1 }] };
  const measure = (rollOut: ReturnType<typeof rolling>['rollOut'], count = 10) =>
    measureRemembered(best, { rollOut, tasks: tasksFrom(0, count), remembered, signal });

  it('is measured without the lessons of all rules, on tasks that they were not trained on', async () => {
    const { rollOut, asked } = rolling(() => true, ['two']);
    expect(await measure(rollOut)).toEqual({ version: 4, sampler: 'p', remembers: REMEMBERED });
    expect(new Set(asked)).toEqual(new Set([remembered]));
  });

  it.each([
    [
      'one answer in ten breaks it',
      10,
      (task: string, at: number) => at > 0 || Number(task.at(-1)) % 2 === 0,
    ],
    ['it has two tasks alone', 2, () => true],
  ] as const)('does not include a rule where %s', async (_, count, kept) => {
    expect(await measure(rolling(kept, ['two']).rollOut, count)).toEqual({ version: 4, sampler: 'p' });
  });
});
