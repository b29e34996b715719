import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import type { Job } from '../../src/core/schedule.ts';
import { createMemoryLeases } from '../../src/jobs/memory-jobs.ts';
import { NO_USAGE } from '../../src/schedule/job-history.ts';
import { createLeases, type JobJournal, sharedJobs, shareLeases } from '../../src/schedule/leases.ts';

/** Schedulers of three processes over one journal. */
function open(isReady: () => Promise<boolean>) {
  const facts = new Map<string, Parameters<JobJournal['append']>[0]>();
  let seq = 0;
  const journal: JobJournal = {
    append: async (fact, key = `${++seq}`) => {
      if (facts.has(key)) return false;
      facts.set(key, fact);
      return true;
    },
    ofJob: async () => [...facts.values()].map((fact, index) => ({ seq: index + 1, at: 0, fact })),
    ofRun: async () => [],
  };
  const rights = createMemoryLeases(systemClock, 'database');
  const job: Job = {
    ...{ name: 'night', priority: 1, needsWindow: true },
    estimate: () => 1,
    isReady,
    run: async () => ({ end: 'done' }),
  };
  return ['a', 'b', 'c'].map((holder) => {
    let isLeader = true;
    const shared = { leases: rights, mayRun: () => isLeader, isWorker: false };
    const own = createLeases({
      ...{ journal, clock: systemClock, holder, isAlone: true, leaseMs: 60_000 },
      newRun: () => `run-${holder}`,
    });
    const [ready] = sharedJobs([job], shared);
    return {
      ready,
      leases: shareLeases(own, [job], shared),
      follow: () => {
        isLeader = false;
      },
    };
  });
}

describe('the same night’s work on three gateways', () => {
  it('is begun by one of them, and not begun again by one that saw it ready before', async () => {
    let isDone = false;
    const [a, b, c] = open(async () => !isDone);
    const taken = await Promise.all([a, b, c].map((one) => one?.leases.take('night')));
    expect(taken.filter((one) => one !== undefined)).toHaveLength(1);
    expect(await b?.ready?.isReady()).toBe(false);
    isDone = true;
    await taken.find((one) => one !== undefined)?.end({ end: 'done' }, NO_USAGE);
    expect(await b?.leases.take('night')).toBeUndefined();
    // The right is free again: only the work is over.
    isDone = false;
    expect(await c?.ready?.isReady()).toBe(true);
    expect(await c?.leases.take('night')).toBeDefined();
  });

  it('is not ready where it may not run', async () => {
    const [a] = open(async () => true);
    expect(await a?.ready?.isReady()).toBe(true);
    a?.follow();
    expect(await a?.ready?.isReady()).toBe(false);
  });
});
