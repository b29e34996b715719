import type { Clock } from '../core/clock.ts';
import type { SchedulePhase } from '../core/fact.ts';
import type { Job, JobEnd, Presence, PresenceSource } from '../core/schedule.ts';
import { type DayBudget, NOTHING_SPENT } from './day-budget.ts';
import type { JobJournal, Leases } from './leases.ts';
import { type JobPart, startJobPart } from './run-part.ts';
import {
  initialState,
  type JobCandidate,
  type Moment,
  type ScheduleEffect,
  type ScheduleEvent,
  type ScheduleRules,
  type ScheduleState,
} from './state.ts';
import { paceOf, stepSchedule, stillWaiting } from './step.ts';

/** Runs it after so many milliseconds; the answer takes that back. */
export type Later = (ms: number, run: () => void) => () => void;

/** What happened, for logs and metrics. */
export type ScheduleNews =
  | {
      readonly type: 'moved';
      readonly from: SchedulePhase;
      readonly to: SchedulePhase;
      readonly reasons: readonly string[];
    }
  | { readonly type: 'ended'; readonly job: string; readonly end: JobEnd; readonly tookMs: number }
  /** From the moment a person was noticed to the moment the job had stopped. */
  | { readonly type: 'paused'; readonly job: string; readonly tookMs: number }
  | { readonly type: 'fault'; readonly what: string; readonly error: unknown };

interface SchedulerOptions {
  readonly clock: Clock;
  readonly later: Later;
  readonly sources: readonly PresenceSource[];
  readonly jobs: readonly Job[];
  readonly journal: JobJournal;
  readonly leases: Leases;
  readonly budget: DayBudget;
  readonly rules: ScheduleRules;
  readonly hear: (news: ScheduleNews) => void;
}

export interface Scheduler {
  readonly state: ScheduleState;
  /** A request came in or was answered: whoever is behind it is there. Does what follows from it before it returns. */
  noticeTraffic(inFlight: number): void;
  /** Stops all work, with its grace, and waits for it. */
  close(): Promise<void>;
}

interface Running {
  readonly stop: AbortController;
  readonly ended: Promise<void>;
  part?: JobPart;
  /** Monotonic, since it was told to stop. */
  toldAt?: number;
  takeBack?: () => void;
}

