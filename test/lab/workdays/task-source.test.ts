import { describe, expect, it } from 'vitest';
import {
  gatherWorkTasks,
  makeWorkTasks,
  openTaskSource,
  workdaysTasks,
} from '../../../lab/suites/workdays/task-source.ts';
import type { TrainingTask } from '../../../src/core/task-source.ts';
import { describeTaskSource } from '../../train/task-source-contract.ts';

const idsOf = (tasks: readonly TrainingTask[]): readonly string[] => tasks.map(({ id }) => id);
const FEW = {
  train: { split: 'train', seed: 6, count: 5, since: 0 },
  heldOut: { split: 'gate', seed: 2, count: 5, since: 0 },
} as const;

describeTaskSource('workdays', () => openTaskSource(workdaysTasks(FEW).options));

describe('the tasks of the workdays', () => {
  it('have the requested count, from consecutive worlds, the same whether made at once or gathered', async () => {
    const options = { split: 'train', seed: 3, count: 200 } as const;
    const tasks = idsOf(makeWorkTasks(options));
    expect(tasks).toHaveLength(200);
    expect(new Set(tasks).size).toBe(200);
    expect(new Set(tasks.map((id) => id.split('/')[2])).size).toBeGreaterThan(1);
    expect(idsOf(await gatherWorkTasks(options, new AbortController().signal))).toEqual(tasks);
  });

  it('are no longer made after the signal aborts: at most one world later', async () => {
    const stop = new AbortController();
    const gathering = gatherWorkTasks({ split: 'train', seed: 3, count: 2_000 }, stop.signal);
    stop.abort();
    const worlds = new Set(idsOf(await gathering).map((id) => id.split('/')[2]));
    expect(worlds.size).toBe(1);
  });

  it('are named by plain data that survives JSON, and wrong options are refused by name', async () => {
    const ref = workdaysTasks(FEW);
    expect(JSON.parse(JSON.stringify(ref))).toEqual(ref);
    expect(ref.module).toMatch(/^file:.*\.js$/);
    await expect(openTaskSource({ train: { split: 'train' } })).rejects.toThrow('train needs a split');
  });
});
