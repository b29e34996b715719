import type { Budget } from '../core/budget.ts';
import type { Clock } from '../core/clock.ts';
import type { SchedulePhase } from '../core/fact.ts';
import { errorMessage } from '../core/failure.ts';
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
import { paceOf, stepSchedule, TRAFFIC } from './step.ts';

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

interface RunningJob {
  readonly stop: AbortController;
  readonly ended: Promise<void>;
  part?: JobPart;
  /** When its signal aborted, monotonic. */
  abortedAt?: number;
  cancelGrace?: () => void;
}

interface Schedule {
  readonly options: SchedulerOptions;
  readonly running: Map<string, RunningJob>;
  /** Jobs whose next step the day's budget does not cover. */
  readonly refusals: ReturnType<typeof createDayRefusals>;
  readonly closed: AbortController;
  state: ScheduleState;
  looking: Promise<void> | undefined;
  cancelLook: () => void;
  /** When the jobs were last asked whether they are ready, monotonic. */
  askedAt: number;
}

/** Runs the state machine of `step`: reads the sources, runs jobs and records every change with its reasons. */
export function createScheduler(options: SchedulerOptions): Scheduler {
  const { clock, budget, onNews } = options;
  const schedule: Schedule = {
    options,
    running: new Map(),
    // The job stops at its next safe point; a smaller step would hardly be worth the rest of the budget.
    refusals: createDayRefusals(budget, (job, { why }) => {
      onNews({ type: 'refused', job, why });
      dispatch(schedule, { type: 'budget-spent' });
    }),
    closed: new AbortController(),
    // Starting the process counts as activity; when the last request before it came is not known.
    state: { ...initialState, trafficAt: clock.monotonic() },
    looking: undefined,
    cancelLook: () => undefined,
    askedAt: Number.NEGATIVE_INFINITY,
  };
  lookIn(schedule, 0);

  return {
    get state() {
      return schedule.state;
    },
    noticeTraffic: (inFlight) => {
      const at = momentOf(clock);
      const next = stillWaiting(schedule.state, at, inFlight);
      if (next === undefined) dispatch(schedule, { type: 'traffic', inFlight }, at);
      else schedule.state = next;
    },
    close: async () => {
      schedule.closed.abort();
      schedule.cancelLook();
      dispatch(schedule, { type: 'closing' });
      await schedule.looking;
      await Promise.all([...schedule.running.values()].map((entry) => withinGrace(entry, options)));
    },
  };
}

const momentOf = (clock: Clock): Moment => ({ wall: clock.now(), mono: clock.monotonic() });

function dispatch(
  schedule: Schedule,
  event: DistributiveOmit<ScheduleEvent, 'at'>,
  at = momentOf(schedule.options.clock),
): void {
  const { state, effects } = stepSchedule(schedule.state, { ...event, at }, schedule.options.rules);
  schedule.state = state;
  for (const effect of effects) act(schedule, effect);
}

function act(schedule: Schedule, effect: ScheduleEffect): void {
  const { journal, onNews } = schedule.options;
  const reportFault = (what: string) => (error: unknown) => onNews({ type: 'fault', what, error });
  switch (effect.type) {
    case 'start':
      beginJob(schedule, effect.job);
      break;
    case 'abort':
      abortJob(schedule, effect.job, effect.reasons);
      break;
    case 'abandon':
      schedule.running
        .get(effect.job)
        ?.part?.abandon()
        .catch(reportFault('the end of a job could not be recorded'));
      break;
    case 'tell': {
      const { from, to, reasons, job } = effect;
      onNews({ type: 'moved', from, to, reasons });
      journal
        .append({ type: 'schedule-changed', from, to, reasons, ...(job === undefined ? {} : { job }) })
        .catch(reportFault('a change of state could not be recorded'));
    }
  }
}

function beginJob(schedule: Schedule, name: string): void {
  const job = schedule.options.jobs.find((one) => one.name === name);
  if (job === undefined) return;
  const entry: RunningJob = {
    stop: new AbortController(),
    ended: Promise.resolve().then(() => runJob(schedule, job, entry)),
  };
  schedule.running.set(name, entry);
}

async function runJob(schedule: Schedule, job: Job, entry: RunningJob): Promise<void> {
  const { clock, onNews } = schedule.options;
  const startedAt = clock.monotonic();
  let end: JobEnd | undefined;
  try {
    end = await runPart(schedule, job, entry);
  } catch (error) {
    onNews({ type: 'fault', what: 'a job could not be started', error });
  }
  entry.cancelGrace?.();
  schedule.running.delete(job.name);
  const now = clock.monotonic();
  if (entry.abortedAt !== undefined) onNews({ type: 'paused', job: job.name, tookMs: now - entry.abortedAt });
  if (end !== undefined) onNews({ type: 'ended', job: job.name, end, tookMs: now - startedAt });
  dispatch(schedule, { type: 'ended', job: job.name, end: end?.end ?? 'lost' });
  if (end !== undefined && !schedule.closed.signal.aborted) lookIn(schedule, 0);
}

