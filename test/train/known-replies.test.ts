import { describe, expect, it } from 'vitest';
import type { TrainingTask } from '../../src/core/task-source.ts';
import type { PolicyTemplate } from '../../src/core/training.ts';
import { withKnownReplies } from '../../train/known-replies.ts';
import { createPolicyRollouts } from '../../train/policy-rollouts.ts';
import { drawReadingTasks } from '../../train/reading/draw-tasks.ts';
import { createServer, createTabularEngine } from './tabular-engine.ts';

/** Letters are their codes; the policy's own replies are five low codes, so no file. */
const template: PolicyTemplate = {
  render: () => ({ is: 'prompt', tokens: [1] }),
  write: (text) => [...[...text].map((letter) => letter.codePointAt(0) ?? 0), 0],
  read: (tokens) => ({
    text: tokens
      .filter((token) => token > 0)
      .map((token) => String.fromCodePoint(token))
      .join(''),
    calls: [],
  }),
  stop: [0],
  longestReply: 6,
};
const engine = createTabularEngine(createServer({ vocabulary: 5 }));
const options = {
  template,
  openSampler: (path: string | undefined) => engine.openSampler(path),
  show: async (_: unknown, { shown = { text: '' } }: TrainingTask) => ({ ...shown, generation: 6 }),
};
const rollOut = withKnownReplies(createPolicyRollouts(options), options);
const attempt = (task: TrainingTask) =>
  rollOut({ version: 2, sampler: undefined }, task, 3, {
    seed: 'night/1',
    signal: new AbortController().signal,
  });
const countTask = (isRight: (text: string) => boolean, known: string | undefined): TrainingTask => ({
  id: 'own/1',
  recall: { task: 'count' },
  rightReply: () => known,
  open: async () => ({
    run: async ({ speak, session }, signal) => {
      const messages = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'count' }] }];
      const request = { model: 'policy', system: [], messages, tools: [], stream: false };
      const { text } = await speak(request, { session, agent: 'own', runKind: 'train' }, signal);
      return { ok: true, reward: isRight(text) ? 1 : 0.25, isComplete: isRight(text) };
    },
    close: async () => undefined,
  }),
});

describe('a reply that is known to be right', () => {
  it('stands behind the attempts when none of them is right, graded as they are', async () => {
    const all = await attempt(countTask((text) => text === 'forty-two', 'forty-two'));
    expect(all.map(({ isComplete }) => isComplete)).toEqual([false, false, false, true]);
    const reply = all.at(-1)?.segments.find(({ kind }) => kind === 'reply');
    expect(reply?.ids).toEqual(template.write('forty-two'));
    expect(reply).toMatchObject({ policy: 2, generation: 6 });
  });

  it('is left out when an attempt was right, when there is none, and is not right because somebody says so', async () => {
    const own = await attempt(countTask((text) => text !== 'forty-two', 'forty-two'));
    expect(own.map(({ isComplete }) => isComplete)).toEqual([true, true, true]);
    expect(await attempt(countTask(() => false, undefined))).toHaveLength(3);
    const wrong = await attempt(countTask(() => false, 'forty-two'));
    expect(wrong.some(({ isComplete }) => isComplete)).toBe(false);
  });

  it('exists for nearly every reading task, and follows its rules', async () => {
    const tasks = drawReadingTasks({
      ...{ set: 'trained', count: 200, seed: 5, place: 'message' },
      mix: { present: 7, absent: 1, irrelevant: 1, contradicted: 1 },
    });
    const right = await Promise.all(
      tasks.map(async (task) => (await attempt(task)).some(({ isComplete }) => isComplete)),
    );
    expect(right.filter(Boolean).length).toBeGreaterThan(190);
  });
});
