import { describe, expect, it } from 'vitest';
import { createFailure } from '../../src/core/failure.ts';
import type { GatewayClient } from '../../src/core/gateway-client.ts';
import type { TaskSource, TrainingTask } from '../../src/core/task-source.ts';

const { signal } = new AbortController();
const idsOf = (tasks: readonly TrainingTask[]): readonly string[] => tasks.map(({ id }) => id);

/** What training relies on, whichever source its tasks come from. `open` must open the same source each time. */
export function describeTaskSource(name: string, open: () => TaskSource | Promise<TaskSource>): void {
  describe(`the task source "${name}"`, () => {
    const firstTask = async (): Promise<TrainingTask> => {
      const [task] = await (await open()).train(signal);
      if (task === undefined) throw new Error('the source has no task to train on');
      return task;
    };
    const attempt = async (speak: GatewayClient) => {
      const opened = await (await firstTask()).open();
      try {
        return await opened.run({ speak, session: 's' }, signal);
      } finally {
        await opened.close();
      }
    };

    it('has tasks to train on and others to measure on, none of them on both sides', async () => {
      const source = await open();
      const [train, heldOut] = [idsOf(await source.train(signal)), idsOf(await source.heldOut(signal))];
      expect(train.length).toBeGreaterThan(0);
      expect(heldOut.length).toBeGreaterThan(0);
      expect(new Set([...train, ...heldOut]).size).toBe(train.length + heldOut.length);
    });

    it('yields the same tasks in the same order when it is opened again', async () => {
      const [first, again] = [await open(), await open()];
      expect(idsOf(await again.train(signal))).toEqual(idsOf(await first.train(signal)));
      expect(idsOf(await again.heldOut(signal))).toEqual(idsOf(await first.heldOut(signal)));
    });

    it('sends the first requests of all attempts at a task in one tick (not one after another)', async () => {
      const task = await firstTask();
      const attempts = await Promise.all([task.open(), task.open(), task.open()]);
      const prompts: string[] = [];
      const speak: GatewayClient = async (request) => {
        prompts.push(JSON.stringify([request.system, request.messages]));
        return { text: 'I do not know', calls: [], lessons: [] };
      };
      const runs = attempts.map((one, at) => one.run({ speak, session: `s/${at}` }, signal));
      await Promise.resolve();
      expect(prompts).toHaveLength(3);
      expect(new Set(prompts).size).toBe(1);
      await Promise.all(runs);
      await Promise.all(attempts.map((one) => one.close()));
    });

    it('grades an attempt with a reward of 0 to 1', async () => {
      const result = await attempt(async () => ({ text: 'done', calls: [], lessons: [] }));
      expect(result).toMatchObject({ ok: true });
      if (!result.ok) return;
      expect(result.reward).toBeGreaterThanOrEqual(0);
      expect(result.reward).toBeLessThanOrEqual(1);
    });

    it('reports a model that failed as a failure with its reason (not as a reward of 0)', async () => {
      const failure = createFailure('upstream-error', 'the engine is gone');
      const result = await attempt(async () => ({ text: '', calls: [], lessons: [], failure }));
      expect(result).toEqual({ ok: false, why: 'the engine is gone' });
    });
  });
}