/** The machine that `step` describes, at work: asks who is there, runs jobs, writes down why. */
export function createScheduler(options: SchedulerOptions): Scheduler {
  const { clock, later, sources, jobs, journal, leases, budget, rules, hear } = options;
  const running = new Map<string, Running>();
  // Whoever started us is there; and when the last request came, an earlier process took with it.
  let state: ScheduleState = { ...initialState, trafficAt: clock.monotonic() };
  let looking: Promise<void> | undefined;
  let cancelLook: () => void = () => undefined;
  const closed = new AbortController();

  const moment = (): Moment => ({ wall: clock.now(), mono: clock.monotonic() });
  const dispatch = (event: DistributiveOmit<ScheduleEvent, 'at'>, at = moment()): void => {
    const stepped = stepSchedule(state, { ...event, at }, rules);
    state = stepped.state;
    for (const effect of stepped.effects) act(effect);
  };
  const act = (effect: ScheduleEffect): void => {
    switch (effect.type) {
      case 'start':
        begin(effect.job);
        break;
      case 'abort':
        tellToStop(effect.job, effect.reasons);
        break;
      case 'abandon':
        running
          .get(effect.job)
          ?.part?.abandon()
          .catch((error: unknown) =>
            hear({ type: 'fault', what: 'a job could not be ended on paper', error }),
          );
        break;
      case 'tell': {
        const { from, to, reasons, job } = effect;
        hear({ type: 'moved', from, to, reasons });
        journal
          .append({ type: 'schedule-changed', from, to, reasons, ...(job === undefined ? {} : { job }) })
          .catch((error: unknown) => hear({ type: 'fault', what: 'a change could not be kept', error }));
      }
    }
  };

  const begin = (name: string): void => {
    const job = jobs.find((one) => one.name === name);
    if (job === undefined) return;
    const stop = new AbortController();
    const entry: Running = { stop, ended: Promise.resolve().then(() => work(job, entry)) };
    running.set(name, entry);
  };
  const work = async (job: Job, entry: Running): Promise<void> => {
    const startedAt = clock.monotonic();
    let end: JobEnd | 'lost' = 'lost';
    try {
      const lease = await leases.take(job.name);
      // Someone may have come back while it was written down that we begin.
      if (lease !== undefined && entry.stop.signal.aborted) {
        end = { end: 'paused', note: 'stopped before it began' };
        await lease.end(end, NOTHING_SPENT);
      } else if (lease !== undefined) {
        entry.part = startJobPart({ job, lease, clock, signal: entry.stop.signal, spend });
        end = await entry.part.ended;
      }
    } catch (error) {
      hear({ type: 'fault', what: 'a job could not be taken up', error });
    }
    entry.takeBack?.();
    running.delete(job.name);
    const now = clock.monotonic();
    if (entry.toldAt !== undefined) hear({ type: 'paused', job: job.name, tookMs: now - entry.toldAt });
    if (end !== 'lost') hear({ type: 'ended', job: job.name, end, tookMs: now - startedAt });
    dispatch({ type: 'ended', job: job.name, end: end === 'lost' ? end : end.end });
    if (end !== 'lost' && !closed.signal.aborted) lookIn(0);
  };
  const tellToStop = (name: string, reasons: readonly string[]): void => {
    const entry = running.get(name);
    if (entry === undefined || entry.toldAt !== undefined) return;
    entry.toldAt = clock.monotonic();
    entry.takeBack = later(rules.graceMs, () => dispatch({ type: 'grace-over', job: name }));
    entry.stop.abort(new Error(reasons.join(', ')));
  };
  const spend: Parameters<typeof startJobPart>[0]['spend'] = (cost) => {
    budget.spend(cost);
    if (budget.refusal() !== undefined) dispatch({ type: 'budget-spent' });
  };

  const readyNow = async (): Promise<readonly JobCandidate[]> => {
    const found = await Promise.all(
      jobs.map(async (job): Promise<JobCandidate | undefined> => {
        try {
          const { name, priority, needsWindow } = job;
          if (running.has(name) || !(await job.isReady())) return undefined;
          return { name, priority, needsWindow, estimateMs: job.estimate() };
        } catch (error) {
          hear({ type: 'fault', what: `${job.name} cannot say whether it is ready`, error });
          return undefined;
        }
      }),
    );
    return found.filter((candidate) => candidate !== undefined);
  };
  const lookOnce = async (): Promise<void> => {
    const [readings, ready]: [readonly Presence[], readonly JobCandidate[]] = await Promise.all([
      readSources(sources, clock.now(), closed.signal, later),
      readyNow(),
    ]);
    for (const { part } of running.values()) part?.count();
    if (!closed.signal.aborted)
      dispatch({ type: 'look', readings, ready, isSpent: budget.refusal() !== undefined });
  };
  const look = (): Promise<void> => {
    looking ??= lookOnce().finally(() => {
      looking = undefined;
      lookIn(paceOf(state, rules));
    });
    return looking;
  };
  const lookIn = (ms: number): void => {
    cancelLook();
    if (!closed.signal.aborted) cancelLook = later(ms, () => void look());
  };
  lookIn(0);

  return {
    get state() {
      return state;
    },
    noticeTraffic: (inFlight) => {
      const at = moment();
      const next = stillWaiting(state, at, inFlight);
      if (next === undefined) dispatch({ type: 'traffic', inFlight }, at);
      else state = next;
    },
    close: async () => {
      closed.abort();
      cancelLook();
      dispatch({ type: 'closing' });
      await looking;
      await Promise.all([...running.values()].map((entry) => withinGrace(entry)));
    },
  };

  /** A job that does not stop is not waited for: its chain says where it was. */
  function withinGrace({ ended }: Running): Promise<void> {
    return new Promise((resolve) => {
      const takeBack = later(rules.graceMs, resolve);
      void ended.then(() => {
        takeBack();
        resolve();
      });
    });
  }
}

type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;

const PATIENCE_MS = 5_000;

/** Asks all at once. One that does not keep its word, by throwing or by never answering, says nothing about anyone. */
export async function readSources(
  sources: readonly PresenceSource[],
  now: number,
  signal: AbortSignal,
  later: (ms: number, run: () => void) => () => void,
): Promise<readonly Presence[]> {
  return Promise.all(sources.map((source) => readOne(source, now, signal, later)));
}

async function readOne(
  source: PresenceSource,
  now: number,
  signal: AbortSignal,
  later: (ms: number, run: () => void) => () => void,
): Promise<Presence> {
  const mute = (why: string): Presence => ({ source: source.name, state: 'unknown', why });
  let takeBack = (): void => undefined;
  const patience = new Promise<Presence>((resolve) => {
    takeBack = later(PATIENCE_MS, () => resolve(mute('it did not answer')));
  });
  try {
    return await Promise.race([source.read(now, signal), patience]);
  } catch (error) {
    return mute(`it failed: ${error instanceof Error ? error.message : String(error)}`);
  } finally {
    takeBack();
  }
}
