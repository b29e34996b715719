import { describe, expect, it } from 'vitest';
import { gatherWorkTasks, makeWorkTasks, type WorkTask } from '../../../src/app/training/work-task.ts';

const idsOf = (tasks: readonly WorkTask[]): readonly string[] => tasks.map(({ id }) => id);

describe('tasks to attempt', () => {
  it('are as many as were asked for, from one world after another, the same at once and in between', async () => {
    const options = { split: 'train', seed: 3, count: 200 } as const;
    const tasks = idsOf(makeWorkTasks(options));
    expect(tasks).toHaveLength(200);
    expect(new Set(tasks).size).toBe(200);
    expect(new Set(tasks.map((id) => id.split('/')[2])).size).toBeGreaterThan(1);
    expect(idsOf(await gatherWorkTasks(options, new AbortController().signal))).toEqual(tasks);
  });

  it('are made no further when someone comes back: after one world at most', async () => {
    const stop = new AbortController();
    const gathering = gatherWorkTasks({ split: 'train', seed: 3, count: 2_000 }, stop.signal);
    stop.abort();
    const worlds = new Set(idsOf(await gathering).map((id) => id.split('/')[2]));
    expect(worlds.size).toBe(1);
  });
});
