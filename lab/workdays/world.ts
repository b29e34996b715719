/** What is true in the small company on one day. Documents, questions and tasks are all made from it, so they agree. */
export interface World {
  readonly company: string;
  readonly product: string;
  /** The first is the person the agent works for. */
  readonly people: readonly Person[];
  readonly projects: readonly string[];
}

interface Person {
  readonly name: string;
  readonly role: string;
}

/** A local date and time, without a zone. */
export interface LocalTime {
  readonly year: number;
  /** 1 to 12. */
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
}

export interface Decision {
  readonly id: string;
  readonly project: string;
  readonly at: LocalTime;
  readonly decision: string;
  readonly rationale: string;
  readonly by: string;
  readonly reviewAt: LocalTime;
}

export interface Ticket {
  /** A bare number, `412`. */
  readonly number: number;
  readonly title: string;
  readonly project: string;
  readonly owner: string;
  readonly state: 'todo' | 'doing' | 'done';
  readonly dueAt: LocalTime;
  readonly estimateHours: number;
}

export interface Deploy {
  readonly version: string;
  readonly project: string;
  readonly environment: 'staging' | 'production';
  readonly at: LocalTime;
  readonly by: string;
  readonly outcome: 'succeeded' | 'rolled back' | 'failed';
  readonly changes: readonly string[];
}

export interface MeasuredFigure {
  /** `monthly active stores` */
  readonly name: string;
  readonly project: string;
  readonly value: number;
  /** `EUR`, `ms`, `stores` */
  readonly unit: string;
  readonly source: string;
  readonly at: LocalTime;
}

/** One day of the company. */
export interface DayWorld {
  readonly world: World;
  /** Counted from 0. */
  readonly index: number;
  /** `day01` */
  readonly id: string;
  /** When the day begins; today's entries are written after this. */
  readonly today: LocalTime;
  readonly decisions: readonly Decision[];
  readonly tickets: readonly Ticket[];
  readonly deploys: readonly Deploy[];
  readonly figures: readonly MeasuredFigure[];
  /** 0 to 1: later days are harder. */
  readonly difficulty: number;
}

/** Worlds of different splits share no seed, no name and no task wording. */
export type Split = 'train' | 'gate' | 'report';
export const SPLITS: readonly Split[] = ['train', 'gate', 'report'];

/** `full`: documents to read, long tasks. `short`: everything in a few lines, for small policies. */
export type Form = 'full' | 'short';

/**
 * A day with the contents of its papers, true or not: a paper may be out of date, an opinion, or wrong about another paper.
 * Questions ask what a paper says, so every answer can be looked up.
 */
export interface DayFacts {
  readonly day: DayWorld;
  /** One for each of the day's decisions. */
  readonly rulings: readonly Ruling[];
  /** One for each of the day's figures. */
  readonly findings: readonly Finding[];
  readonly assumptions: readonly Assumption[];
  readonly validations: readonly Validation[];
  /** Opinions from the meeting, not decisions. */
  readonly wishes: readonly Wish[];
  readonly estimates: readonly Estimate[];
  readonly reports: readonly TicketReport[];
  readonly budgets: readonly ProjectBudget[];
  readonly citations: readonly Citation[];
}

export interface Ruling {
  readonly decision: Decision;
  readonly topic: string;
  readonly way: string;
  /** The alternatives, the chosen one included. */
  readonly ways: readonly string[];
  /** The entry that this one replaced. */
  readonly earlier?: { readonly way: string; readonly by: string; readonly at: LocalTime };
}

/** A figure with its statistic, segment and sample size. */
export interface Finding {
  readonly figure: MeasuredFigure;
  readonly statistic: Statistic;
  readonly segment: string;
  readonly sample: number;
}

export type Statistic = 'median' | 'mean' | 'upper quartile' | 'lower quartile';

/** A figure as the plan uses it; value, segment and source may differ from the measurement. */
export interface Assumption {
  readonly figure: MeasuredFigure;
  readonly value: number;
  readonly segment: string;
  readonly source: string;
  readonly by: string;
}

export type AssumptionCheck = 'arithmetic' | 'source' | 'sample';
export const CHECKS: readonly AssumptionCheck[] = ['arithmetic', 'source', 'sample'];

/** The checks that somebody made of an assumption. */
export interface Validation {
  readonly assumption: Assumption;
  readonly checks: readonly AssumptionCheck[];
  readonly by: string;
}

export interface Wish {
  readonly ruling: Ruling;
  readonly by: string;
  readonly way: string;
}

export interface Estimate {
  readonly figure: MeasuredFigure;
  readonly by: string;
  readonly low: number;
  readonly high: number;
}

/** What somebody said about a ticket's state; the board may differ. */
export interface TicketReport {
  readonly ticket: Ticket;
  readonly by: string;
  readonly state: Ticket['state'];
}

export interface ProjectBudget {
  readonly project: string;
  readonly planned: number;
  readonly spent: number;
}

/** A figure as quoted in the mail. */
export interface Citation {
  readonly figure: MeasuredFigure;
  readonly value: number;
}
