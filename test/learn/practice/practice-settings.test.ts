import { describe, expect, it } from 'vitest';
import { asObject } from '../../../src/core/json.ts';
import { createPracticeJob } from '../../../src/learn/practice/practice-job.ts';
import { splitOf } from '../../../src/learn/practice/sources/split.ts';
import { lessonText } from '../../support/lesson-text.ts';
import { openScripted, TOPICS, tasksFile } from './open-scripted.ts';

describe('a session of practice', () => {
  it('finds the tasks of the files that the config names', async () => {
    const { command } = await openScripted({ tasks: [tasksFile()] });
    await command('plan');
    const { tasks } = await command('status');
    expect(tasks).toMatchObject({ count: TOPICS.length });
    const without = await openScripted({});
    await without.command('plan');
    expect((await without.command('status')).tasks).toMatchObject({ count: 0 });
  });

  it('stops an attempt after its minutes', async () => {
    const { command, finish, orders } = await openScripted({ tasks: [tasksFile()] });
    expect(await command('run', { kind: 'micro' })).toEqual({ started: true });
    expect(await finish()).toMatchObject({ sessions: [{ end: 'done', kind: 'micro' }] });
    expect(new Set(orders.map(({ timeoutMs }) => timeoutMs))).toEqual(new Set([300_000]));
  });

  it('tests a lesson with the pairs and repeats of its limits, decided within 45 days', async () => {
    const { command, finish, orders, lessons, records } = await openScripted(
      { tasks: [tasksFile()] },
      { limits: { trials: { pairs: 10, repeats: 2 } } },
    );
    const text = lessonText({
      name: 'check-totals',
      description: 'When a report is written.',
      content: 'Check the totals twice.',
      note: { source: 'practice' },
    });
    await lessons.library.publish({
      id: 'p',
      by: { kind: 'learner', name: 'evolver' },
      reason: 'r',
      changes: [{ op: 'add', id: 'l1', kind: 'skill', state: 'trial', text }],
    });
    await command('run', { kind: 'micro' });
    await finish();
    const gate = orders.filter(({ task }) => splitOf(task.root) === 'gate');
    expect(gate.length).toBeGreaterThan(0);
    const pairsOf = gate.length / 4;
    expect(Number.isInteger(pairsOf)).toBe(true);
    expect(pairsOf).toBeLessThanOrEqual(12);
    const facts = (await records.events('library/trials')).map(({ fact }) => fact);
    const opened = facts.find(({ type }) => type === 'trial-opened');
    expect(asObject({ ...opened }).until).toBe(1_800_000_000_000 + 45 * 86_400_000);
  });

  it('begins by itself never (off), when it costs nothing (free), or always (on)', async () => {
    const readyWith = (scheduled: 'off' | 'free' | 'on', isFree: boolean) =>
      createPracticeJob({
        when: () => scheduled,
        command: async () => ({ due: { kind: 'micro', why: 'it is due' }, isFree }),
      }).isReady();
    expect([
      await readyWith('off', true),
      await readyWith('free', true),
      await readyWith('on', true),
    ]).toEqual([false, true, true]);
    expect([
      await readyWith('off', false),
      await readyWith('free', false),
      await readyWith('on', false),
    ]).toEqual([false, false, true]);
    const idle = createPracticeJob({ when: () => 'on', command: async () => ({}) });
    expect(await idle.isReady()).toBe(false);
  });
});
