import { describe, expect, it } from 'vitest';
import { createManualClock } from '../../src/core/clock.ts';
import type { TrainDatum } from '../../src/core/training.ts';
import { createDayBudget } from '../../src/cost/day-budget.ts';
import {
  costOfStep,
  createStepBudget,
  findUnlimitedCost,
  type StepPrice,
  withinStepBudget,
  withStepBudget,
} from '../../train/step-budget.ts';
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
    createStepBudget({ reserve: budget.reserve, engine: 'table' }),
    price,
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
    const budget = createStepBudget({ reserve: undefined, engine: 'table' });
    const id = await budget.reserve({ tokens: 1e12 }, 'sample');
    await budget.settle(id, { tokens: 1e12 });
  });
});

describe('an engine that may cost money', () => {
  it('is not called for training while its price is unknown and nobody has set a limit', () => {
    const fault = findUnlimitedCost('small-1', undefined, false);
    expect(fault?.category).toBe('user');
    expect(fault?.message).toContain('train.engine.price');
    expect(fault?.message).toContain('schedule.budget.tokensPerDay');
    expect(findUnlimitedCost('small-1', undefined, true)).toBeUndefined();
    expect(findUnlimitedCost('small-1', { prefill: 1, sample: 1, train: 1 }, false)).toBeUndefined();
  });

  it('has its attempts paid by the session and by the day, and the smaller of both refuses', async () => {
    const clock = createManualClock();
    const day = createDayBudget({ limits: { usd: 0.5 }, setting: 'schedule.budget', clock });
    const session = createDayBudget({ limits: { usd: 2 }, setting: 'practice.budget', clock });
    const both = withinStepBudget(session, createStepBudget({ reserve: day.reserve, engine: 'table' }));
    const price = { prefill: 1, sample: 4, train: 0 };
    const most = costOfStep({ prefill: 0, sample: 100_000, train: 0 }, price);
    const work = { kind: 'attempt', model: 'instar/table', purpose: 'practice' };
    const first = await both.reserve(most, work);
    expect(first.isGranted).toBe(true);
    expect(await both.reserve(most, work)).toEqual({
      isGranted: false,
      why: expect.stringContaining('schedule.budget.usdPerDay'),
    });
    // What was refused holds nothing of the session's budget.
    expect(session.spent().usd).toBeCloseTo(0.4, 10);
    if (first.isGranted) await first.settle({ tokens: 1000, usd: 0.004 });
    expect([session.spent().usd, day.spent().usd]).toEqual([0.004, 0.004]);
  });
});
