import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { planRestart, RESTART_RULE, type RestartRule } from '../../train/engine-process.ts';

const rules: fc.Arbitrary<RestartRule> = fc.record({
  firstMs: fc.integer({ min: 1, max: 1_000 }),
  longestMs: fc.integer({ min: 1_000, max: 100_000 }),
  told: fc.integer({ min: 1, max: 9 }),
  wellAfterMs: fc.integer({ min: 1, max: 100_000 }),
});

describe('the restart rule', () => {
  it('waits longer after each consecutive exit, up to its longest pause, and logs only the first exits', () => {
    let last = 0;
    fc.assert(
      fc.property(rules, fc.integer({ min: 2, max: 60 }), (rule, count) => {
        const plans: ReturnType<typeof planRestart>[] = [];
        for (let inARow = 0; inARow < count; )
          ({ inARow } = plans[plans.push(planRestart(inARow, 0, rule)) - 1] ?? { inARow: count });
        const pauses = plans.map(({ pauseMs }) => pauseMs);
        expect(pauses[0]).toBe(rule.firstMs);
        expect(pauses).toEqual(pauses.toSorted((a, b) => a - b));
        expect(Math.max(...pauses)).toBeLessThanOrEqual(rule.longestMs);
        const tellings = plans.map(({ telling }) => telling);
        expect(tellings.filter((one) => one === 'each')).toHaveLength(Math.min(count, rule.told - 1));
        expect(tellings.filter((one) => one === 'last')).toHaveLength(count >= rule.told ? 1 : 0);
        if (tellings.includes('last')) last++;
      }),
    );
    expect(last).toBeGreaterThan(10);
  });

  it('counts from one again after a long uptime (not after a short one)', () => {
    const { wellAfterMs } = RESTART_RULE;
    expect(planRestart(7, wellAfterMs)).toMatchObject({ inARow: 1, pauseMs: RESTART_RULE.firstMs });
    expect(planRestart(7, wellAfterMs - 1)).toMatchObject({ inARow: 8, telling: 'none' });
  });

  it('reaches its longest pause and stays there, however often the process exits', () => {
    expect(planRestart(5_000, 0).pauseMs).toBe(RESTART_RULE.longestMs);
  });
});
