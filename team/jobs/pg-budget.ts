import {
  addSpending,
  type Budget,
  type BudgetedWork,
  type BudgetOptions,
  type BudgetRefusal,
  NOTHING_SPENT,
  type Reservation,
  type Spending,
} from '../../src/core/budget.ts';
import type { Clock } from '../../src/core/clock.ts';
import { errorMessage } from '../../src/core/failure.ts';
import { whyNotReserved, whyUsedUp } from '../../src/cost/day-budget.ts';
import type { PgSql } from '../postgres/pg-connection.ts';
import { AMOUNTS, type JobTables } from './job-tables.ts';

interface PgBudgetOptions extends BudgetOptions {
  readonly tables: JobTables;
  /** A name for this process that people can read. */
  readonly holder: string;
  readonly newId: (prefix: string) => string;
  readonly clock: Pick<Clock, 'monotonic'>;
}

/** What a day has. */
interface BudgetDay {
  readonly day: string;
  readonly spent: Spending;
  readonly held: Spending;
}

type HeldBudget =
  | { readonly ok: true; readonly day: BudgetDay }
  | { readonly ok: false; readonly why: string };

type Row = Readonly<Record<string, number>> & { readonly day: string };

const FRESH_MS = 5_000;
const NOW = { day: `to_char(now(), 'YYYY-MM-DD')`, minute: `to_char(now(), 'YYYY-MM-DD HH24:MI')` } as const;
const list = (prefix: string): string => AMOUNTS.map((name) => prefix + name).join(', ');
const valuesOf = (amounts: Spending): readonly number[] => AMOUNTS.map((name) => amounts[name]);
const given = (from: number): string => AMOUNTS.map((_, index) => `$${from + index}`).join(', ');
const added = (prefix: string, sign: '+' | '-', from: number): string =>
  AMOUNTS.map((name, index) => `${prefix}${name} = ${prefix}${name} ${sign} $${from + index}`).join(', ');

/** The rows of one budget in the database. */
function openBudgetRows({ tables: { pool, schema }, budget: name, holder, per = 'day' }: PgBudgetOptions) {
  /** Locks the row of today until the transaction ends. */
  const lockToday = async (sql: PgSql, first: Spending = NOTHING_SPENT): Promise<BudgetDay> => {
    const [row] = await sql.all<Row>(
      `insert into ${schema}.budgets as b (budget, day, ${list('spent_')}) values($1, ${NOW[per]}, ${given(2)})
       on conflict (budget, day) do update set budget = b.budget returning *`,
      [name, ...valuesOf(first)],
    );
    if (row === undefined) throw new Error('the budget of today has no row');
    return toDay(row);
  };
  return {
    /** `first`: what today's row has when it is new. */
    today: (first?: Spending): Promise<BudgetDay> => pool.transaction((sql) => lockToday(sql, first)),
    /** Reserves unless `refusal` of the day as it is gives a reason. */
    hold: (id: string, most: Spending, refusal: (today: BudgetDay) => string | undefined) =>
      pool.transaction(async (sql): Promise<HeldBudget> => {
        const today = await lockToday(sql);
        const why = refusal(today);
        if (why !== undefined) return { ok: false, why };
        await sql.run(
          `update ${schema}.budgets set ${added('held_', '+', 3)} where budget = $1 and day = $2`,
          [name, today.day, ...valuesOf(most)],
        );
        // A day leaves one row; minutes would leave very many.
        if (per === 'minute')
          await sql.run(`delete from ${schema}.budgets where budget = $1 and day < $2`, [name, today.day]);
        await sql.run(
          `insert into ${schema}.reservations(id, budget, day, holder, ${list('held_')}) values($1, $2, $3, $4, ${given(5)})`,
          [id, name, today.day, holder, ...valuesOf(most)],
        );
        return { ok: true, day: { ...today, held: addSpending(today.held, most) } };
      }),
    /** Ends a reservation; undefined when there is none of this id. */
    release: async (id: string, used: Spending): Promise<BudgetDay | undefined> => {
      const [row] = await pool.all<Row>(
        `with gone as (delete from ${schema}.reservations where id = $1 returning *)
         update ${schema}.budgets b set ${AMOUNTS.map((one) => `held_${one} = b.held_${one} - gone.held_${one}`).join(', ')},
           ${AMOUNTS.map((one, index) => `spent_${one} = b.spent_${one} + $${2 + index}`).join(', ')}
         from gone where b.budget = gone.budget and b.day = gone.day returning b.*`,
        [id, ...valuesOf(used)],
      );
      return row && toDay(row);
    },
    spend: (used: Spending): Promise<void> =>
      pool.transaction(async (sql) => {
        const { day } = await lockToday(sql);
        await sql.run(
          `update ${schema}.budgets set ${added('spent_', '+', 3)} where budget = $1 and day = $2`,
          [name, day, ...valuesOf(used)],
        );
      }),
  };
}

