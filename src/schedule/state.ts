import type { SchedulePhase } from '../core/fact.ts';
import type { JobEnd, Presence } from '../core/schedule.ts';

/** One moment on both clocks: `wall` can be set and says what time it is, `mono` cannot and says how long. */
export interface Moment {
  readonly wall: number;
  readonly mono: number;
}

/** All in milliseconds. */
export interface ScheduleRules {
  /** A request within this time means that someone is there. */
  readonly quietMs: number;
  /** Looks in a row that have to say that nobody is there. To close, one is enough. */
  readonly looksToOpen: number;
  /** A window that is known to be shorter is left alone, unless the job is shorter still. */
  readonly minimumMs: number;
  /** What a job has to reach its safe point, once it was told to stop. */
  readonly graceMs: number;
  /** The clocks may part by this much between two events before it counts as a jump. */
  readonly jumpMs: number;
  /** Nothing happened for this long, though there should have been looks: the machine was asleep. */
  readonly gapMs: number;
  /** Between looks: while something runs or a window is about to open, and otherwise. */
  readonly busyPaceMs: number;
  readonly idlePaceMs: number;
  /** After a failure; doubles with each one in a row up to the longest. */
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
  restMs: 60_000,
  longestRestMs: 6 * 3_600_000,
};

export interface ScheduleState {
  readonly phase: SchedulePhase;
  /** Why it is in this phase, or why it is still. */
  readonly reasons: readonly string[];
  /** When the last event came. */
  readonly at: Moment | undefined;
  /** Looks in a row that said that nobody is there. */
  readonly looks: number;
  readonly readings: readonly Presence[];
  /** When a request last came or was answered, monotonic. */
  readonly trafficAt: number | undefined;
  readonly inFlight: number;
  /** The job that has the window. */
  readonly job: string | undefined;
  /** Jobs that run without one. */
  readonly beside: readonly string[];
  /** Jobs that did not stop when they were told to: left alone, and not begun again before they end. */
  readonly stuck: readonly string[];
  readonly rests: Readonly<Record<string, Rest>>;
  readonly isClosing: boolean;
}

export interface Rest {
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
  /** A request came in or was answered; `inFlight` are being served now. */
  | { readonly type: 'traffic'; readonly inFlight: number }
  /** `lost`: someone else has the work. */
  | { readonly type: 'ended'; readonly job: string; readonly end: JobEnd['end'] | 'lost' }
  | { readonly type: 'grace-over'; readonly job: string }
  | { readonly type: 'budget-spent' }
  | { readonly type: 'closing' }
);

export type ScheduleEffect =
  | { readonly type: 'start'; readonly job: string }
  /** The job's signal aborts. */
  | { readonly type: 'abort'; readonly job: string; readonly reasons: readonly string[] }
  /** It did not stop: whatever it still does no longer counts. */
  | { readonly type: 'abandon'; readonly job: string }
  | {
      readonly type: 'tell';
      readonly from: SchedulePhase;
      readonly to: SchedulePhase;
      readonly reasons: readonly string[];
      readonly job: string | undefined;
    };
