import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Reservation, Spending } from '../../src/core/budget.ts';
import { createManualClock } from '../../src/core/clock.ts';
import type { StoredFact } from '../../src/core/fact.ts';
import { createDayBudget, localDay } from '../../src/cost/day-budget.ts';
import { createBudgetJournal, foldSpending, readSpending } from '../../src/cost/recorded-spending.ts';
import { toRecords } from '../../src/record/records.ts';
import { createMemoryStore } from '../../src/record/store/memory-store.ts';

const HOUR = 3_600_000;
const NOON = new Date(2026, 2, 14, 12).getTime();
const WORK = { kind: 'call', model: 'acme/foo', purpose: 'evolve' };

/** A machine whose wall clock can be set. */
function createSetClock() {
  let [wall, mono] = [NOON, 0];
  return {
    clock: { now: () => wall, monotonic: () => mono },
    pass: (ms: number, jump = 0) => {
      mono += ms;
      wall += ms + jump;
    },
  };
}

describe('a reservation', () => {
  it('is refused when it would pass a limit, and says which setting limits', async () => {
    const budget = createDayBudget({
      limits: { usd: 1, tokens: 1000 },
      setting: 'learn.budget',
      clock: createManualClock(NOON),
      spent: { usd: 0.98 },
    });
    const refused = await budget.reserve({ usd: 0.05, tokens: 10 }, WORK);
    expect(refused).toEqual({
      isGranted: false,
      why: '$0.98 of $1.00 a day are used up, and the next call may take $0.050; the day ends at midnight (learn.budget.usdPerDay)',
    });
    expect(await budget.reserve({ tokens: 2000 }, WORK)).toMatchObject({
      why: 'one call may take 2,000 tokens, more than the limit of 1,000 tokens a day (learn.budget.tokensPerDay)',
    });
    expect(budget.spent()).toMatchObject({ usd: 0.98, tokens: 0 });
  });

  it('comes back when less was used, and only once (not with every settlement)', async () => {
    const budget = createDayBudget({ limits: { tokens: 100 }, setting: 'x', clock: createManualClock(NOON) });
    const held = await budget.reserve({ tokens: 100 }, WORK);
    expect((await budget.reserve({ tokens: 1 }, WORK)).isGranted).toBe(false);
    expect(budget.refusal()).toBeUndefined();
    if (held.isGranted) for (const tokens of [40, 1, 1]) await held.settle({ tokens });
    expect(budget.spent().tokens).toBe(40);
    expect((await budget.reserve({ tokens: 60 }, WORK)).isGranted).toBe(true);
  });

  it('of yesterday that is settled today belongs to yesterday', async () => {
    const { clock, pass } = createSetClock();
    const budget = createDayBudget({ limits: { tokens: 100 }, setting: 'x', clock });
    const held = await budget.reserve({ tokens: 100 }, WORK);
    pass(13 * HOUR);
    expect((await budget.reserve({ tokens: 100 }, WORK)).isGranted).toBe(true);
    if (held.isGranted) await held.settle({ tokens: 100 });
    expect(budget.spent().tokens).toBe(100);
  });

  it('is refused when it cannot be recorded, and then holds nothing', async () => {
    const journal = {
      reserved: async () => Promise.reject(new Error('disk full')),
      settled: async () => undefined,
    };
    const budget = createDayBudget({
      limits: { tokens: 9 },
      setting: 'x',
      clock: createManualClock(NOON),
      journal,
    });
    expect(await budget.reserve({ tokens: 9 }, WORK)).toMatchObject({
      why: expect.stringContaining('disk full'),
    });
    expect(budget.spent().tokens).toBe(0);
  });

  it('ignores amounts that are no numbers', () => {
    const budget = createDayBudget({ limits: { usd: 1 }, setting: 'x', clock: createManualClock(NOON) });
    for (const usd of [Number.NaN, -5, 1]) budget.spend({ usd });
    expect(budget.refusal()).toContain('$1.00 a day are used up');
  });
});

type Step =
  | { readonly do: 'reserve'; readonly tokens: number; readonly usd: number }
  | { readonly do: 'settle'; readonly nth: number; readonly share: number }
  | { readonly do: 'pass'; readonly hours: number; readonly jump: number };

const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    fc.record({
      do: fc.constant('reserve' as const),
      tokens: fc.integer({ min: 0, max: 60 }),
      usd: fc.integer({ min: 0, max: 12 }),
    }),
    fc.record({
      do: fc.constant('settle' as const),
      nth: fc.nat(30),
      share: fc.constantFrom(0, 0.5, 1),
    }),
    fc.record({
      do: fc.constant('pass' as const),
      hours: fc.integer({ min: 0, max: 30 }),
      jump: fc.constantFrom(0, 0, 0, -48, 48, 87_600, -87_600),
    }),
  ),
  { maxLength: 60 },
);
const LIMITS = { tokens: 100, usd: 20 };

