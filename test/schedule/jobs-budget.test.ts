import { describe, expect, it } from 'vitest';
import type { Job } from '../../src/core/schedule.ts';
import { toRecords } from '../../src/record/records.ts';
import { createMemoryStore } from '../../src/record/store/memory-store.ts';
import { openJobsBudget, readJobSpending } from '../../src/schedule/jobs-budget.ts';
import { createLeases } from '../../src/schedule/leases.ts';
import { createScheduler, type ScheduleNews } from '../../src/schedule/scheduler.ts';
import { createRecordsJournal } from '../../src/schedule/serve-schedule.ts';
import { defaultScheduleRules } from '../../src/schedule/state.ts';
import { createVirtualTime } from './virtual-time.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const WORK = { kind: 'training step', model: 'tinker', purpose: 'train' };
const LIMITS = { tokensPerDay: 1000, usdPerDay: 1 };
/** Nine in the morning, here. */
const START = new Date(2026, 10, 2, 9).getTime();

/** A machine on which nobody is present, with one job that takes a step of 300 tokens a minute until it is stopped. */
function createWorld(limits = LIMITS, stepUsd = 0) {
  const time = createVirtualTime(START);
  const records = toRecords(createMemoryStore(), time.clock.now);
  const journal = createRecordsJournal(records, time.clock);
  const news: ScheduleNews[] = [];
  let ids = 0;
  const newId = (prefix: string): string => `${prefix}-${++ids}`;
  const seen = { parts: 0, steps: 0, refused: 0 };
  const job: Job = {
    name: 'training',
    priority: 1,
    needsWindow: true,
    estimate: () => MINUTE,
    isReady: async () => true,
    run: async ({ signal, reserve, checkpoint }) => {
      seen.parts++;
      for (let step = 0; !signal.aborted; step++) {
        const held = await reserve({ tokens: 300, usd: stepUsd }, WORK);
        if (!held.isGranted) seen.refused++;
        else {
          await new Promise<void>((resolve) => {
            time.later(MINUTE, resolve);
          });
          await held.settle({ tokens: 250, usd: stepUsd });
          seen.steps++;
          await checkpoint(String(step));
        }
      }
      return { end: 'paused' };
    },
  };
  const boot = async () => {
    const facts = await journal.ofJob(job.name);
    const budget = await openJobsBudget({
      settings: { budget: limits },
      records,
      facts,
      clock: time.clock,
      newId,
    });
    const leases = createLeases({
      journal,
      clock: time.clock,
      holder: newId('p'),
      newRun: () => newId('run'),
      isAlone: true,
      leaseMs: 10 * MINUTE,
    });
    const source = {
      name: 'sleep',
      sees: 'nobody',
      read: async () => ({ source: 'sleep', state: 'away' as const, why: 'asleep' }),
    };
    const scheduler = createScheduler({
      clock: time.clock,
      later: time.later,
      sources: [source],
      jobs: [job],
      journal,
      leases,
      budget,
      rules: defaultScheduleRules,
      onNews: (one) => news.push(one),
    });
    return { scheduler, budget };
  };
  return { time, records, journal, boot, seen, news };
}

describe('a background job', () => {
  it('is stopped by the step that would pass the tokens of the day, and not started again before midnight', async () => {
    const { time, boot, seen, news } = createWorld();
    const { scheduler, budget } = await boot();
    await time.pass(2 * HOUR);
    // Three steps of 250, and a fourth that may take 300 does not fit into 1,000.
    expect(seen).toEqual({ parts: 1, steps: 3, refused: 1 });
    expect(budget.spent().tokens).toBe(750);
    const why = news.flatMap((one) => (one.type === 'refused' ? [one.why] : []));
    expect(why).toEqual([
      '750 tokens of 1,000 tokens a day are used up, and the next training step may take 300 tokens; the day ends at midnight (schedule.budget.tokensPerDay)',
    ]);
    await time.pass(12 * HOUR);
    expect(seen.parts).toBe(1);
    await time.pass(2 * HOUR);
    expect(seen).toMatchObject({ parts: 2, steps: 6 });
    await scheduler.close();
  });

  it('spends money: the step that would pass the dollars of the day is refused', async () => {
    const { time, boot, seen } = createWorld({ ...LIMITS, tokensPerDay: 1_000_000 }, 0.4);
    const { scheduler, budget } = await boot();
    await time.pass(2 * HOUR);
    expect(seen).toMatchObject({ steps: 2, refused: 1 });
    expect(budget.spent().usd).toBeCloseTo(0.8, 10);
    await scheduler.close();
  });

  it('spends minutes: it is stopped when they are used up', async () => {
    const { time, boot, seen } = createWorld({ tokensPerDay: 1_000_000, usdPerDay: 1 });
    const { scheduler, budget } = await boot();
    await time.pass(9 * HOUR);
    expect(seen.parts).toBe(1);
    expect(budget.refusal()).toContain('a day are used up');
    expect(budget.spent().ms).toBeGreaterThanOrEqual(480 * MINUTE);
    expect(budget.spent().ms).toBeLessThanOrEqual(482 * MINUTE);
    await scheduler.close();
  });

  it('that is killed in a step has spent what it had reserved (not only what it had checkpointed)', async () => {
    const { time, records, journal, boot, seen } = createWorld();
    await boot();
    while (seen.steps < 2) await time.pass(MINUTE / 2);
    await time.pass(MINUTE / 4);
    time.forget();
    const facts = await journal.ofJob('training');
    expect(await readJobSpending(records, facts, time.clock.now())).toMatchObject({
      tokens: 250 + 250 + 300,
    });
    const { scheduler, budget } = await boot();
    expect(budget.spent().tokens).toBe(800);
    await time.pass(2 * HOUR);
    expect(seen).toMatchObject({ steps: 2, refused: 1 });
    await scheduler.close();
  });
});
