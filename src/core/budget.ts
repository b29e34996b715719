/** US dollars for a million tokens. Without the two cache prices, cached input costs as much as other input. */
export interface Price {
  readonly input: number;
  readonly output: number;
  readonly cacheRead?: number | undefined;
  readonly cacheWrite?: number | undefined;
}

/** Where the price of a model comes from, and the price itself where there is one. Plain data. */
export type ModelPrice =
  /** `config`: the provider's entry names it. `list`: the dated table of list prices has it. */
  | { readonly from: 'config' | 'list'; readonly price: Price; readonly isLocal: boolean }
  /** `local`: a server on this machine, or the embedded engine. `subscription`: a program that its user pays otherwise. */
  | { readonly from: 'local' | 'subscription'; readonly price: Price; readonly isLocal: boolean }
  | { readonly from: 'unknown'; readonly isLocal: false };

/** The price of `provider/model`. */
export type Prices = (name: string) => ModelPrice;

/** What a piece of work uses. */
export interface Spending {
  readonly calls: number;
  readonly tokens: number;
  readonly usd: number;
  /** Of the tokens, those whose price is not known: `usd` does not contain them. */
  readonly unpriced: number;
  readonly ms: number;
}

/** The most per day; a missing limit does not limit. */
export type SpendingLimits = Readonly<Partial<Record<'calls' | 'tokens' | 'usd' | 'ms', number>>>;

/**
 * A budget per day. Work reserves the most that it may use before it begins, and settles what it did use. Reservations
 * count as spent until then, also after a crash, so that calls at the same time cannot pass a limit together.
 */
export interface Budget {
  readonly limits: SpendingLimits;
  /** Refused when any limit would be passed. What is granted is durable, where the budget has a journal. Never rejects. */
  reserve(most: Partial<Spending>, work: BudgetedWork): Promise<Reservation | BudgetRefusal>;
  /** Counts what cannot be reserved, such as passing time. */
  spend(used: Partial<Spending>): void;
  /** Why nothing more may be used today; undefined while no limit is reached. */
  refusal(): string | undefined;
  /** Today's: what was settled and what is reserved. */
  spent(): Spending;
  /** The day that is counted, such as `2026-11-16`. */
  day(): string;
}

/** What a budget of a day is made of, wherever it is kept. */
export interface BudgetOptions {
  /** `learning` or `jobs`. */
  readonly budget: string;
  readonly limits: SpendingLimits;
  /** The section of the config that has the limits, such as `learn.budget`. */
  readonly setting: string;
  /** What was spent today before this process started. */
  readonly spent?: Partial<Spending>;
  /** Makes reservations durable, or tells the record about them. */
  readonly journal?: BudgetJournal;
  /** What the limits are for; absent: a day. */
  readonly per?: 'minute' | 'day';
  /** Work is granted while something is left, and the last piece may pass the limit. Absent: what might pass it is refused. */
  readonly isLastPassed?: boolean;
}

export interface BudgetJournal {
  /** Durable when it resolves, with the name of the entry. A rejection refuses the reservation. */
  reserved(day: string, most: Spending, work: BudgetedWork): Promise<string>;
  /** A rejection leaves the reservation in the journal: after a restart it counts in full. */
  settled(day: string, entry: string, used: Spending): Promise<void>;
}

/** Opens a budget: in this process, or in a database for all processes that share it. */
export type OpenBudget = (options: BudgetOptions) => Promise<Budget>;

/** What a reservation is for. */
export interface BudgetedWork {
  /** `call` or `step`, for the refusal. */
  readonly kind: string;
  /** Whom it pays: the name of a model or an engine. */
  readonly model: string;
  /** `evolve`, `judge`, `sample` … */
  readonly purpose: string;
}

export interface Reservation {
  readonly isGranted: true;
  /** Replaces the reservation by what was used. Only the first call counts. Never rejects. */
  settle(used: Partial<Spending>): Promise<void>;
}

export interface BudgetRefusal {
  readonly isGranted: false;
  /** In words, with the setting that limits. */
  readonly why: string;
}

export const NOTHING_SPENT: Spending = { calls: 0, tokens: 0, usd: 0, unpriced: 0, ms: 0 };

/** A missing or invalid amount counts as 0: NaN would spoil the sum. */
export function addSpending(a: Spending, b: Partial<Spending>): Spending {
  const amount = (value: number | undefined): number =>
    value !== undefined && Number.isFinite(value) && value > 0 ? value : 0;
  return {
    calls: a.calls + amount(b.calls),
    tokens: a.tokens + amount(b.tokens),
    usd: a.usd + amount(b.usd),
    unpriced: a.unpriced + amount(b.unpriced),
    ms: a.ms + amount(b.ms),
  };
}

/** The subject of a budget's facts of one day, for `Records.events`. */
export const budgetSubject = (budget: string, day: string): string => `budget/${budget}/${day}`;

/** What a job of the scheduler has used. */
export interface JobUsage {
  readonly ms: number;
  readonly tokens: number;
  readonly usd: number;
  /** Of the tokens, those whose price is not known. */
  readonly unpriced?: number;
}
