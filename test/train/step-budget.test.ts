import { describe, expect, it } from 'vitest';
import { createManualClock } from '../../src/core/clock.ts';
import type { TrainDatum } from '../../src/core/training.ts';
import { createDayBudget } from '../../src/cost/day-budget.ts';
import { createStepBudget, type StepPrice, withStepBudget } from '../../src/train/step-budget.ts';
import { createServer, createTabularEngine } from './tabular-engine.ts';

const idle = new AbortController().signal;
const datum: TrainDatum = {
  tokens: [1, 2, 1],
  targets: [2, 1, 2],
  weights: [1, 1, 1],
  advantages: [1, 1, 1],
  logprobs: [-1, -1, -1],
};
const step = { data: [datum, datum], loss: 'importance_sampling' } as const;

function open(tokens: number, price?: StepPrice) {
  const server = createServer({ vocabulary: 4 });
  const budget = createDayBudget({
    limits: { tokens, usd: 1 },
    setting: 'schedule.budget',
    clock: createManualClock(),
  });
  const engine = withStepBudget(
    createTabularEngine(server),
    createStepBudget({ reserve: budget.reserve, price, engine: 'table' }),
  );
  return { server, budget, engine };
}

describe('an engine with a budget', () => {
  it('counts the prompt and what was sampled, and reserves the longest replies before', async () => {
    const { engine, budget } = open(1000);
    const sampler = await engine.openSampler(undefined);
    const request = { prompt: [1, 2], count: 4, maxTokens: 5, temperature: 1, stop: [], seed: 1 };
    const sampling = sampler.sample(request, idle);
    expect(budget.spent().tokens).toBe(2 + 4 * 5);
    const sampled = (await sampling).reduce((sum, { tokens }) => sum + tokens.length, 0);
    expect(budget.spent()).toMatchObject({ tokens: 2 + sampled, unpriced: 2 + sampled, usd: 0 });
  });

  it('counts the tokens that are trained on, at the price of training', async () => {
    const { engine, budget, server } = open(1000, { prefill: 1, sample: 2, train: 100_000 });
    const model = await engine.createModel({ rank: 1 });
    const passed = model.forwardBackward(step, idle);
    const stepped = model.optimStep({ learningRate: 0.1 }, idle);
    await Promise.all([passed.done, stepped.done]);
    expect(server.optimSteps).toBe(1);
    expect(budget.spent()).toMatchObject({ tokens: 6, unpriced: 0 });
    expect(budget.spent().usd).toBeCloseTo(0.6, 10);
  });

  it('submits no step of the optimiser when its gradients were refused', async () => {
    const { engine, server, budget } = open(5);
    const model = await engine.createModel({ rank: 1 });
    const ends = await Promise.allSettled([
      model.forwardBackward(step, idle).done,
      model.optimStep({ learningRate: 0.1 }, idle).done,
    ]);
    for (const end of ends)
      expect(end).toMatchObject({
        status: 'rejected',
        reason: { message: expect.stringContaining('tokensPerDay') },
      });
    expect(server.optimSteps).toBe(0);
    expect(budget.spent().tokens).toBe(0);
  });

  it('has no limit when a person has started the window', async () => {
    const budget = createStepBudget({ reserve: undefined, price: undefined, engine: 'table' });
    const id = await budget.reserve({ prefill: 1e12, sample: 0, train: 0 }, 'sample');
    await budget.settle(id, { prefill: 1e12, sample: 0, train: 0 });
  });
});
