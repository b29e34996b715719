import { describe, expect, it } from 'vitest';
import type { TrainingTask } from '../../src/core/task-source.ts';
import type { PolicyTemplate } from '../../src/core/training.ts';
import { createDistillation } from '../../train/distillation.ts';
import { createMemoryJournal } from '../../train/run-journal.ts';
import { train } from '../../train/trainer.ts';
import { echoTasks, rollOutEcho } from './echo-tasks.ts';
import { createServer, createTabularEngine, logprobAt } from './tabular-engine.ts';

const VOCABULARY = 6;
const { signal } = new AbortController();
const BLOCK = 'Say two.';

/** A prompt is 3 0, and with the block 4 0. */
const template: PolicyTemplate = {
  render: ({ system }) => ({
    is: 'prompt',
    tokens: [system.some(({ text }) => text.includes(BLOCK)) ? 4 : 3, 0],
  }),
  read: (tokens) => ({ text: tokens.join(' '), calls: [] }),
  stop: [],
  longestReply: 1,
};
const task: TrainingTask = {
  id: 'say',
  recall: { task: 'say' },
  open: async () => ({
    run: async ({ speak, session }) => {
      const request = {
        model: 'm',
        system: [{ type: 'text', text: 'x' }],
        messages: [],
        tools: [],
        stream: false,
      } as const;
      await speak(request, { session, agent: 'a', runKind: 'train' }, signal);
      return { ok: true, reward: 0 };
    },
    close: async () => undefined,
  }),
};

/** Trains a policy that says 2 with the block and 1 without it; how likely 2 is without the block, before and after. */
async function distil(block: string, generation = 0) {
  const server = createServer({ vocabulary: VOCABULARY });
  const engine = createTabularEngine(server);
  const model = await engine.createModel({ rank: 1 });
  const table = server.models.get(model.id);
  if (table === undefined) throw new Error('no table');
  const logitAt = (before: number, next: number): number => (before * VOCABULARY + 0) * VOCABULARY + next;
  table.logits[logitAt(4, 2)] = 6;
  table.logits[logitAt(3, 1)] = 6;
  const from = {
    version: 0,
    state: await model.saveState('start'),
    sampler: await model.saveForSampler('start'),
  };
  const chance = (logits: Float64Array): number => Math.exp(logprobAt(logits, [3, 0], 1, 2, VOCABULARY));
  const before = chance(table.logits);
  let reported = 0;
  for await (const news of train({
    engine,
    run: 'run',
    tasks: echoTasks,
    rollouts: rollOutEcho(engine, () => 0),
    steps: 40,
    batch: { groups: 2, size: 8 },
    generation: async () => 0,
    distil: createDistillation({
      template,
      openSampler: (path) => engine.openSampler(path),
      lessons: { tasks: [task], show: async () => ({ text: block, generation }), count: 4 },
    }),
    journal: createMemoryJournal(),
    signal,
    rank: 1,
    from,
    learningRate: 0.3,
    settings: { length: { tokens: 2 } },
  }))
    if (news.type === 'step-trained') reported += news.report.hinted ?? 0;
  const after = Math.max(...[...server.models.values()].map(({ logits }) => chance(logits)));
  return { before, after, reported };
}

describe('train.distill', () => {
  it('teaches the weights to do without the block what they do with it', async () => {
    const { before, after, reported } = await distil(BLOCK);
    expect(before).toBeLessThan(0.01);
    expect(after).toBeGreaterThan(0.5);
    expect(reported).toBeGreaterThan(0);
  });

  it('teaches nothing where no proven lesson is shown, or where the lessons changed meanwhile', async () => {
    for (const { after, reported } of [await distil(''), await distil(BLOCK, 1)]) {
      expect(reported).toBe(0);
      // The groups of the run meet this prompt, too, and move it a little.
      expect(after).toBeLessThan(0.1);
    }
  });
});
