import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RecordedTask } from '../../../src/app/training/recorded-task.ts';
import { canAttempt, mixTasks } from '../../../src/app/training/training-task.ts';
import { makeWorkTasks } from '../../../src/app/training/work-task.ts';
import type { Template } from '../../../src/core/policy.ts';

const work = makeWorkTasks({ split: 'train', seed: 1, count: 60 });
const recorded = (id: number): RecordedTask => ({
  kind: 'recorded',
  id: `recorded/${id}`,
  request: { model: 'policy', system: [], messages: [], tools: [], stream: false },
  text: 'how much is it',
  domain: 'general',
  agent: 'agent',
});

describe('tasks of two sources', () => {
  it('are the made-up ones alone, as they were, where nothing was recorded', () => {
    expect(mixTasks(work, [])).toBe(work);
  });

  it('are at most half recorded ones, each at most four times and as often as the next, the newest before others', () => {
    let cut = 0;
    let repeated = 0;
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 1, max: 90 }), (made, told) => {
        const some = work.slice(0, made);
        const mixed = mixTasks(
          some,
          Array.from({ length: told }, (_, id) => recorded(id)),
        );
        const times = new Map<string, number>();
        for (const { kind, id } of mixed) if (kind === 'recorded') times.set(id, (times.get(id) ?? 0) + 1);
        const counts = new Set(times.values());
        const sum = [...times.values()].reduce((all, one) => all + one, 0);
        expect(mixed.slice(0, made)).toEqual(some);
        expect(mixed).toHaveLength(made + sum);
        expect(sum).toBeLessThanOrEqual(made);
        expect(counts.size).toBe(1);
        expect(Math.max(...counts)).toBeLessThanOrEqual(4);
        expect([...times.keys()]).toEqual(
          Array.from({ length: Math.min(made, told) }, (_, id) => `recorded/${id}`),
        );
        if (told > made) cut++;
        if (Math.max(...counts) > 1) repeated++;
      }),
    );
    expect(cut).toBeGreaterThan(5);
    expect(repeated).toBeGreaterThan(5);
  });
});

describe('a recorded task', () => {
  const template = (render: Template['render']): Template => ({
    render,
    read: () => ({ text: '', calls: [] }),
    stop: [],
    longestReply: 10,
  });
  const long = (count: number) => template(() => ({ is: 'prompt', tokens: new Array(count).fill(1) }));

  it('is left out where the policy is not asked, cannot be, or has no room left for lessons and a reply', () => {
    const foreign = template(() => ({ is: 'reply', reply: { text: 'I do not know', calls: [] } }));
    const refusing = template(() => {
      throw new Error('roles must alternate');
    });
    expect(canAttempt(recorded(1), foreign, 100)).toBe(false);
    expect(canAttempt(recorded(1), refusing, 100)).toBe(false);
    expect(canAttempt(recorded(1), long(51), 100)).toBe(false);
    expect(canAttempt(recorded(1), long(50), 100)).toBe(true);
  });
});
