import type { Log } from '../base/log.ts';
import { Counter, Gauge, Histogram, Registry } from '../base/prometheus.ts';
import type { Config } from '../config/schema.ts';
import { type Budget, NOTHING_SPENT, type OpenBudget, type Spending } from '../core/budget.ts';
import type { Clock } from '../core/clock.ts';
import type { SchedulePhase } from '../core/fact.ts';
import type { JsonObject } from '../core/json.ts';
import type { Job, JobHistory, PresenceSource } from '../core/schedule.ts';
import type { Records } from '../core/store.ts';
import type { WaitingCode } from '../core/waiting.ts';
import { describeSchedule, findWindows } from './describe-schedule.ts';
import { BARREN_NIGHTS } from './job-history.ts';
import { openJobsBudget } from './jobs-budget.ts';
import {
  createLeases,
  type JobJournal,
  type Leases,
  type SharedSchedule,
  sharedJobs,
  shareLeases,
} from './leases.ts';
import { openSources } from './presence-sources.ts';
import { createScheduler, type Later, readSources, type ScheduleNews, type Scheduler } from './scheduler.ts';
import { defaultScheduleRules, type ScheduleRules } from './state.ts';
import { isQuiet, judgeWindow } from './step.ts';
import { worthwhileJobs } from './worthwhile-jobs.ts';

interface ScheduleOptions {
  readonly settings: Config['schedule'];
  readonly env: NodeJS.ProcessEnv;
  readonly homeDir: string;
  readonly records: Records;
  readonly clock: Clock;
  readonly newId: (prefix: string) => string;
  readonly log: Log;
  /** Creates the jobs; their histories say what earlier runs did. */
  readonly jobs: (leases: Leases) => readonly Job[];
  readonly slowWork?: SlowWork;
  /** Other processes schedule the same jobs. */
  readonly shared?: SharedSchedule | undefined;
  readonly openBudget?: OpenBudget | undefined;
}

/** Jobs and sources in place of the configured ones, for benchmarks and tests. */
export interface SlowWork {
  readonly jobs?: readonly Job[];
  readonly sources?: readonly PresenceSource[];
  readonly rules?: Partial<ScheduleRules>;
}

interface ServedSchedule {
  /** The settings have changed: presence is found out by the new ones. A running job goes on. */
  reload(): void;
  /** A request arrived or was answered. */
  noticeTraffic(inFlight: number): void;
  /** Jobs that pause, for `GET /api/status`. */
  waits(): readonly JsonObject[];
  /** For `GET /api/schedule`. */
  describe(): Promise<JsonObject>;
  /** A reservation of the day's budget of background jobs, for work that the scheduler does not run. Never rejects. */
  reserve: Budget['reserve'];
  /** What background jobs have used today. */
  spent(): Spending;
  /** For metrics. */
  text(): Promise<string>;
  close(): Promise<void>;
}

const LEASE_MS = 10 * 60_000;
const RETRY_MS = 10_000;
const TIMEOUT_MS = 5_000;
/** Not scheduled: learning follows the record within milliseconds, holds no lease and has its own budget. */
const LEARNING = { name: 'learning', needsWindow: false, note: 'runs whenever something was recorded' };