describe('whatever is reserved, settled, and however the clock moves', () => {
  it('what a day has spent and set aside never passes a limit', async () => {
    let granted = 0;
    await fc.assert(
      fc.asyncProperty(steps, async (list) => {
        const { clock, pass } = createSetClock();
        const budget = createDayBudget({ limits: LIMITS, setting: 'x', clock });
        const held: { readonly reservation: Reservation; readonly most: { tokens: number; usd: number } }[] =
          [];
        for (const step of list) {
          if (step.do === 'pass') pass(step.hours * HOUR, step.jump * HOUR);
          else if (step.do === 'reserve') {
            const { tokens, usd } = step;
            const before = budget.spent();
            const reservation = await budget.reserve({ tokens, usd }, WORK);
            const fits = before.tokens + tokens <= LIMITS.tokens && before.usd + usd <= LIMITS.usd;
            expect(reservation.isGranted).toBe(fits);
            if (reservation.isGranted) held.push({ reservation, most: { tokens, usd } });
            if (reservation.isGranted) granted++;
          } else {
            const one = held[step.nth % Math.max(1, held.length)];
            await one?.reservation.settle({
              tokens: one.most.tokens * step.share,
              usd: one.most.usd * step.share,
            });
          }
          const { tokens, usd } = budget.spent();
          expect(tokens).toBeLessThanOrEqual(LIMITS.tokens);
          expect(usd).toBeLessThanOrEqual(LIMITS.usd);
        }
      }),
      { numRuns: 300 },
    );
    expect(granted).toBeGreaterThan(300);
  });

  it('a process that is killed at any point leaves a record in which its open reservations count in full', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (list) => {
        const { clock, pass } = createSetClock();
        const store = createMemoryStore();
        const records = toRecords(store, clock.now);
        let ids = 0;
        const open = async () =>
          createDayBudget({
            limits: LIMITS,
            setting: 'x',
            clock,
            spent: await readSpending('learning', records, clock.now()),
            journal: createBudgetJournal({
              budget: 'learning',
              records,
              now: clock.now,
              newId: (prefix) => `${prefix}-${++ids}`,
            }),
          });
        let budget = await open();
        let held: Reservation[] = [];
        for (const step of list) {
          // A jump of years hides what was spent before it; here only time passes.
          if (step.do === 'pass') pass(step.hours * HOUR);
          else if (step.do === 'reserve') {
            const reservation = await budget.reserve(step, WORK);
            if (reservation.isGranted) held.push(reservation);
          } else if (step.share === 0.5) {
            // Killed and started again.
            const before = budget.spent();
            budget = await open();
            held = [];
            expect(budget.spent()).toEqual(before);
          } else await held[step.nth % Math.max(1, held.length)]?.settle({ tokens: step.share });
          expect(budget.spent().tokens).toBeLessThanOrEqual(LIMITS.tokens);
        }
      }),
      { numRuns: 60 },
    );
  });
});

describe('the recorded spending of a day', () => {
  const most: Spending = { calls: 1, tokens: 100, usd: 0.5, unpriced: 0, ms: 0 };
  const reserved = (reservation: string): StoredFact => ({
    seq: 1,
    at: NOON,
    fact: {
      type: 'budget-reserved',
      budget: 'learning',
      day: '2026-03-14',
      reservation,
      model: 'm',
      purpose: 'p',
      most,
    },
  });

  it('counts a settled reservation as used and an open one in full', () => {
    const used = { ...most, tokens: 10, usd: 0.1 };
    const settled: StoredFact = {
      seq: 2,
      at: NOON,
      fact: { type: 'budget-settled', budget: 'learning', day: '2026-03-14', reservation: 'a', used },
    };
    expect(foldSpending([reserved('a'), reserved('b'), settled])).toEqual({
      calls: 2,
      tokens: 110,
      usd: 0.6,
      unpriced: 0,
      ms: 0,
    });
  });

  it('counts what is dated two days ahead, since the clock may have been set back, but not what is years ahead', async () => {
    const records = toRecords(createMemoryStore(), () => NOON);
    const days = [0, 2, 3, 3650].map((ahead) => localDay(NOON + ahead * 24 * HOUR));
    for (const [nth, day] of days.entries()) {
      const { fact } = reserved(String(nth));
      if (fact.type === 'budget-reserved') await records.append([{ at: NOON, fact: { ...fact, day } }]);
    }
    expect((await readSpending('learning', records, NOON)).calls).toBe(2);
    expect((await readSpending('jobs', records, NOON)).calls).toBe(0);
  });
});
