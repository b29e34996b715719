import type { Speak } from '../../core/speak.ts';
import type { Report } from '../../pipeline/stage-outcome.ts';
import type { Condition, NightSeen } from '../row.ts';

/** A lesson as a report needs it. */
export interface BedLesson {
  readonly id: string;
  readonly name: string;
  readonly state: string;
  readonly text: string;
}

/** What a run is done on: Instar between an agent and a policy, under one condition, with a memory of its own. */
export interface Bed {
  readonly speak: Speak;
  /** The name by which the policy is asked for. */
  readonly model: string;
  /** What the user thinks of a turn, -1 to 1. Durable when it resolves. */
  judge(turn: string, score: number, note: string): Promise<void>;
  /** Where a pipeline reports its stages. */
  readonly report: Report;
  /** When all that happened has been learned from. */
  settle(): Promise<void>;
  lessons(): Promise<readonly BedLesson[]>;
  /** Milliseconds that the policy itself has taken so far. */
  policyMs(): number;
  /** What happens after a day while nobody is there, where weights are trained; undefined elsewhere. */
  readonly night?: (day: number, signal: AbortSignal, watch: WatchNight) => Promise<Night>;
  /** Keeps what was learned up to here, so that a run can go on after this day. */
  save(day: number): Promise<void>;
  close(): Promise<void>;
}

/** What a night of training came to. */
export type Night = Omit<NightSeen, 'condition' | 'seed' | 'day'>;

/** How far a night has come. */
export interface NightSoFar {
  readonly step: number;
  /** That it is to have. */
  readonly steps: number;
  /** Held-out tasks on which new weights were held against those that serve, once they are. */
  readonly pairs: number;
}
export type WatchNight = (soFar: NightSoFar) => void;

export interface BedOptions {
  readonly condition: Condition;
  readonly seed: number;
  /** The day after which to go on; undefined: from the beginning. */
  readonly after: number | undefined;
}

export type OpenBed = (options: BedOptions) => Promise<Bed>;