/** The daemon's scheduler. It starts once the record can be read; until then it retries. */
export function serveSchedule(options: ScheduleOptions): ServedSchedule {
  const { settings, env, homeDir, records, clock, newId, log, slowWork } = options;
  let lastActivity: number | undefined;
  const isWorker = options.shared?.isWorker === true;
  const served = isWorker ? {} : { lastActivity: () => lastActivity };
  const open = () => openSources({ settings, env, homeDir, clock, ...served });
  let opened = open();
  /** The scheduler reads this list; `reload` replaces its members. */
  const sources = [...(slowWork?.sources ?? opened.all)];
  const rules = { ...defaultScheduleRules, ...(isWorker ? { quietMs: 0 } : {}), ...slowWork?.rules };
  const journal = createRecordsJournal(records, clock);
  const { jobs, leases, pauses } = openJobs(options, journal);
  let scheduler: Scheduler | undefined;
  let budget: Budget | undefined;
  let again: NodeJS.Timeout | undefined;
  let isClosed = false;
  const metrics = createScheduleMetrics(() => scheduler?.state.phase ?? 'waiting');
  const onNews = (event: ScheduleNews): void => {
    metrics.count(event);
    logNews(log, event);
  };

  const begin = async (): Promise<void> => {
    try {
      const facts = (await Promise.all(jobs.map(({ name }) => journal.ofJob(name)))).flat();
      const { openBudget } = options;
      const openedBudget = await openJobsBudget({ settings, records, facts, clock, newId, openBudget });
      if (isClosed) return;
      budget = openedBudget;
      scheduler = createScheduler({ clock, later, sources, jobs, journal, leases, budget, rules, onNews });
    } catch (error) {
      log.warn({ err: error }, 'background jobs cannot be scheduled yet; retrying');
      again = setTimeout(() => void begin(), RETRY_MS);
      again.unref();
    }
  };
  const begun = begin();

  return {
    noticeTraffic: (inFlight) => {
      lastActivity = clock.monotonic();
      scheduler?.noticeTraffic(inFlight);
    },
    waits: () => [...pauses].map(describePause),
    describe: async () => {
      await begun;
      const described = await Promise.all(
        jobs.map(async ({ name, needsWindow }) => ({
          name,
          needsWindow,
          history: await leases.history(name),
        })),
      );
      const { planned } = opened;
      return describeNow({ settings, clock, jobs: described, sources, planned, rules, budget, scheduler });
    },
    reserve: async (most, work) => {
      await begun;
      return budget?.reserve(most, work) ?? { isGranted: false, why: 'the record cannot be read yet' };
    },
    spent: () => budget?.spent() ?? NOTHING_SPENT,
    text: metrics.text,
    reload: () => {
      if (isClosed) return;
      opened.close();
      opened = open();
      if (slowWork?.sources === undefined) sources.splice(0, sources.length, ...opened.all);
    },
    close: async () => {
      isClosed = true;
      clearTimeout(again);
      await begun;
      await scheduler?.close();
      opened.close();
    },
  };
}

interface ScheduleNow {
  readonly settings: Config['schedule'];
  readonly clock: Clock;
  readonly jobs: readonly (Pick<Job, 'name' | 'needsWindow'> & { readonly history: JobHistory })[];
  readonly sources: readonly PresenceSource[];
  readonly planned: readonly PresenceSource[];
  readonly rules: ScheduleRules;
  /** Undefined until the record can be read. */
  readonly budget: Budget | undefined;
  readonly scheduler: Scheduler | undefined;
}

/** What the scheduler does and why, and what each job did last. */
async function describeNow(schedule: ScheduleNow): Promise<JsonObject> {
  const { settings, clock, jobs, sources, planned, rules, budget } = schedule;
  const state = schedule.scheduler?.state;
  const now = clock.now();
  // Extra readings for this reply: they do not count as readings of the scheduler.
  const readings = await readSources(sources, now, AbortSignal.timeout(TIMEOUT_MS), later);
  const at = { wall: now, mono: clock.monotonic() };
  return describeSchedule({
    state: state?.phase ?? 'starting',
    reasons: state?.reasons ?? [],
    job: state?.job,
    sources,
    readings,
    limits: settings.budget,
    spent: budget?.spent() ?? NOTHING_SPENT,
    refusal: budget?.refusal(),
    jobs: [...jobs, LEARNING],
    planned: await findWindows(planned, now, AbortSignal.timeout(TIMEOUT_MS)),
    isAway: state !== undefined && judgeWindow(readings, isQuiet({ ...state, at }, rules)).isAway,
    now,
  });
}

const describePause = ([job, until]: readonly [string, number]): JsonObject => ({
  code: 'job-paused' satisfies WaitingCode,
  count: 1,
  what: `the background job ${job}`,
  why: `pauses: nothing came of it ${BARREN_NIGHTS} nights in a row`,
  nextAt: new Date(until).toISOString(),
});

