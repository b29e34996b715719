import { describe, expect, it } from 'vitest';
import type { TaskSource } from '../../src/core/task-source.ts';
import { TrainingError } from '../../src/core/training.ts';
import type { RecordedTask } from '../../train/recorded-tasks.ts';
import { createRecordedSource, withRecordedTasks } from '../../train/task-sources.ts';
import { describeTaskSource } from './task-source-contract.ts';

const { signal } = new AbortController();
const recorded = (number: number, session = `s${number}`): RecordedTask => {
  const text = `How much is ${number} times ${number}?`;
  return {
    kind: 'recorded',
    tokens: { prompt: 20, reply: 5 },
    rules: [],
    firstAt: 0,
    id: `recorded/${session}`,
    request: {
      model: 'policy',
      system: [],
      messages: [{ role: 'user', content: [{ type: 'text', text }] }],
      tools: [],
      stream: false,
    },
    text,
    domain: 'math',
    agent: 'ada',
  };
};
const TASKS = Array.from({ length: 40 }, (_, number) => recorded(number));
const open = (tasks: readonly RecordedTask[], grade: (answer: string) => number | undefined = () => 0.5) =>
  createRecordedSource({
    gather: async () => tasks,
    grade: async (_, answer) => {
      const reward = grade(answer);
      return reward === undefined ? undefined : { reward, rules: [] };
    },
    fits: () => true,
  });

describeTaskSource('recorded', () => open(TASKS));

describe('recorded tasks as a source', () => {
  it('hold out about one task in five, and the same one when it is asked again in another session', async () => {
    const heldOut = await open(TASKS).heldOut(signal);
    expect(heldOut.length).toBeGreaterThan(3);
    expect(heldOut.length).toBeLessThan(14);
    const again = TASKS.map(({ id }, number) => recorded(number, `again/${id}`));
    const texts = (tasks: typeof heldOut) => tasks.map(({ recall }) => recall.task);
    expect(texts(await open(again).heldOut(signal))).toEqual(texts(heldOut));
  });

  it('that a canary was not trained on are what was first asked after it was proposed, and what is held out; newest first', async () => {
    const since = 100;
    const asked = TASKS.map((task, number) => ({ ...task, firstAt: number < 10 ? since + 1 : since - 1 }));
    const heldOut = (await open(asked).heldOut(signal)).map(({ id }) => id);
    const unseen = (await open(asked).unseenSince(since)).map(({ id }) => id);
    expect(unseen.slice(0, 10)).toEqual(asked.slice(0, 10).map(({ id }) => id));
    expect(unseen.slice(10)).toEqual(heldOut.filter((id) => !unseen.slice(0, 10).includes(id)));
    expect(unseen.length).toBeLessThan(TASKS.length);
  });

  it('are one cluster with the same words of another session', async () => {
    const roots = async (session: string) =>
      (await open([recorded(3, session)]).unseenSince(-1)).map(({ root }) => root);
    expect(await roots('monday')).toEqual(await roots('tuesday'));
  });

  it('refuse to begin without tasks, or without held-out ones, and name rules with checks before the setting', async () => {
    const [task] = await open(TASKS).train(signal);
    const alone = TASKS.filter(({ id }) => id === task?.id);
    const refusals = await Promise.all(
      [open([]), open(alone)].map((source) => source.train(signal).catch((error: unknown) => error)),
    );
    for (const refusal of refusals) {
      expect(refusal).toBeInstanceOf(TrainingError);
      expect(refusal).toMatchObject({
        category: 'user',
        message: expect.stringMatching(/a rule that you told .* accepted check.*learn\.verifiers/),
      });
    }
    expect(String(refusals[0])).toContain('Too little to train on: 0 tasks.');
    expect(String(refusals[1])).toContain('1 task (1 to train on, 0 held out)');
  });

  it('report an answer that no verifier graded as ungraded (not as a failure of the model)', async () => {
    const [task] = await open(TASKS, () => undefined).train(signal);
    const attempt = await task?.open();
    const speak = async () => ({ text: 'twelve', calls: [], lessons: [] });
    expect(await attempt?.run({ speak, session: 's' }, signal)).toMatchObject({
      ok: false,
      isUngraded: true,
    });
  });

  it('all train, and measure nothing, when they are mixed into another source', async () => {
    const [own] = await open(TASKS).train(signal);
    if (own === undefined) throw new Error('there is no task');
    const lab = Array.from({ length: 50 }, (_, at) => ({ ...own, id: `lab/${at}` }));
    const other: TaskSource = { train: async () => lab, heldOut: async () => lab.slice(0, 1) };
    const mixed = withRecordedTasks(other, open(TASKS));
    const ids = (await mixed.train(signal)).map(({ id }) => id);
    expect(ids.filter((id) => id.startsWith('recorded/'))).toHaveLength(TASKS.length);
    expect((await mixed.heldOut(signal)).map(({ id }) => id)).toEqual(['lab/0']);
  });
});
