import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TrainingTask } from '../../src/core/task-source.ts';
import type { PolicyTemplate } from '../../src/core/training.ts';
import type { RecordedTask } from '../../train/recorded-tasks.ts';
import { canAttempt, mixTasks } from '../../train/task-sources.ts';

const taskOf = (id: string): TrainingTask => ({
  id,
  recall: { task: id },
  open: () => Promise.reject(new Error('nobody attempts it')),
});
const work = Array.from({ length: 60 }, (_, at) => taskOf(`generated/${at}`));
const recorded = (id: number): RecordedTask => ({
  kind: 'recorded',
  tokens: { prompt: 20, reply: 5 },
  rules: [],
  firstAt: 0,
  id: `recorded/${id}`,
  request: { model: 'policy', system: [], messages: [], tools: [], stream: false },
  text: 'how much is it',
  domain: 'general',
  agent: 'agent',
});

describe('mixed tasks', () => {
  it('are the generated ones, unchanged, when nothing was recorded', () => {
    expect(mixTasks(work, [])).toBe(work);
  });

  it('are at most half recorded, each equally often and at most four times, the newest first', () => {
    let cut = 0;
    let repeated = 0;
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 1, max: 90 }), (made, told) => {
        const some = work.slice(0, made);
        const mixed = mixTasks(
          some,
          Array.from({ length: told }, (_, id) => taskOf(`recorded/${id}`)),
        );
        const times = new Map<string, number>();
        for (const { id } of mixed) if (id.startsWith('recorded/')) times.set(id, (times.get(id) ?? 0) + 1);
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
  const template = (render: PolicyTemplate['render']): PolicyTemplate => ({
    render,
    write: () => [],
    read: () => ({ text: '', calls: [] }),
    stop: [],
    longestReply: 10,
  });
  const long = (count: number) => template(() => ({ is: 'prompt', tokens: new Array(count).fill(1) }));

  it('is dropped when the policy is not asked, refuses it, or has no room left for lessons and a reply', () => {
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
