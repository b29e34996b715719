import type { SchedulePhase } from '../core/fact.ts';
import type { JobEnd, Presence } from '../core/schedule.ts';

/** One moment on both clocks: `wall`, which can be set, for times of day; `mono`, which cannot, for durations. */
export interface Moment {
  readonly wall: number;
  readonly mono: number;
}

/** All in milliseconds. */
export interface ScheduleRules {
  /** A request within this time means that someone is present. */
  readonly quietMs: number;
  /** Consecutive readings of `away` that open a window. One other reading closes it. */
  readonly looksToOpen: number;
  /** Windows known to be shorter are not used, except for jobs that are shorter still. */
  readonly minimumMs: number;
  /** The time a job has to reach its safe point after its signal aborts. */
  readonly graceMs: number;
  /** A larger difference of the two clocks between two events counts as a jump. */
  readonly jumpMs: number;
  /** No event for this long, although readings were due, means that the machine was suspended. */
  readonly gapMs: number;
  /** Interval of readings while a job runs or a window is about to open, and otherwise. */
  readonly busyPaceMs: number;
  readonly idlePaceMs: number;
  /** Interval of readings of presence alone while a job runs: a person who comes back waits no longer than this. */
  readonly watchPaceMs: number;
  /** Back-off after a failure; doubles with each consecutive one up to the longest. */
  readonly restMs: number;
  readonly longestRestMs: number;
}

export const defaultScheduleRules: ScheduleRules = {
  quietMs: 5 * 60_000,
  looksToOpen: 2,
  minimumMs: 5 * 60_000,
  graceMs: 5_000,
  jumpMs: 30_000,
  gapMs: 5 * 60_000,
  busyPaceMs: 10_000,
  idlePaceMs: 60_000,
  watchPaceMs: 800,
  restMs: 60_000,
  longestRestMs: 6 * 3_600_000,
};

export interface ScheduleState {
  readonly phase: SchedulePhase;
  /** Why it entered this phase, or why it stays in it. */
  readonly reasons: readonly string[];
  /** The time of the last event. */
  readonly at: Moment | undefined;
  /** Consecutive readings of `away`. */
  readonly looks: number;
  readonly readings: readonly Presence[];
  /** When a request last arrived or was answered, monotonic. */
  readonly trafficAt: number | undefined;
  readonly inFlight: number;
  /** The job that runs in the window. */
  readonly job: string | undefined;
  /** Jobs that run without a window. */
  readonly beside: readonly string[];
  /** Jobs that did not stop within the grace period: not started again before they end. */
  readonly stuck: readonly string[];
  readonly rests: Readonly<Record<string, Rest>>;
  readonly isClosing: boolean;
}

interface Rest {
  /** Monotonic. */
  readonly until: number;
  readonly failures: number;
}

export const initialState: ScheduleState = {
  phase: 'waiting',
  reasons: ['just started'],
  at: undefined,
  looks: 0,
  readings: [],
  trafficAt: undefined,
  inFlight: 0,
  job: undefined,
  beside: [],
  stuck: [],
  rests: {},
  isClosing: false,
};

/** A job that has something to do. */
export interface JobCandidate {
  readonly name: string;
  readonly priority: number;
  readonly needsWindow: boolean;
  readonly estimateMs: number;
}

export type ScheduleEvent = { readonly at: Moment } & (
  | {
      readonly type: 'look';
      readonly readings: readonly Presence[];
      readonly ready: readonly JobCandidate[];
      /** Whether the day's budget is used up. */
      readonly isSpent: boolean;
    }
  /** A request arrived or was answered; `inFlight` are being served now. */
  | { readonly type: 'traffic'; readonly inFlight: number }
  /** `lost`: another process holds the lease. */
  | { readonly type: 'ended'; readonly job: string; readonly end: JobEnd['end'] | 'lost' }
  | { readonly type: 'grace-over'; readonly job: string }
  | { readonly type: 'budget-spent' }
  | { readonly type: 'closing' }
);

export type ScheduleEffect =
  | { readonly type: 'start'; readonly job: string }
  /** The job's signal aborts. */
  | { readonly type: 'abort'; readonly job: string; readonly reasons: readonly string[] }
  /** It did not stop in time: its further checkpoints are refused. */
  | { readonly type: 'abandon'; readonly job: string }
  | {
      readonly type: 'tell';
      readonly from: SchedulePhase;
      readonly to: SchedulePhase;
      readonly reasons: readonly string[];
      readonly job: string | undefined;
    };
