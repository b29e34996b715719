import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { PracticeTask } from '../../../../src/core/practice.ts';
import type { Store } from '../../../../src/core/store.ts';
import {
  createPracticeTasks,
  openPracticeTasks,
  type PracticeTasks,
  type TaskAddition,
} from '../../../../src/learn/practice/sources/practice-tasks.ts';
import { rootOf, splitOf, taskId } from '../../../../src/learn/practice/sources/split.ts';
import { toRecords } from '../../../../src/record/records.ts';
import { createMemoryStore } from '../../../../src/record/store/memory-store.ts';
import { openSqliteStore } from '../../../../src/record/store/sqlite-store.ts';
import { at, end, start } from '../../../record/store/facts.ts';
import { scratch } from '../../../record/store/scratch.ts';

const mined = (session: string, prompt: string, more: Partial<PracticeTask> = {}): PracticeTask => {
  const root = rootOf('general', prompt);
  return {
    id: taskId('mined', root, session),
    root,
    origin: 'mined',
    prompt,
    domain: 'general',
    from: { session, turn: `${session}-t` },
    ...more,
  };
};

const stores: readonly (readonly [string, () => Store])[] = [
  ['in memory', createMemoryStore],
  ['in SQLite', () => openSqliteStore({ file: join(scratch(), 'store.db') })],
];

describe.each(stores)('the tasks of practice (%s)', (_, open) => {
  const opened = (): Store => {
    const store = open();
    onTestFinished(() => store.close());
    for (const session of ['s1', 's2'])
      store.append({ facts: at(10, start(`${session}-t`, session), end(`${session}-t`)) });
    return store;
  };
  const keep = (store: Store, tasks: PracticeTasks, addition: TaskAddition | undefined): void => {
    if (addition === undefined) throw new Error('the task was refused');
    store.append({ facts: [addition.fact], blocks: addition.blocks });
    follow(store, tasks);
  };
  const follow = (store: Store, tasks: PracticeTasks): void => {
    for (const stored of store.facts(0, 999)) tasks.add(stored);
  };

  it('are the same after a restart, with the diff of their workspace in a block and not in the fact', async () => {
    const store = opened();
    const tasks = createPracticeTasks();
    const task = mined('s1', 'Fix the date test', {
      workspace: {
        kind: 'git',
        repository: '/home/u/p',
        commit: 'c'.repeat(40),
        diff: '+plan',
        untracked: { 'a.txt': 'x' },
      },
    });
    keep(store, tasks, tasks.found(task, 20));
    const records = toRecords(store, () => 30);
    const again = await openPracticeTasks(records);
    expect(again.list().map(({ task: { id } }) => id)).toEqual([task.id]);
    expect(JSON.stringify(again.list())).not.toContain('+plan');
    expect(await again.open(task.id, records)).toEqual(task);
    expect(tasks.found(task, 40)).toBeUndefined();
  });

  it('go with the session that they were mined from, and do not come back when it is mined again', async () => {
    const file = opened();
    const tasks = createPracticeTasks();
    const task = mined('s1', 'a private request of one person', {
      workspace: {
        kind: 'git',
        repository: '/home/u/secret-place',
        commit: 'c'.repeat(40),
        diff: '+private',
      },
    });
    const variation: PracticeTask = {
      ...task,
      id: 'task_variation_1',
      origin: 'variation',
      prompt: 'private too',
    };
    keep(file, tasks, tasks.found(task, 20));
    keep(file, tasks, tasks.found(variation, 20));
    keep(file, tasks, tasks.found(mined('s2', 'another request'), 20));
    file.erase('s1', 50, 'asked');
    follow(file, tasks);
    const records = toRecords(file, () => 60);
    const again = await openPracticeTasks(records);
    for (const one of [tasks, again]) {
      expect(one.list().map(({ task: { prompt } }) => prompt)).toEqual(['another request']);
      expect(one.found(task, 70)).toBeUndefined();
      expect(await one.open(task.id, records)).toBeUndefined();
    }
    expect(JSON.stringify(file.facts(0, 999))).not.toMatch(/private|secret-place/);
  });

  it('keep nothing of a task whose session was erased while it was being mined', () => {
    const store = opened();
    const tasks = createPracticeTasks();
    const addition = tasks.found(mined('s1', 'a late request'), 20);
    store.erase('s1', 30, 'asked');
    keep(store, tasks, addition);
    expect(tasks.list()).toEqual([]);
    expect(JSON.stringify(store.facts(0, 999))).not.toContain('a late request');
  });

  it('stay excluded, with the same request in another session and with their variations', async () => {
    const store = opened();
    const tasks = createPracticeTasks();
    const task = mined('s1', 'Rename the flag');
    keep(store, tasks, tasks.found(task, 20));
    keep(store, tasks, tasks.found(mined('s2', 'rename  the flag'), 21));
    store.append({
      facts: [{ at: 30, fact: { type: 'practice-task', op: 'excluded', id: task.id, by: 'owner' } }],
    });
    follow(store, tasks);
    const again = await openPracticeTasks(toRecords(store, () => 40));
    expect(tasks.list()).toEqual([]);
    expect(again.list()).toEqual([]);
    expect(again.added(task, 50)).toBeUndefined();
    expect(again.found({ ...task, id: 'task_variation_2', origin: 'variation' }, 50)).toBeUndefined();
  });

  it('know how often and how well they were practised', async () => {
    const store = opened();
    const tasks = createPracticeTasks();
    const task = mined('s1', 'Rename the flag');
    keep(store, tasks, tasks.found(task, 20));
    for (const rewards of [[1, 0], [1, 1], [1]])
      store.append({
        facts: [
          {
            at: 30 + rewards.length,
            fact: { type: 'practice-task', op: 'practised', id: task.id, run: 'r', rewards },
          },
        ],
      });
    const again = await openPracticeTasks(toRecords(store, () => 40));
    expect(again.show(task.id)?.history).toEqual({
      times: 3,
      lastAt: 31,
      attempts: 5,
      rewards: 4,
      passes: 2,
    });
  });
});

it('erases the bytes of a task from the file, not only from what is read', async () => {
  const file = join(scratch(), 'store.db');
  const store = openSqliteStore({ file });
  store.append({ facts: at(10, start('t1', 's1'), end('t1')) });
  const tasks = createPracticeTasks();
  const addition = tasks.found(mined('s1', 'the zebra password request'), 20);
  if (addition !== undefined) store.append({ facts: [addition.fact], blocks: addition.blocks });
  store.erase('s1', 50, 'asked');
  store.close();
  expect(readFileSync(file).includes('zebra')).toBe(false);
});

describe('splitOf', () => {
  it('puts about 60, 25 and 15 of 100 roots into learn, gate and report', () => {
    const count = { learn: 0, gate: 0, report: 0 };
    for (let n = 0; n < 4000; n++) count[splitOf(rootOf('general', `request ${n}`))]++;
    expect(count.learn / 40).toBeCloseTo(60, -0.7);
    expect(count.gate / 40).toBeCloseTo(25, -0.7);
    expect(count.report / 40).toBeCloseTo(15, -0.7);
  });

  it('does not separate the same request in two sessions by its layout', () => {
    expect(rootOf('general', 'Fix  the Date\ntest')).toBe(rootOf('general', 'fix the date test'));
    expect(rootOf('general', 'fix the date test')).not.toBe(rootOf('math', 'fix the date test'));
  });
});