/** The jobs and the right to run them; both agree with other processes where there are some. */
function openJobs(
  { clock, newId, shared, slowWork, records, jobs: createJobs }: ScheduleOptions,
  journal: JobJournal,
): {
  readonly jobs: readonly Job[];
  readonly leases: Leases;
  readonly pauses: ReadonlyMap<string, number>;
} {
  // The kernel lock on the home, or the job's right in a database, belongs to this process: earlier holders of leases are gone.
  const leases = createLeases({
    journal,
    clock,
    holder: newId('p'),
    newRun: () => newId('run'),
    isAlone: true,
    leaseMs: LEASE_MS,
  });
  const { history } = leases;
  const pauses = new Map<string, number>();
  const jobs = worthwhileJobs(slowWork?.jobs ?? createJobs(leases), { history, records, clock, pauses });
  if (shared === undefined) return { jobs, leases, pauses };
  return { jobs: sharedJobs(jobs, shared), leases: shareLeases(leases, jobs, shared), pauses };
}

const later: Later = (ms, run) => {
  const timer = setTimeout(run, ms);
  timer.unref();
  return () => clearTimeout(timer);
};

function logNews(log: Log, event: ScheduleNews): void {
  if (event.type === 'fault') log.warn({ err: event.error }, event.what);
  else if (event.type === 'refused')
    log.info(
      { job: event.job, why: event.why },
      'background job stops: its next step does not fit into the budget of the day',
    );
  else if (event.type === 'moved')
    log.info({ from: event.from, to: event.to, why: event.reasons }, `background jobs: ${event.to}`);
  else if (event.type === 'ended') {
    const { job, end, tookMs } = event;
    if (end.end === 'failed') log.warn({ job, why: end.why, tookMs }, 'background job failed');
    else log.info({ job, end: end.end, note: end.note, tookMs }, 'background job ended');
  }
}

/** The scheduler's journal in the record. */
export const createRecordsJournal = (records: Records, clock: Clock): JobJournal => ({
  append: async (fact, key) => {
    const at = Math.round(clock.now());
    const [appended] = await records.append([{ at, fact, ...(key === undefined ? {} : { key }) }]);
    return appended?.isNew ?? false;
  },
  ofJob: (job) => records.events(`job/${job}`),
  ofRun: (run) => records.events(`run/${run}`),
});

interface ScheduleMetrics {
  count(event: ScheduleNews): void;
  text(): Promise<string>;
}

const PHASES: readonly SchedulePhase[] = ['waiting', 'open', 'running', 'pausing'];

/** Prometheus metrics of background jobs. */
function createScheduleMetrics(phase: () => SchedulePhase): ScheduleMetrics {
  const registry = new Registry();
  const registers = [registry];
  new Gauge({
    name: 'instar_schedule_state',
    help: 'State of the scheduler: 1 for the current state, 0 for the others',
    labelNames: ['state'],
    registers,
    collect() {
      const now = phase();
      for (const state of PHASES) this.set({ state }, state === now ? 1 : 0);
    },
  });
  const windows = new Counter({
    name: 'instar_schedule_windows_total',
    help: 'Windows for background jobs that opened',
    registers,
  });
  const seconds = new Counter({
    name: 'instar_schedule_work_seconds_total',
    help: 'Seconds of background work, by job',
    labelNames: ['job'],
    registers,
  });
  const ends = new Counter({
    name: 'instar_schedule_parts_total',
    help: 'Parts of background jobs, by job and how they ended',
    labelNames: ['job', 'end'],
    registers,
  });
  const pauses = new Counter({
    name: 'instar_schedule_pauses_total',
    help: 'Times that a background job was asked to stop',
    registers,
  });
  const latency = new Histogram({
    name: 'instar_schedule_pause_seconds',
    help: 'Seconds from detecting a person to the job having stopped',
    buckets: [0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15],
    registers,
  });
  return {
    count: (event) => {
      if (event.type === 'moved') {
        if (event.from === 'waiting' && event.to === 'open') windows.inc();
        if (event.to === 'pausing') pauses.inc();
      } else if (event.type === 'paused') latency.observe(event.tookMs / 1000);
      else if (event.type === 'ended') {
        seconds.inc({ job: event.job }, event.tookMs / 1000);
        ends.inc({ job: event.job, end: event.end.end });
      }
    },
    text: () => registry.metrics(),
  };
}
