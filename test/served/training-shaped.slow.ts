import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { workdaysTasks } from '../../lab/suites/workdays/task-source.ts';
import { asObject } from '../../src/core/json.ts';
import {
  newFolder,
  openTrainingEnvironment,
  removeFolder,
  runWindow,
  TASK,
  type TrainingEnvironment,
  teach,
} from './training-environment.ts';

const VERIFIER = `
export const verify = ({ output }) => ({ status: 'ok', reward: output.length % 2, reasons: [] });
`;
const TASKS = workdaysTasks({
  train: { split: 'train', seed: 6, count: 1, since: 0 },
  heldOut: { split: 'gate', seed: 2, count: 1, since: 0 },
});

describe.each([
  ['weighed by learn.identity.reward', { task: 1, identity: 0, efficiency: 1 }, ['efficiency', 'task']],
  ['with the weights of today', { task: 1, identity: 0, efficiency: 0 }, undefined],
])('the rewards of a training window, %s', (_, reward, parts) => {
  const dir = newFolder();
  let environment: TrainingEnvironment;
  beforeAll(async () => {
    writeFileSync(path.join(dir, 'verify.mjs'), VERIFIER);
    const verifiers = [{ domain: '*', kind: 'module', file: path.join(dir, 'verify.mjs') }];
    environment = await openTrainingEnvironment({ dir, learn: { verifiers, identity: { reward } } });
    await teach(environment);
  }, 60_000);
  afterAll(async () => {
    await environment.close();
    removeFolder(dir);
  });

  it(parts === undefined
    ? 'have no parts'
    : 'are made of parts, which groups and the status name', async () => {
    await environment.chat(TASK, { session: 'asked' });
    await environment.daemon.settle();
    const news = await runWindow(environment.training, { steps: 1, tasks: TASKS });
    const groups = news.flatMap((one) => (one.type === 'group-collected' ? [one] : []));
    expect(groups.length).toBeGreaterThan(0);
    for (const group of groups)
      expect(group.parts === undefined ? undefined : Object.keys(group.parts).sort()).toEqual(parts);
    const { window } = asObject(await environment.training.describe());
    expect(Object.keys(asObject(asObject(window).parts)).sort()).toEqual(parts ?? []);
  }, 120_000);
});
