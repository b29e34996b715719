import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import type { NamedLeases } from '../../src/core/jobs.ts';
import { createLeadership, type Leadership } from '../../src/jobs/learning-lead.ts';
import { createMemoryLeases } from '../../src/jobs/memory-jobs.ts';

const LEASE_MS = 300;
const open: Leadership[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

function join(leases: NamedLeases, clock = systemClock) {
  const changes: boolean[] = [];
  const faults: unknown[] = [];
  const lead = createLeadership({
    ...{ leases, name: 'learning', leaseMs: LEASE_MS, clock },
    onChange: async (is) => void changes.push(is),
    onFault: (error) => faults.push(error),
  });
  open.push(lead);
  return { lead, changes, faults };
}

describe('the leader', () => {
  it('is one of those who ask, and another one as soon as it leaves', async () => {
    const leases = createMemoryLeases(systemClock, 'here');
    const [first, second] = [join(leases), join(leases)];
    await expect.poll(() => first.lead.isLeader()).toBe(true);
    expect(second.lead.isLeader()).toBe(false);
    await expect.poll(() => second.lead.leader()).toBe('here');
    await first.lead.close();
    expect(first.lead.isLeader()).toBe(false);
    await expect.poll(() => second.lead.isLeader(), { timeout: 100_000 }).toBe(true);
    expect([first.changes, second.changes]).toEqual([[true, false], [true]]);
  });

  it('knows by its own clock that its time is over, before it has asked anybody', async () => {
    let ahead = 0;
    const clock = { ...systemClock, monotonic: () => systemClock.monotonic() + ahead };
    const { lead } = join(createMemoryLeases(systemClock, 'here'), clock);
    await expect.poll(() => lead.isLeader()).toBe(true);
    // The process was stopped for longer than its lease.
    ahead = 10 * LEASE_MS;
    expect(lead.isLeader()).toBe(false);
  });

  it('stops when nobody answers for the time of its lease, tells that once, and leads again later', async () => {
    const leases = createMemoryLeases(systemClock, 'here');
    let isAway = false;
    const take: NamedLeases['take'] = async (...args) => {
      if (isAway) throw new Error('away');
      const lease = await leases.take(...args);
      return (
        lease && { ...lease, renew: async () => (isAway ? Promise.reject(new Error('away')) : lease.renew()) }
      );
    };
    const { lead, changes, faults } = join({ ...leases, take });
    await expect.poll(() => lead.isLeader()).toBe(true);
    isAway = true;
    await expect.poll(() => changes, { timeout: 100_000 }).toEqual([true, false]);
    isAway = false;
    await expect.poll(() => changes, { timeout: 100_000 }).toEqual([true, false, true]);
    expect(faults).toHaveLength(1);
  });
});
