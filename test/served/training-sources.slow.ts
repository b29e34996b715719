import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { workdaysTasks } from '../../lab/suites/workdays/task-source.ts';
import { asObject, parseJson } from '../../src/core/json.ts';
import { openSqliteReader } from '../../src/record/store/sqlite-store.ts';
import type { TrainingEvent } from '../../train/training-window.ts';
import { ask } from '../support/client.ts';
import {
  lesson,
  newFolder,
  openTrainingEnvironment,
  removeFolder,
  runWindow,
  TASK,
  type TrainingEnvironment,
  teach,
} from './training-environment.ts';

/** Grades by what no reply knows of, so that some are better than others; and writes down what it was asked. */
const VERIFIER = `
import { appendFileSync } from 'node:fs';
export function verify({ task, output }) {
  appendFileSync(new URL('./graded.jsonl', import.meta.url), JSON.stringify({ task, output }) + '\\n');
  let sum = 0;
  for (const letter of output) sum = (sum * 31 + letter.charCodeAt(0)) % 997;
  return { status: 'ok', reward: (sum % 11) / 10, reasons: [] };
}
`;
/** One made-up task, so that every other group is of the record. */
const TASKS = workdaysTasks({
  train: { split: 'train', seed: 6, count: 1, since: 0 },
  heldOut: { split: 'gate', seed: 2, count: 1, since: 0 },
});
const GROUP = 8;
/** In letters that the policy cannot read: it is answered without being asked. */
const FOREIGN = '今天的天气怎么样，我应该带伞吗？';

const dir = newFolder();
const gradedFile = path.join(dir, 'graded.jsonl');
const graded = (): readonly { readonly task: string }[] =>
  existsSync(gradedFile)
    ? readFileSync(gradedFile, 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
    : [];
const gradedOf = (task: string): number => graded().filter((one) => one.task === task).length;
const reportsOf = (news: readonly TrainingEvent[]) =>
  news.flatMap((one) => (one.type === 'step-trained' || one.type === 'step-idle' ? [one.report] : []));

describe('recorded tasks', () => {
  let environment: TrainingEnvironment;
  beforeAll(async () => {
    writeFileSync(path.join(dir, 'verify.mjs'), VERIFIER);
    const verifiers = [{ domain: '*', kind: 'module', file: path.join(dir, 'verify.mjs') }];
    environment = await openTrainingEnvironment({ dir, learn: { verifiers } });
    await teach(environment);
  });
  afterAll(async () => {
    await environment.close();
    removeFolder(dir);
  });
  const cycleEnds = () => {
    const reader = openSqliteReader(path.join(dir, 'instar.sqlite'));
    try {
      return reader
        .factsOf('cycle-end', 0, 100)
        .flatMap(({ fact }) => (fact.type === 'cycle-end' ? [fact] : []));
    } finally {
      reader.close();
    }
  };
  const status = async () => {
    const headers = { authorization: `Bearer ${environment.key}` };
    const { text } = await ask(environment.port, { method: 'GET', path: '/api/status', headers });
    return asObject(parseJson(text));
  };

  it('are attempted again, graded by the configured verifier, and trained on', async () => {
    await environment.chat(TASK, { session: 'asked' });
    await environment.chat(FOREIGN, { session: 'foreign' });
    await environment.daemon.settle();
    const before = gradedOf(TASK);
    const foreign = gradedOf(FOREIGN);
    const news = await runWindow(environment.training, { steps: 2, tasks: TASKS });
    const reports = reportsOf(news);
    expect(reports.map(({ groups }) => groups)).toEqual([2, 2]);
    // A group in each of two batches, and the answer of then: for the task, and by learning if it was not read before.
    expect([1, 2]).toContain(gradedOf(TASK) - before - 2 * GROUP);
    // What the policy is not asked has no tokens to learn from.
    expect([1, 2]).toContain(gradedOf(FOREIGN) - foreign);
    expect(news.filter(({ type }) => type === 'step-trained').length).toBeGreaterThan(0);
    // Live traffic is learned from only where someone says so.
    expect(reports.map(({ live }) => live)).toEqual([0, 0]);
  });

  it('leave none of their text outside of the record', () => {
    const journal = readFileSync(path.join(dir, 'train', 'nano', 'run-1.jsonl'), 'utf8');
    expect(journal).toContain('workdays/train');
    expect(journal).not.toContain('recorded/');
  });

  it('are not taken from an erased session', async () => {
    expect(await environment.api.erase('asked')).toMatchObject({ erased: 1 });
    await environment.api.moveWeights('rollback');
    const before = gradedOf(TASK);
    const news = await runWindow(environment.training, { steps: 1, tasks: TASKS });
    expect(reportsOf(news).map(({ groups }) => groups)).toEqual([2]);
    expect(gradedOf(TASK)).toBe(before);
  });

  it('end, like every window, in a trainer cycle that is counted with those of other learners', async () => {
    const ends = cycleEnds().filter(({ learner }) => learner === 'trainer');
    expect(ends).toHaveLength(2);
    const generation = environment.daemon.generation();
    for (const end of ends)
      expect(end).toMatchObject({ outcome: 'nothing', items: [], turns: [], generation, cost: { usd: 0 } });
    await environment.daemon.settle();
    const { cycles } = asObject((await status()).learning);
    expect(asObject(cycles).run).toBe(cycleEnds().length);
  });
});

describe('live turns', () => {
  let environment: TrainingEnvironment;
  beforeAll(async () => {
    environment = await openTrainingEnvironment({ train: { live: true } });
    await teach(environment);
  });
  afterAll(async () => {
    await environment.close();
    removeFolder(environment.dir);
  });

  /** A turn of the policy, and what a person says of it. */
  const judged = async (session: string, score: number): Promise<void> => {
    const { headers } = await environment.chat(TASK, { session });
    const said = await environment.api.feedback({ turn: String(headers['x-instar-turn']), score });
    expect(said).toMatchObject({ ok: true });
  };

  it('are trained on once, if a person rewarded them under the current lessons', async () => {
    await judged('stale-1', 1);
    await judged('stale-2', 0.4);
    await environment.lessonsApi.change(lesson('later', 'Write the year first.'));
    await judged('bad', -1);
    for (const [at, score] of [1, 0.2, 0.8, 0.4].entries()) await judged(`good-${at}`, score);
    await environment.chat(TASK, { session: 'nothing-said' });
    await environment.daemon.settle();
    const news = await runWindow(environment.training, { steps: 2 });
    // The failure fed no lesson: it trains, too.
    expect(reportsOf(news).map(({ live }) => live)).toEqual([5, 0]);
  });
});
