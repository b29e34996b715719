import type { Split } from '../../bench/workdays/world.ts';
import type { RateSchedule } from '../../train/learning-rate.ts';
import type { Promotion } from '../../train/promotion.ts';
import type { ProfileName } from '../../train/tinker/profiles.ts';
import type { StepSettings } from '../../train/train-step.ts';

/** One window of training, as plain data: it is carried out in a thread of its own. */
export interface TrainingPlan {
  readonly engine: EnginePlace;
  /** Whose words the policy speaks: the embedded one's, or a model's whose tokenizer lies in this folder. */
  readonly template: 'nano' | { readonly folder: string };
  /** Of this engine's runs. */
  readonly folder: string;
  /** To attempt and learn from, and others to be measured on. */
  readonly tasks: { readonly train: TaskChoice; readonly heldOut: TaskChoice };
  readonly steps: number;
  readonly rank: number;
  readonly batch: { readonly groups: number; readonly size: number };
  /** Whether single turns of live traffic are learned from besides. */
  readonly isLive: boolean;
  readonly tuning: Tuning;
  /** What is on trial when the window begins. */
  readonly promotion: Promotion;
  /** Versions that served and were turned back. */
  readonly turnedBack: readonly number[];
}

/** Where a server of Tinker's protocol is, and what it is. */
export interface EnginePlace {
  readonly url: string;
  readonly key?: string;
  readonly baseModel: string;
  readonly profile: ProfileName;
  /** Whether it is asked to prove that it computes what it says. */
  readonly isTested: boolean;
}

/** Tasks of the workdays in their short form, from one world after another. */
export interface TaskChoice {
  readonly split: Split;
  readonly seed: number;
  readonly count: number;
  /** `house`, `other`, or a file; the house's unless given. */
  readonly rules?: string;
  /** Rules that count: those of the first so many days, in every task; all of them unless given. */
  readonly since?: number;
}

export interface Tuning {
  /** The engine's own unless told. */
  readonly learningRate?: number;
  readonly schedule?: RateSchedule;
  readonly settings?: Partial<StepSettings>;
  readonly seed?: number;
  /** A trainer from which something was taken: what it then still learns, it did not learn from that. */
  readonly control?: 'shuffled-rewards' | 'no-lessons';
}
