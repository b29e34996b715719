import type { Budget } from '../core/budget.ts';
import type { Clock } from '../core/clock.ts';
import type { SchedulePhase } from '../core/fact.ts';
import type { Job, JobEnd, Presence, PresenceSource } from '../core/schedule.ts';
import { NO_USAGE } from './job-history.ts';
import { createDayRefusals } from './jobs-budget.ts';
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

/** A timer: calls `run` after `ms` milliseconds. The result cancels it. */
export type Later = (ms: number, run: () => void) => () => void;

/** Events for logs and metrics. */
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
  /** The day's budget does not cover the job's next step. */
  | { readonly type: 'refused'; readonly job: string; readonly why: string }
  | { readonly type: 'fault'; readonly what: string; readonly error: unknown };

interface SchedulerOptions {
  readonly clock: Clock;
  readonly later: Later;
  readonly sources: readonly PresenceSource[];
  readonly jobs: readonly Job[];
  readonly journal: JobJournal;
  readonly leases: Leases;
  readonly budget: Budget;
  readonly rules: ScheduleRules;
  readonly onNews: (news: ScheduleNews) => void;
}

export interface Scheduler {
  readonly state: ScheduleState;
  /** A request arrived or was answered, so someone is present. The state changes before this returns. */
  noticeTraffic(inFlight: number): void;
  /** Stops all jobs and waits for them, up to the grace period. */
  close(): Promise<void>;
}

interface Running {
  readonly stop: AbortController;
  readonly ended: Promise<void>;
  part?: JobPart;
  /** When its signal aborted, monotonic. */
  abortedAt?: number;
  cancelGrace?: () => void;
}

/** Runs the state machine of `step`: reads the sources, runs jobs and records every change with its reasons. */
export function createScheduler(options: SchedulerOptions): Scheduler {
  const { clock, later, sources, jobs, journal, leases, budget, rules, onNews } = options;
  const running = new Map<string, Running>();
  // Starting the process counts as activity; when the last request before it came is not known.
  let state: ScheduleState = { ...initialState, trafficAt: clock.monotonic() };
  let looking: Promise<void> | undefined;
  let cancelLook: () => void = () => undefined;
  let askedAt = Number.NEGATIVE_INFINITY;
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
        abortJob(effect.job, effect.reasons);
        break;
      case 'abandon':
        running
          .get(effect.job)
          ?.part?.abandon()
          .catch((error: unknown) =>
            onNews({ type: 'fault', what: 'the end of a job could not be recorded', error }),
          );
        break;
      case 'tell': {
        const { from, to, reasons, job } = effect;
        onNews({ type: 'moved', from, to, reasons });
        journal
          .append({ type: 'schedule-changed', from, to, reasons, ...(job === undefined ? {} : { job }) })
          .catch((error: unknown) =>
            onNews({ type: 'fault', what: 'a change of state could not be recorded', error }),
          );
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
      // The job may have been aborted while its lease was being recorded.
      if (lease !== undefined && entry.stop.signal.aborted) {
        end = { end: 'paused', note: 'stopped before it began' };
        await lease.end(end, NO_USAGE);
      } else if (lease !== undefined) {
        const { signal } = entry.stop;
        const reserve = refusals.reserveFor(job.name);
        entry.part = startJobPart({ job, lease, clock, signal, spend, reserve });
        end = await entry.part.ended;
      }
    } catch (error) {
      onNews({ type: 'fault', what: 'a job could not be started', error });
    }
    entry.cancelGrace?.();
    running.delete(job.name);
    const now = clock.monotonic();
    if (entry.abortedAt !== undefined)
      onNews({ type: 'paused', job: job.name, tookMs: now - entry.abortedAt });
    if (end !== 'lost') onNews({ type: 'ended', job: job.name, end, tookMs: now - startedAt });
    dispatch({ type: 'ended', job: job.name, end: end === 'lost' ? end : end.end });
    if (end !== 'lost' && !closed.signal.aborted) lookIn(0);
  };
  const abortJob = (name: string, reasons: readonly string[]): void => {
    const entry = running.get(name);
    if (entry === undefined || entry.abortedAt !== undefined) return;
    entry.abortedAt = clock.monotonic();
    entry.cancelGrace = later(rules.graceMs, () => dispatch({ type: 'grace-over', job: name }));
    entry.stop.abort(new Error(reasons.join(', ')));
  };
  const spend: Parameters<typeof startJobPart>[0]['spend'] = (cost) => {
    budget.spend(cost);
    if (budget.refusal() !== undefined) dispatch({ type: 'budget-spent' });
  };

  /** The job stops at its next safe point; a smaller step would hardly be worth the rest of the budget. */
  const refusals = createDayRefusals(budget, (job, { why }) => {
    onNews({ type: 'refused', job, why });
    dispatch({ type: 'budget-spent' });
  });

  const readyNow = async (): Promise<readonly JobCandidate[]> => {
    const found = await Promise.all(
      jobs.map(async (job): Promise<JobCandidate | undefined> => {
        try {
          const { name, priority, needsWindow } = job;
          if (running.has(name) || refusals.isRefused(name) || !(await job.isReady())) return undefined;
          return { name, priority, needsWindow, estimateMs: job.estimate() };
        } catch (error) {
          onNews({ type: 'fault', what: `${job.name} failed to tell whether it is ready`, error });
          return undefined;
        }
      }),
    );
    return found.filter((candidate) => candidate !== undefined);
  };
  const lookOnce = async (): Promise<void> => {
    // Which other jobs are ready is asked less often than whether somebody is back.
    const isWatch = state.phase === 'running' && clock.monotonic() - askedAt < rules.busyPaceMs;
    if (!isWatch) askedAt = clock.monotonic();
    const [readings, ready]: [readonly Presence[], readonly JobCandidate[]] = await Promise.all([
      readSources(sources, clock.now(), closed.signal, later),
      isWatch ? [] : readyNow(),
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

  /** Waits for a job only for the grace period; its last checkpoint is in the journal. */
  function withinGrace({ ended }: Running): Promise<void> {
    return new Promise((resolve) => {
      const cancel = later(rules.graceMs, resolve);
      void ended.then(() => {
        cancel();
        resolve();
      });
    });
  }
}

type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;

const TIMEOUT_MS = 5_000;

/** Reads all sources at once. A source that throws or does not answer in time counts as `unknown`. */
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
  const unknown = (why: string): Presence => ({ source: source.name, state: 'unknown', why });
  let cancel = (): void => undefined;
  const timedOut = new Promise<Presence>((resolve) => {
    cancel = later(TIMEOUT_MS, () => resolve(unknown('it did not answer')));
  });
  try {
    return await Promise.race([source.read(now, signal), timedOut]);
  } catch (error) {
    return unknown(`it failed: ${error instanceof Error ? error.message : String(error)}`);
  } finally {
    cancel();
  }
}
