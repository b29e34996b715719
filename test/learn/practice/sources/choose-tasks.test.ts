import { describe, expect, it } from 'vitest';
import type { PracticeTask } from '../../../../src/core/practice.ts';
import {
  chooseTasks,
  intervalDays,
  isDue,
  successOf,
} from '../../../../src/learn/practice/sources/choose-tasks.ts';
import type { KnownTask, TaskHistory } from '../../../../src/learn/practice/sources/practice-tasks.ts';
import { rootOf, splitOf, taskId } from '../../../../src/learn/practice/sources/split.ts';

const DAY = 86_400_000;
const NOW = 100 * DAY;
const CHOICE = { kind: 'initial', count: 5, split: 'learn', seed: 's', now: NOW } as const;
const WORDS =
  'alpha bravo cedar delta ember flint grove haven ivory jolly karma lemon mango noble ocean piano quartz river solar tiger'.split(
    ' ',
  );

/** Tasks whose words have nothing in common, all in the split `learn`. */
const tasks = (
  count: number,
  more: (at: number) => Partial<PracticeTask> = () => ({}),
  history?: (at: number) => TaskHistory | undefined,
): readonly KnownTask[] => {
  const made: KnownTask[] = [];
  for (let n = 0; made.length < count; n++) {
    const prompt = `${WORDS[n % 20]}${n} ${WORDS[(n * 7 + 3) % 20]}${n} ${WORDS[(n * 3 + 1) % 20]}${n}`;
    const root = rootOf('general', prompt);
    if (splitOf(root) !== 'learn') continue;
    const at = made.length;
    const task: PracticeTask = {
      id: taskId('mined', root),
      root,
      origin: 'mined',
      prompt,
      domain: 'general',
      ...more(at),
    };
    const past = history?.(at);
    made.push({ task, at: 1, isByPerson: false, ...(past === undefined ? {} : { history: past }) });
  }
  return made;
};
const past = (rewards: number, attempts: number, more: Partial<TaskHistory> = {}): TaskHistory => ({
  times: 1,
  lastAt: 0,
  attempts,
  rewards,
  passes: 0,
  ...more,
});
const ids = (list: readonly { readonly id: string }[]): readonly string[] => list.map(({ id }) => id);

describe('the choice of tasks', () => {
  it('turns to the origin that brought lessons for its tokens', async () => {
    const known = tasks(8, (at) => ({ origin: at % 2 === 0 ? 'mined' : 'gap' }));
    const originsOf = async (yields: Parameters<typeof chooseTasks>[2]) =>
      (await chooseTasks(known, { ...CHOICE, count: 4 }, yields)).map(({ origin }) => origin);
    expect(await originsOf({})).toEqual(['mined', 'mined', 'mined', 'mined']);
    const yields = [
      { origin: 'mined', tokens: 2_000_000, learned: 0 },
      { origin: 'gap', tokens: 2_000_000, learned: 30 },
    ] as const;
    expect(await originsOf({ yields })).toEqual(['gap', 'gap', 'gap', 'gap']);
  });

  it('takes none of another split, and none that can only be compared with the record', async () => {
    const known = tasks(6, (at) => (at < 3 ? { isRecordOnly: true } : {}));
    const chosen = await chooseTasks(known, { ...CHOICE, count: 10 });
    expect(ids(chosen)).toHaveLength(3);
    expect(await chooseTasks(known, { ...CHOICE, split: 'gate' })).toEqual([]);
  });

  it('prefers tasks that sometimes succeed to those that always or never do', async () => {
    const rates = [0, 20, 10, 12, 8, 20, 0];
    const known = tasks(
      7,
      () => ({}),
      (at) => past(rates[at] ?? 0, 20),
    );
    const chosen = await chooseTasks(known, { ...CHOICE, count: 3 });
    expect(new Set(ids(chosen))).toEqual(new Set([2, 3, 4].map((at) => known[at]?.task.id)));
    expect(chosen.every(({ expected = 0 }) => expected >= 0.2 && expected <= 0.8)).toBe(true);
  });

  it('takes no two tasks that are alike, and one of each root before its variations', async () => {
    const [first, second] = tasks(2);
    if (first === undefined || second === undefined) throw new Error('no tasks');
    const copy = { ...first, task: { ...first.task, id: 'copy', prompt: `${first.task.prompt} please` } };
    const variation = {
      ...first,
      task: {
        ...first.task,
        id: 'variation',
        origin: 'variation' as const,
        prompt: 'wholly other words here',
      },
    };
    const chosen = await chooseTasks([copy, first, variation, second], { ...CHOICE, count: 2 });
    expect(new Set(chosen.map(({ root }) => root)).size).toBe(2);
    const all = await chooseTasks([copy, first, variation, second], { ...CHOICE, count: 9 });
    expect(all.filter(({ id }) => id === 'copy' || id === first.task.id)).toHaveLength(1);
    expect(ids(all)).toContain('variation');
  });

  it('is the same for the same seed, whatever the order of the tasks', async () => {
    const known = tasks(12);
    const one = await chooseTasks(known, CHOICE);
    expect(ids(await chooseTasks([...known].reverse(), CHOICE))).toEqual(ids(one));
    expect(ids(one)).toHaveLength(5);
  });

  it('puts what a person wrote before what was mined, and mined tasks before variations', async () => {
    const origins = ['variation', 'gap', 'mined', 'curated'] as const;
    const known = tasks(4, (at) => ({ origin: origins[at] ?? 'mined' }));
    const chosen = await chooseTasks(known, { ...CHOICE, count: 4 });
    expect(chosen.map(({ origin }) => origin)).toEqual(['curated', 'mined', 'gap', 'variation']);
  });

  it('takes for maintenance only what is due: the time doubles with every pass in full', async () => {
    const lastAt = NOW - 5 * DAY;
    const known = tasks(
      3,
      () => ({}),
      (at) => (at === 0 ? undefined : past(3, 3, { lastAt, passes: at === 1 ? 2 : 3 })),
    );
    expect(ids(await chooseTasks(known, { ...CHOICE, kind: 'maintenance' }))).toEqual([known[1]?.task.id]);
    expect([0, 1, 2, 3, 20].map((passes) => intervalDays({ passes }))).toEqual([1, 2, 4, 8, 60]);
    expect(isDue({}, NOW)).toBe(false);
  });

  it('estimates success from the first guess, and from attempts the more there are', () => {
    const [known] = tasks(1, () => ({ expected: 0.8 }));
    if (known === undefined) throw new Error('no task');
    expect(successOf(known).mean).toBeCloseTo(0.7, 1);
    const practised = successOf({ ...known, history: past(0, 40) });
    expect(practised.mean).toBeLessThan(0.15);
    expect(practised.deviation).toBeLessThan(successOf(known).deviation);
  });
});
