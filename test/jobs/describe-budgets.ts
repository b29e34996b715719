import { afterEach, describe, expect, it } from 'vitest';
import type { BudgetJournal, BudgetOptions } from '../../src/core/budget.ts';
import { addSpending, NOTHING_SPENT } from '../../src/core/budget.ts';
import type { Jobs } from '../../src/jobs/open-jobs.ts';

const WORK = { kind: 'call', model: 'local/m', purpose: 'evolve' };
const DAY = 'learn.budget';

/** What every kind of budget promises. `open` gives the jobs of one process of a store, `again` those of another one. */
export function describeBudgets(
  title: string,
  open: () => { readonly one: Jobs; readonly again: () => Jobs },
): void {
  const opened: Jobs[] = [];
  const jobs = () => {
    const { one, again } = open();
    opened.push(one);
    return {
      one,
      again: () => {
        const other = again();
        opened.push(other);
        return other;
      },
    };
  };
  const options = (more: Partial<BudgetOptions> = {}): BudgetOptions => ({
    ...{ budget: 'learning', limits: { tokens: 1000, usd: 1 }, setting: DAY },
    ...more,
  });
  afterEach(async () => {
    for (const one of new Set(opened.splice(0))) await one.close();
  });

  describe(title, () => {
    it('counts what is reserved until it is settled, and then what was used', async () => {
      const budget = await jobs().one.openBudget(options());
      const first = await budget.reserve({ tokens: 600, usd: 0.5, calls: 1 }, WORK);
      expect(first.isGranted).toBe(true);
      expect(budget.spent()).toMatchObject({ tokens: 600, usd: 0.5, calls: 1 });
      expect(await budget.reserve({ tokens: 500 }, WORK)).toMatchObject({
        isGranted: false,
        why: expect.stringContaining('learn.budget.tokensPerDay'),
      });
      if (first.isGranted) {
        await first.settle({ tokens: 100, usd: 0.1, calls: 1 });
        await first.settle({ tokens: 900 });
      }
      expect(budget.spent()).toEqual(addSpending(NOTHING_SPENT, { tokens: 100, usd: 0.1, calls: 1 }));
      expect((await budget.reserve({ tokens: 900, usd: 0.9 }, WORK)).isGranted).toBe(true);
      expect(budget.refusal()).toBeUndefined();
    });

    it('refuses what passes a limit by itself, and what has no known price where no money is allowed', async () => {
      const budget = await jobs().one.openBudget(options({ limits: { usd: 0 } }));
      expect(await budget.reserve({ usd: 0.01 }, WORK)).toMatchObject({ isGranted: false });
      expect(await budget.reserve({ unpriced: 10 }, WORK)).toMatchObject({
        isGranted: false,
        why: expect.stringContaining('the price of local/m is unknown'),
      });
      expect((await budget.reserve({ tokens: 10 }, WORK)).isGranted).toBe(true);
    });

    it('begins with what was spent before, and says when nothing is left', async () => {
      const budget = await jobs().one.openBudget(options({ spent: { tokens: 1000, usd: Number.NaN } }));
      expect(budget.spent()).toMatchObject({ tokens: 1000, usd: 0 });
      expect(budget.refusal()).toContain('learn.budget.tokensPerDay');
      expect((await budget.reserve({ tokens: 1 }, WORK)).isGranted).toBe(false);
    });

    it('counts at once what cannot be reserved', async () => {
      const budget = await jobs().one.openBudget(options({ limits: { ms: 1000 } }));
      budget.spend({ ms: 999 });
      expect(budget.refusal()).toBeUndefined();
      budget.spend({ ms: 1 });
      expect(budget.refusal()).toContain('minutes');
    });

    it('tells a journal before it grants, and refuses when the journal cannot write', async () => {
      const told: string[] = [];
      const journal: BudgetJournal = {
        reserved: async (_, most) => {
          if (most.tokens === 13) throw new Error('the disk is full');
          told.push(`reserved ${most.tokens}`);
          return 'entry';
        },
        settled: async (_, entry, used) => void told.push(`settled ${entry} ${used.tokens}`),
      };
      const budget = await jobs().one.openBudget(options({ journal }));
      const held = await budget.reserve({ tokens: 7 }, WORK);
      if (held.isGranted) await held.settle({ tokens: 5 });
      expect(told).toEqual(['reserved 7', 'settled entry 5']);
      expect(await budget.reserve({ tokens: 13 }, WORK)).toMatchObject({
        isGranted: false,
        why: expect.stringContaining('the disk is full'),
      });
      expect(budget.spent().tokens).toBe(5);
    });

    it('grants calls at the same time only what the limit has room for', async () => {
      const budget = await jobs().one.openBudget(options());
      const all = await Promise.all(Array.from({ length: 30 }, () => budget.reserve({ tokens: 100 }, WORK)));
      expect(all.filter(({ isGranted }) => isGranted)).toHaveLength(10);
      expect(budget.spent().tokens).toBe(1000);
    });
  });
}
