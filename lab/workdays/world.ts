/** What is true in the small company on one day. Documents, questions and tasks are all made from it, so they agree. */
export interface World {
  readonly company: string;
  readonly product: string;
  /** Whom the agent works for comes first. */
  readonly people: readonly Person[];
  readonly projects: readonly string[];
}

export interface Person {
  readonly name: string;
  readonly role: string;
}

/** A moment as people know it, without a zone. */
export interface Moment {
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
  readonly at: Moment;
  readonly decision: string;
  readonly rationale: string;
  readonly by: string;
  readonly reviewAt: Moment;
}

export interface Ticket {
  /** A bare number, `412`. */
  readonly number: number;
  readonly title: string;
  readonly project: string;
  readonly owner: string;
  readonly state: 'todo' | 'doing' | 'done';
  readonly dueAt: Moment;
  readonly estimateHours: number;
}

export interface Deploy {
  readonly version: string;
  readonly project: string;
  readonly environment: 'staging' | 'production';
  readonly at: Moment;
  readonly by: string;
  readonly outcome: 'succeeded' | 'rolled back' | 'failed';
  readonly changes: readonly string[];
}

export interface Figure {
  /** `monthly active stores` */
  readonly name: string;
  readonly project: string;
  readonly value: number;
  /** `EUR`, `ms`, `stores` */
  readonly unit: string;
  readonly source: string;
  readonly at: Moment;
}

/** One day of it. */
export interface DayWorld {
  readonly world: World;
  /** Counted from 0. */
  readonly index: number;
  /** `day01` */
  readonly id: string;
  /** When the day begins; what is written today is written after this. */
  readonly today: Moment;
  readonly decisions: readonly Decision[];
  readonly tickets: readonly Ticket[];
  readonly deploys: readonly Deploy[];
  readonly figures: readonly Figure[];
  /** 0 to 1: later days are harder. */
  readonly difficulty: number;
}

/** Train, gate and report worlds share no seed, no name and no wording that would give them away. */
export type Split = 'train' | 'gate' | 'report';
export const SPLITS: readonly Split[] = ['train', 'gate', 'report'];

/** `full`: documents to read, long tasks. `short`: everything in a few lines, for small policies. */
export type Form = 'full' | 'short';
