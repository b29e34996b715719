import { describe, expect, it } from 'vitest';
import type { TrainingTask } from '../../src/core/task-source.ts';
import type { PolicyTemplate } from '../../src/core/training.ts';
import { createRetoldRollouts } from '../../train/retold-rollouts.ts';
import { createServer, createTabularEngine } from './tabular-engine.ts';

const RULE = 'End with a two.';
const WITH_RULE = 3;
const WITHOUT = 4;

/** The prompt says by one token whether the rule is in view. */
const template: PolicyTemplate = {
  render: ({ system, messages }) => ({
    is: 'prompt',
    tokens: [1, JSON.stringify([system, messages]).includes(RULE) ? WITH_RULE : WITHOUT],
  }),
  write: () => [],
  read: (tokens) => ({ text: tokens.join(' '), calls: [] }),
  stop: [0],
  longestReply: 6,
};

/** `asks` requests, one after the other. A reply is right that has a two; */
const task = (asks: number, isRightAgain: () => boolean = () => true): TrainingTask => ({
  id: 'own/1',
  recall: { task: 'count' },
  shown: { text: RULE },
  learnedWith: { text: '' },
  open: async () => ({
    run: async ({ speak, session }, signal) => {
      const said: string[] = [];
      for (let at = 0; at < asks; at++) {
        const messages = [
          { role: 'user' as const, content: [{ type: 'text' as const, text: `count ${at}` }] },
        ];
        const request = { model: 'policy', system: [], messages, tools: [], stream: false };
        said.push((await speak(request, { session, agent: 'own', runKind: 'train' }, signal)).text);
      }
      const isRight = isRightAgain() && said.every((text) => text.includes('2'));
      return { ok: true, reward: isRight ? 1 : 0.25, isComplete: isRight };
    },
    close: async () => undefined,
  }),
});

const engine = createTabularEngine(createServer({ vocabulary: 5 }));
const rollOut = createRetoldRollouts({
  template,
  openSampler: (path) => engine.openSampler(path),
  show: async (_, { shown = { text: '' } }) => ({ ...shown, generation: 6 }),
});
const make = (one: TrainingTask, count = 40) =>
  rollOut({ version: 2, sampler: undefined }, one, count, {
    seed: 'night/1',
    signal: new AbortController().signal,
  });

describe('replies that were right with the rule in view', () => {
  it('stand behind the prompt without it, word for word and turn by turn', async () => {
    for (const asks of [1, 2]) {
      const { learnedWith: _, ...told } = task(asks);
      const plain = await make(told);
      const right = plain.filter(({ isComplete }) => isComplete);
      const retold = await make(task(asks));
      expect(retold.length).toBeGreaterThan(0);
      expect(retold).toHaveLength(right.length);
      for (const [at, { segments, id, isComplete }] of retold.entries()) {
        const kept = right[at];
        expect([id, isComplete]).toEqual([kept?.id, true]);
        expect(segments.map(({ kind }) => kind)).toEqual(Array(asks).fill(['prompt', 'reply']).flat());
        const replies = segments.filter(({ kind }) => kind === 'reply');
        expect(replies).toEqual(kept?.segments.filter(({ kind }) => kind === 'reply'));
        const prompts = segments.flatMap(({ kind, ids }) => (kind === 'prompt' ? [ids] : []));
        expect(prompts).toEqual(prompts.map(() => [1, WITHOUT]));
      }
    }
  });

  it('are left out where they are not right when they are played again', async () => {
    let runs = 0;
    // Only the first forty attempts, those of the teacher, are graded as right.
    expect(await make(task(1, () => runs++ < 40))).toEqual([]);
    expect(runs).toBeGreaterThan(40);
  });
});
