import { describe, expect, it } from 'vitest';
import type { TrainDatum } from '../../src/core/training.ts';
import { penaliseDistance } from '../../train/reference-penalty.ts';
import { createMemoryJournal } from '../../train/run-journal.ts';
import { train } from '../../train/trainer.ts';
import { tuningOf } from '../../train/training-plan.ts';
import { echoTasks, rollOutEcho, VOCABULARY } from './echo-tasks.ts';
import { createServer, createTabularEngine } from './tabular-engine.ts';

const never = new AbortController().signal;

const datum: TrainDatum = {
  tokens: [1, 2, 3],
  targets: [2, 3, 4],
  weights: [0, 1, 1],
  advantages: [0, 0.5, 0.5],
  logprobs: [0, -1, -2],
};
const penalised = (reference: readonly number[], coefficient: number) =>
  penaliseDistance(
    [{ data: [datum], tokens: 2, overlong: 0 }],
    { forward: async () => ({ logprobs: [reference], metrics: {} }) },
    coefficient,
    never,
  );

describe('the penalty for the distance from a reference', () => {
  it('takes from tokens that became more probable than the mean, gives to the others, and leaves the prompt alone', async () => {
    // The tokens are 1 and 3 nats more probable than under the reference: 2 on average.
    const { data_N, kl } = await penalised([-9, -2, -5], 0.1);
    expect(kl).toBeCloseTo(2, 12);
    const [zero, lower, higher] = data_N[0]?.data[0]?.advantages ?? [];
    expect(zero).toBe(0);
    expect(lower).toBeCloseTo(0.5 + 0.1, 12);
    expect(higher).toBeCloseTo(0.5 - 0.1, 12);
  });

  it('changes nothing at the reference itself', async () => {
    const { data_N, kl } = await penalised([0, -1, -2], 5);
    expect(kl).toBe(0);
    expect(data_N[0]?.data[0]).toEqual(datum);
  });

  it('makes a missing log-probability not a number, which no engine is sent, instead of zero', async () => {
    const { data_N } = await penalised([0, -1], 0.1);
    expect(data_N[0]?.data[0]?.advantages?.[2]).toBeNaN();
  });
});

/** KL(policy ‖ base) of the last checkpoint, averaged over all contexts; the base of the table is uniform. */
async function distanceAfter(klPenalty: number): Promise<{ readonly kl: number; readonly seen: number }> {
  const server = createServer({ vocabulary: VOCABULARY });
  const engine = createTabularEngine(server);
  let state = '';
  let seen = 0;
  for await (const news of train({
    engine,
    run: 'run',
    tasks: echoTasks,
    rollouts: rollOutEcho(engine, () => 0),
    steps: 12,
    batch: { groups: 6, size: 96 },
    generation: async () => 0,
    journal: createMemoryJournal(),
    signal: never,
    rank: 1,
    settings: { length: { tokens: 2 }, klPenalty },
  })) {
    if (news.type === 'step-trained' && news.report.referenceKl !== undefined) seen++;
    if (news.type === 'done') state = news.checkpoint.state;
  }
  const logits = server.saved.get(state)?.logits ?? new Float64Array();
  let kl = 0;
  for (let row = 0; row < logits.length; row += VOCABULARY) {
    const part = [...logits.subarray(row, row + VOCABULARY)];
    const total = part.reduce((sum, logit) => sum + Math.exp(logit), 0);
    for (const logit of part) {
      const share = Math.exp(logit) / total;
      kl += (share * Math.log(share * VOCABULARY) * VOCABULARY) / logits.length;
    }
  }
  return { kl, seen };
}

it('a penalty keeps trained weights nearer to the base model, the more the larger it is', async () => {
  const [free, some, much] = [await distanceAfter(0), await distanceAfter(0.1), await distanceAfter(0.5)];
  expect(free.kl).toBeGreaterThan(0);
  expect(some.kl).toBeLessThan(free.kl);
  expect(much.kl).toBeLessThan(some.kl);
  // Without it the reference is not asked.
  expect([free.seen, some.seen, much.seen]).toEqual([0, 12, 12]);
});

it('settings decide about training unless a benchmark asks for something else', () => {
  const settings = {
    engine: 'nano',
    steps: 1,
    batchSize: 4,
    live: false,
    distill: false,
    effect: 0.2,
  } as const;
  expect(tuningOf(settings)).toEqual({});
  expect(tuningOf({ ...settings, learningRate: 0.002 })).toEqual({ learningRate: 0.002 });
  const asked = { seed: 3, learningRate: 0.1, settings: { klPenalty: 0, epochs: 1 } };
  expect(tuningOf({ ...settings, learningRate: 0.002 }, asked)).toEqual(asked);
});
