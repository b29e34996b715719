import { describe, expect, it } from 'vitest';
import { defaultScheduleRules } from '../../src/schedule/state.ts';
import { simulateMonth } from './simulate-month.ts';

describe('a simulated fortnight of a person who works, has meetings, sleeps and comes back at night', () => {
  it('starts no background job while they are present, stops it when they come back, and uses most of their absence', async () => {
    const month = await simulateMonth('fortnight', 14);
    const kinds = new Set(month.overlaps.map(({ kind }) => kind));
    expect([...kinds].sort()).toEqual(['evening', 'surprise at night', 'weekend', 'work']);
    expect(month.begunWhilePresent).toBe(0);
    for (const { beginsWith, ms } of month.overlaps)
      expect(ms).toBeLessThanOrEqual(beginsWith === 'request' ? 0 : defaultScheduleRules.busyPaceMs);
    // Some of them interrupted a job; otherwise the check above would be vacuous.
    expect(month.overlaps.filter(({ ms }) => ms > 0).length).toBeGreaterThan(3);
    expect(month.parts).toBeGreaterThan(month.done);
    expect(month.done).toBeGreaterThan(14);
    expect(month.workedMs / month.awayMs).toBeGreaterThan(0.6);
  });
});
