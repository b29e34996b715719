import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  openTrainingEnvironment,
  removeFolder,
  runWindow,
  TASK,
  type TrainingEnvironment,
} from './training-environment.ts';

/** No verifier and no task: live turns that a person rewarded are all there is. */
let environment: TrainingEnvironment;
beforeAll(async () => {
  environment = await openTrainingEnvironment({
    train: { live: true, batchSize: 4, groupSize: 2, steps: 5 },
    hasTasks: false,
  });
}, 60_000);
afterAll(async () => {
  await environment.close();
  removeFolder(environment.dir);
});

const judged = async (session: string, score: number): Promise<void> => {
  const { headers } = await environment.chat(TASK, { session });
  await environment.api.feedback({ turn: String(headers['x-instar-turn']), score });
};

describe('live turns without any task', { timeout: 180_000 }, () => {
  it('train nothing while they are fewer than a batch', async () => {
    for (const [at, score] of [1, 0.2, 0.8].entries()) await judged(`few-${at}`, score);
    await environment.daemon.settle();
    await expect(runWindow(environment.training, {})).rejects.toMatchObject({ code: 'no-tasks' });
    expect((await environment.api.training()).supply).toMatchObject({
      ready: [],
      live: { isOn: true, byPerson: 3 },
    });
  });

  it('are a batch of their own once there are enough: one step, no new weights serve, and none trains twice', async () => {
    await judged('enough', 0.4);
    await environment.daemon.settle();
    const news = await runWindow(environment.training, {});
    const steps = news.filter(({ type }) => type === 'step-trained');
    expect(steps).toHaveLength(1);
    expect(steps[0]).toMatchObject({ report: { groups: 0, live: expect.any(Number) } });
    // There is nothing to measure the weights on.
    expect(news.some(({ type }) => type === 'moved' || type === 'pair-weighed')).toBe(false);
    const { versions } = await environment.api.training();
    expect(versions).toEqual({ live: 0 });
    await expect(runWindow(environment.training, {})).rejects.toMatchObject({ code: 'no-tasks' });
  });
});
