import { existsSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { asObject, parseJson, toJson } from '../../src/core/json.ts';
import { readCuratedTasks } from '../../src/learn/practice/sources/curated-tasks.ts';
import { splitOf } from '../../src/learn/practice/sources/split.ts';
import { ask } from '../support/client.ts';
import { lessonText } from '../support/lesson-text.ts';
import {
  openTrainingEnvironment,
  removeFolder,
  runWindow,
  TASK,
  type TrainingEnvironment,
} from './training-environment.ts';

/** No verifier, and no task to train on: live turns that a person rewarded are all there is. */
let environment: TrainingEnvironment;
beforeAll(async () => {
  environment = await openTrainingEnvironment({
    train: { live: true },
    override: { tuning: { seed: 1, mostPairs: 1, size: { steps: 5, groups: 2, attempts: 2 } } },
    hasTasks: false,
    models: { practice: 'instar/nano' },
  });
});
afterAll(async () => {
  await environment.close();
  removeFolder(environment.dir);
});

const judged = async (session: string, score: number): Promise<void> => {
  const { headers } = await environment.chat(TASK, { session });
  await environment.api.feedback({ turn: String(headers['x-instar-turn']), score });
};

/** A task of the split that measures. */
async function addGateTask(): Promise<void> {
  const line = (at: number) =>
    JSON.stringify({ prompt: `What is ${at} times 7?`, check: { kind: 'number', value: 7 * at } });
  const lines = Array.from({ length: 40 }, (_, at) => line(at));
  const { tasks } = await readCuratedTasks(lines.join('\n'), 'tasks.jsonl');
  const at = tasks.findIndex(({ root }) => splitOf(root) === 'gate');
  const { text } = await ask(environment.port, {
    path: '/api/practice/add',
    headers: { authorization: `Bearer ${environment.ownerKey}` },
    body: JSON.stringify({ text: lines[at] ?? '', file: 'tasks.jsonl' }),
  });
  expect(asObject(parseJson(text))).toMatchObject({ added: 1 });
}

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

  it('train nothing while no task could measure the weights, however many they are', async () => {
    await judged('enough', 0.4);
    await environment.daemon.settle();
    expect(await runWindow(environment.training, {})).toEqual([
      { type: 'not-trained', why: expect.stringMatching(/tasks needed .*, 0 there: not trained\./) },
    ]);
    expect(existsSync(path.join(environment.dir, 'train'))).toBe(false);
  });

  it('are a batch of their own once practice can measure: one step, no new weights serve, and none trains twice', async () => {
    await addGateTask();
    const news = await runWindow(environment.training, {});
    const steps = news.filter(({ type }) => type === 'step-trained');
    expect(steps).toHaveLength(1);
    expect(steps[0]).toMatchObject({ report: { groups: 0, live: expect.any(Number) } });
    // The next session of practice measures them.
    expect(news.some(({ type }) => type === 'moved' || type === 'pair-weighed')).toBe(false);
    const { versions } = await environment.api.training();
    expect(versions).toEqual({ live: 0 });
    await expect(runWindow(environment.training, {})).rejects.toMatchObject({ code: 'no-tasks' });
  });
});

describe('train.live while a window runs', { timeout: 180_000 }, () => {
  beforeAll(async () => {
    await environment.close();
    removeFolder(environment.dir);
    environment = await openTrainingEnvironment({
      train: { live: true, learningRate: 1e-6 },
      override: { tuning: { seed: 1, mostPairs: 1, size: { groups: 2, attempts: 2 } } },
      hasTasks: false,
      models: { practice: 'instar/nano' },
    });
    await addGateTask();
  });

  it('turned off ends it with the step in progress, and no other turn trains', async () => {
    const { keysApi, training } = environment;
    const turns = 40;
    for (let at = 0; at < turns; at++) await judged(`more-${at}`, at % 2 === 0 ? 1 : 0.2);
    await environment.daemon.settle();
    let used = 0;
    const news = await runWindow(
      training,
      { steps: 10 },
      {
        onNews: async (one) => {
          if (one.type !== 'step-trained' && one.type !== 'step-idle') return;
          if (used === 0) await keysApi.setSetting({ path: 'train.live', value: false });
          used += one.report.live;
        },
      },
    );
    expect(news.some(({ type }) => type === 'step-trained')).toBe(true);
    expect(used).toBeLessThan(turns / 2);
    await expect(runWindow(training, {})).rejects.toMatchObject({ code: 'no-tasks' });
    expect((await environment.api.training()).supply).toMatchObject({ live: { isOn: false } });
    await keysApi.setSetting({ path: 'train.live', value: true });
    const [first] = await runWindow(training, { steps: 1 });
    expect(first).toBeDefined();
  });
});

describe('live turns that nobody rated', { timeout: 180_000 }, () => {
  beforeAll(async () => {
    await environment.close();
    removeFolder(environment.dir);
    environment = await openTrainingEnvironment({
      train: { live: true, learningRate: 1e-6 },
      override: { tuning: { seed: 1, mostPairs: 1, size: { groups: 2, attempts: 2 } } },
      hasTasks: false,
      models: { practice: 'instar/nano' },
    });
    await addGateTask();
  });

  it('train by the checks of the rules that they were given with, each turn once', async () => {
    const { api, lessonsApi, training } = environment;
    const text = lessonText({
      name: 'short-answers',
      description: '"Keep answers short."',
      content: 'The user said so.',
      note: { source: 'told', isAlways: true },
    });
    const id = 'short';
    const check = {
      looksAt: 'reply',
      appliesWhen: [],
      holdsWhen: [{ is: 'length', unit: 'characters', max: 40 }],
      standing: 'accepted',
      by: 'person',
      proof: 'a test',
    };
    await lessonsApi.change({
      changes: [{ op: 'add', id, kind: 'skill', state: 'live', text: toJson(text), check }],
    });
    for (let at = 0; at < 8; at++) await environment.chat(TASK, { session: `silent-${at}` });
    await environment.daemon.settle();
    const { live } = asObject((await api.training()).supply);
    expect(live).toMatchObject({ byVerifier: 0, byPerson: 0, byCheck: 8 });
    const steps = (await runWindow(training, {})).filter(({ type }) => type === 'step-trained');
    expect(steps[0]).toMatchObject({ report: { groups: 0, live: expect.any(Number) } });
    await expect(runWindow(training, {})).rejects.toMatchObject({ code: 'no-tasks' });
  });
});
