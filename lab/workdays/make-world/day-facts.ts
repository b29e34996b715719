import type { DayWorld, Decision, Figure, Moment, Ticket } from '../world.ts';

/**
 * A day with all that its papers say, true or not: a paper may be out of date, an opinion, or wrong about another paper.
 * What is a fact here is that the paper says so; every question asks about that, so every answer can be looked up.
 */
export interface DayFacts {
  readonly day: DayWorld;
  /** One for each of the day's decisions. */
  readonly rulings: readonly Ruling[];
  /** One for each of the day's figures. */
  readonly findings: readonly Finding[];
  readonly assumptions: readonly Assumption[];
  readonly validations: readonly Validation[];
  /** Said in the meeting, decided by nobody. */
  readonly wishes: readonly Wish[];
  readonly estimates: readonly Estimate[];
  readonly reports: readonly Report[];
  readonly budgets: readonly Budget[];
  readonly citations: readonly Citation[];
}

export interface Ruling {
  readonly decision: Decision;
  readonly topic: string;
  readonly way: string;
  /** All that could have been chosen. */
  readonly ways: readonly string[];
  /** What the memo said before, and no longer does. */
  readonly earlier?: { readonly way: string; readonly by: string; readonly at: Moment };
}

/** A figure with what it was measured on. */
export interface Finding {
  readonly figure: Figure;
  readonly statistic: Statistic;
  readonly segment: string;
  readonly sample: number;
}

export type Statistic = 'median' | 'mean' | 'upper quartile' | 'lower quartile';

/** What the plan takes a figure to be; value, segment and source may differ from what was measured. */
export interface Assumption {
  readonly figure: Figure;
  readonly value: number;
  readonly segment: string;
  readonly source: string;
  readonly by: string;
}

export type Check = 'arithmetic' | 'source' | 'sample';
export const CHECKS: readonly Check[] = ['arithmetic', 'source', 'sample'];

/** Which questions somebody put to an assumption; the others were not asked. */
export interface Validation {
  readonly assumption: Assumption;
  readonly checks: readonly Check[];
  readonly by: string;
}

export interface Wish {
  readonly ruling: Ruling;
  readonly by: string;
  readonly way: string;
}

export interface Estimate {
  readonly figure: Figure;
  readonly by: string;
  readonly low: number;
  readonly high: number;
}

/** What somebody said of a ticket's state. The board may know better. */
export interface Report {
  readonly ticket: Ticket;
  readonly by: string;
  readonly state: Ticket['state'];
}

export interface Budget {
  readonly project: string;
  readonly planned: number;
  readonly spent: number;
}

/** A figure as a mail repeats it. */
export interface Citation {
  readonly figure: Figure;
  readonly value: number;
}
