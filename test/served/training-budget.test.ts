import { expect, it } from 'vitest';
import type { BudgetedWork, Spending } from '../../src/core/budget.ts';
import { systemClock } from '../../src/core/clock.ts';
import { createDayBudget } from '../../src/cost/day-budget.ts';
import { createDayRefusals } from '../../src/schedule/jobs-budget.ts';
import { openTrainingEnvironment } from './training-environment.ts';

it('a training window spends tokens of the background jobs’ budget, and the step that would overrun pauses it', async () => {
  const { training } = await openTrainingEnvironment({ train: { steps: 1 } });
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
}, 120_000);