/**
 * The budget of a day in the database, for all processes of a store together: a reservation is granted while its row is locked. The day
 * is the database's, so that a wrong clock or another time zone gives no second day. What a dead process had reserved counts in full:
 * its call may have been made.
 */
export async function createPgBudget(options: PgBudgetOptions): Promise<Budget> {
  const { limits, setting, newId, clock, journal, isLastPassed = false } = options;
  const rows = openBudgetRows(options);
  // What was recorded today before the budget was in the database, such as by a home that was moved there.
  let newest = await rows.today(addSpending(NOTHING_SPENT, options.spent ?? {}));
  let readAt = clock.monotonic();
  let reading: Promise<void> | undefined;
  const learn = (row: BudgetDay): void => {
    newest = row;
    readAt = clock.monotonic();
  };
  const refresh = (): void => {
    if (reading !== undefined || clock.monotonic() - readAt < FRESH_MS) return;
    reading = rows
      .today()
      .then(learn)
      // What was read last is kept; a reservation asks the database itself.
      .catch(() => undefined)
      .finally(() => {
        readAt = clock.monotonic();
        reading = undefined;
      });
  };
  const release = async (id: string, used: Spending): Promise<void> => {
    const row = await rows.release(id, used);
    if (row !== undefined && row.day >= newest.day) learn(row);
  };
  const reserve = async (most: Spending, work: BudgetedWork): Promise<Reservation | BudgetRefusal> => {
    const id = newId('hold');
    const granted = await rows.hold(id, most, (today) => {
      learn(today);
      const spent = addSpending(today.spent, today.held);
      return isLastPassed ? whyUsedUp(spent, limits, setting) : whyNotReserved(spent, most, options, work);
    });
    if (!granted.ok) return { isGranted: false, why: granted.why };
    learn(granted.day);
    const entry = await journal?.reserved(granted.day.day, most, work).catch(async (error: unknown) => {
      await release(id, NOTHING_SPENT);
      throw error;
    });
    let isSettled = false;
    return {
      isGranted: true,
      settle: async (amounts) => {
        if (isSettled) return;
        isSettled = true;
        const used = addSpending(NOTHING_SPENT, amounts);
        // What cannot be settled counts in full.
        await release(id, used).catch(() => undefined);
        if (entry !== undefined) await journal?.settled(granted.day.day, entry, used).catch(() => undefined);
      },
    };
  };

  return {
    limits,
    reserve: async (wanted, work) => {
      try {
        return await reserve(addSpending(NOTHING_SPENT, wanted), work);
      } catch (error) {
        const why = errorMessage(error);
        return { isGranted: false, why: `what it may cost could not be recorded: ${why}` };
      }
    },
    spend: (amounts) => {
      const used = addSpending(NOTHING_SPENT, amounts);
      newest = { ...newest, spent: addSpending(newest.spent, used) };
      // Without an answer it is counted here alone, until the next one.
      void rows.spend(used).catch(() => undefined);
    },
    refusal: () => {
      refresh();
      return whyUsedUp(newest.spent, limits, setting);
    },
    spent: () => {
      refresh();
      return addSpending(newest.spent, newest.held);
    },
    day: () => {
      refresh();
      return newest.day;
    },
  };
}

const toDay = (row: Row): BudgetDay => ({
  day: row.day,
  spent: amountsOf(row, 'spent_'),
  held: amountsOf(row, 'held_'),
});

/** Sums of dollars are not exact: what was held and given back may leave less than nothing. */
const amountsOf = (row: Row, prefix: string): Spending =>
  addSpending(
    NOTHING_SPENT,
    Object.fromEntries(AMOUNTS.map((name) => [name, Math.max(0, Number(row[prefix + name]))])),
  );
