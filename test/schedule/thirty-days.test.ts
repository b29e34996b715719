import { describe, expect, it } from 'vitest';
import { simulateMonth } from '../../lab/measure/schedule/simulate-month.ts';
import { defaultScheduleRules } from '../../src/schedule/state.ts';

describe('thirty days of a person who works, meets, sleeps and is back at two in the morning', () => {
  it('begins no slow work while they are there, stops it when they come, and uses most of the time they are away', async () => {
    const month = await simulateMonth('thirty days');
    const kinds = new Set(month.overlaps.map(({ kind }) => kind));
    expect([...kinds].sort()).toEqual(['evening', 'surprise at night', 'weekend', 'work']);
    expect(month.begunWhilePresent).toBe(0);
    for (const { beginsWith, ms } of month.overlaps)
      expect(ms).toBeLessThanOrEqual(beginsWith === 'request' ? 0 : defaultScheduleRules.busyPaceMs);
    // Some of them did interrupt something, or the law above would have been about nothing.
    expect(month.overlaps.filter(({ ms }) => ms > 0).length).toBeGreaterThan(3);
    expect(month.parts).toBeGreaterThan(month.done);
    expect(month.done).toBeGreaterThan(30);
    expect(month.workedMs / month.awayMs).toBeGreaterThan(0.6);
  }, 60_000);
});