/** Undefined when another process holds the job's lease. */
async function runPart(schedule: Schedule, job: Job, entry: RunningJob): Promise<JobEnd | undefined> {
  const { clock, leases, budget } = schedule.options;
  const { signal } = entry.stop;
  const lease = await leases.take(job.name);
  if (lease === undefined) return undefined;
  // The job may have been aborted while its lease was being recorded.
  if (signal.aborted) {
    const end: JobEnd = { end: 'paused', note: 'stopped before it began' };
    await lease.end(end, NO_USAGE);
    return end;
  }
  entry.part = startJobPart({
    job,
    lease,
    clock,
    signal,
    spend: (cost) => {
      budget.spend(cost);
      if (budget.refusal() !== undefined) dispatch(schedule, { type: 'budget-spent' });
    },
    reserve: schedule.refusals.reserveFor(job.name),
  });
  return entry.part.ended;
}

function abortJob(schedule: Schedule, name: string, reasons: readonly string[]): void {
  const { clock, later, rules } = schedule.options;
  const entry = schedule.running.get(name);
  if (entry === undefined || entry.abortedAt !== undefined) return;
  entry.abortedAt = clock.monotonic();
  entry.cancelGrace = later(rules.graceMs, () => dispatch(schedule, { type: 'grace-over', job: name }));
  entry.stop.abort(new Error(reasons.join(', ')));
}

function lookIn(schedule: Schedule, ms: number): void {
  schedule.cancelLook();
  if (!schedule.closed.signal.aborted)
    schedule.cancelLook = schedule.options.later(ms, () => void look(schedule));
}

function look(schedule: Schedule): Promise<void> {
  schedule.looking ??= lookOnce(schedule).finally(() => {
    schedule.looking = undefined;
    lookIn(schedule, paceOf(schedule.state, schedule.options.rules));
  });
  return schedule.looking;
}

async function lookOnce(schedule: Schedule): Promise<void> {
  const { clock, later, sources, budget, rules } = schedule.options;
  const { signal } = schedule.closed;
  // Which other jobs are ready is asked less often than whether somebody is back.
  const isWatch =
    schedule.state.phase === 'running' && clock.monotonic() - schedule.askedAt < rules.busyPaceMs;
  if (!isWatch) schedule.askedAt = clock.monotonic();
  const [readings, ready]: [readonly Presence[], readonly JobCandidate[]] = await Promise.all([
    readSources(sources, clock.now(), signal, later),
    isWatch ? [] : findReadyJobs(schedule),
  ]);
  for (const { part } of schedule.running.values()) part?.count();
  if (!signal.aborted)
    dispatch(schedule, { type: 'look', readings, ready, isSpent: budget.refusal() !== undefined });
}

async function findReadyJobs({ options, running, refusals }: Schedule): Promise<readonly JobCandidate[]> {
  const candidates = await Promise.all(
    options.jobs.map(async (job): Promise<JobCandidate | undefined> => {
      try {
        const { name, priority, needsWindow } = job;
        if (running.has(name) || refusals.isRefused(name) || !(await job.isReady())) return undefined;
        return { name, priority, needsWindow, estimateMs: job.estimate() };
      } catch (error) {
        options.onNews({ type: 'fault', what: `${job.name} failed to tell whether it is ready`, error });
        return undefined;
      }
    }),
  );
  return candidates.filter((candidate) => candidate !== undefined);
}

/**
 * The result of `stepSchedule` for traffic while the scheduler waits, which has no effects; undefined in other phases. A
 * fast path: it runs twice per request.
 */
export function stillWaiting(before: ScheduleState, at: Moment, inFlight: number): ScheduleState | undefined {
  if (before.phase !== 'waiting') return undefined;
  // Member by member: spreading an object with a fractional number costs fifteen times as much.
  return {
    phase: before.phase,
    reasons: TRAFFIC,
    at,
    looks: 0,
    readings: before.readings,
    trafficAt: at.mono,
    inFlight,
    job: before.job,
    beside: before.beside,
    stuck: before.stuck,
    rests: before.rests,
    isClosing: before.isClosing,
  };
}

/** Waits for a job only for the grace period; its last checkpoint is in the journal. */
function withinGrace({ ended }: RunningJob, { later, rules }: SchedulerOptions): Promise<void> {
  return new Promise((resolve) => {
    const cancel = later(rules.graceMs, resolve);
    void ended.then(() => {
      cancel();
      resolve();
    });
  });
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
    return unknown(`it failed: ${errorMessage(error)}`);
  } finally {
    cancel();
  }
}
