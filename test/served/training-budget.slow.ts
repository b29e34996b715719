import path from 'node:path';
import { expect, it } from 'vitest';
import type { BudgetedWork, Spending } from '../../src/core/budget.ts';
import { systemClock } from '../../src/core/clock.ts';
import { asObject } from '../../src/core/json.ts';
import { createDayBudget } from '../../src/cost/day-budget.ts';
import { createDayRefusals } from '../../src/schedule/jobs-budget.ts';
import { startForeignEngine } from '../support/foreign-engine.ts';
import { MODELS } from '../train/policy/models.ts';
import { openTrainingEnvironment, removeFolder, runWindow } from './training-environment.ts';

it('a training window spends tokens of the background jobs’ budget, and the step that would overrun pauses it', async () => {
  const { training } = await openTrainingEnvironment({
    override: { tuning: { seed: 1, mostPairs: 1, size: { steps: 1, groups: 2 } } },
  });
  /** The job as the scheduler runs it: a refusal aborts its signal. */
  const runJob = async (tokens: number) => {
    const stop = new AbortController();
    const budget = createDayBudget({ limits: { tokens }, setting: 'schedule.budget', clock: systemClock });
    const refusals = createDayRefusals(budget, () => stop.abort());
    const reserved: { readonly work: BudgetedWork; readonly most: Partial<Spending> }[] = [];
    const end = await training
      .job(async () => ({ run: undefined, lastDone: undefined }))
      .run({
        run: 'r',
        from: undefined,
        signal: stop.signal,
        checkpoint: async () => undefined,
        spend: () => undefined,
        reserve: (most, work) => {
          reserved.push({ most, work });
          return refusals.reserveFor('training')(most, work);
        },
      });
    return { end, spent: budget.spent(), reserved, isRefused: refusals.isRefused('training') };
  };

  const first = await runJob(10_000_000);
  expect(first.end).toMatchObject({ end: 'done' });
  expect(first.spent.tokens).toBeGreaterThan(100);
  // The embedded engine costs nothing, which is a known price.
  expect(first.spent).toMatchObject({ usd: 0, unpriced: 0 });
  expect(first.reserved[0]?.work).toEqual({ kind: 'training step', model: 'nano', purpose: 'sample' });
  expect(first.isRefused).toBe(false);

  const most = first.reserved[0]?.most.tokens ?? 0;
  const second = await runJob(most * 2);
  expect(second.end).toMatchObject({ end: 'paused' });
  expect(second.isRefused).toBe(true);
  expect(second.spent.tokens).toBeLessThanOrEqual(most * 2);
});

it('a server of unknown price is not called for training before a limit is set, by a window or by practice', async () => {
  const engine = {
    tinker: 'https://train.example',
    baseModel: 'acme/small-1',
    tokenizer: path.join(MODELS, 'qwen'),
  };
  const { training, daemon, dir, api } = await openTrainingEnvironment({ train: { engine } });
  try {
    const expected = expect.stringMatching(/train\.engine\.price.*schedule\.budget\.tokensPerDay/);
    await expect(runWindow(training, {})).rejects.toMatchObject({ category: 'user', message: expected });
    expect(await training.practice.begin('instar/small-1')).toEqual({ ok: false, why: expected });
    const job = training.job(async () => ({ run: undefined, lastDone: undefined }));
    expect(await job.isReady()).toBe(false);
    expect((await api.training()).engineState).toBe('idle');
  } finally {
    await daemon.close();
    removeFolder(dir);
  }
});

it('a window that a person starts on a server that costs money is limited by the day’s budget, too', async () => {
  const engine = await startForeignEngine();
  // Eight replies of 16 tokens may cost $12.80, and the day has $1.
  const price = { prefill: 0, sample: 100_000, train: 0 };
  const { training, daemon, dir, api } = await openTrainingEnvironment({
    train: { engine: { ...engine.entry, price }, steps: 1 },
    env: engine.env,
  });
  try {
    expect((await runWindow(training, {})).at(-1)).toMatchObject({
      type: 'stuck',
      why: expect.stringContaining('schedule.budget.usdPerDay'),
    });
    expect(asObject((await api.schedule()).budget).spent).toMatchObject({ tokens: 0, usd: 0 });
  } finally {
    await daemon.close();
    await engine.close();
    removeFolder(dir);
  }
});
