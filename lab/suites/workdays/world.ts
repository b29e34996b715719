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

/** A day with what people decided, planned and guessed. */
export interface DayFacts {
  readonly day: DayWorld;
  /** One for each of the day's decisions. */
  readonly rulings: readonly Ruling[];
  readonly assumptions: readonly Assumption[];
  readonly estimates: readonly Estimate[];
  readonly budgets: readonly ProjectBudget[];
}

export interface Ruling {
  readonly decision: Decision;
  readonly topic: string;
  readonly way: string;
  /** The alternatives, the chosen one included. */
  readonly ways: readonly string[];
}

/** A figure as the plan uses it, which may differ from the measurement. */
export interface Assumption {
  readonly figure: MeasuredFigure;
  readonly value: number;
}

export interface Estimate {
  readonly figure: MeasuredFigure;
  readonly by: string;
  readonly low: number;
  readonly high: number;
}

export interface ProjectBudget {
  readonly project: string;
  readonly planned: number;
  readonly spent: number;
}
