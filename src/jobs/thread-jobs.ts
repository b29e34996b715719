import type { Log } from '../base/log.ts';
import { sleep } from '../base/sleep.ts';
import type { OpenBudget } from '../core/budget.ts';
import type { Clock } from '../core/clock.ts';
import { errorMessage } from '../core/failure.ts';
import type { JobQueue } from '../core/jobs.ts';
import { asObject, isObject, toJson } from '../core/json.ts';
import type { Attempt, AttemptOrder, MakeAttempt } from '../core/practice.ts';
import { isPgUrl } from '../record/pg-place.ts';
import { JOB_RULES, openJobs } from './open-jobs.ts';
import { type DoJob, type JobWork, type WorkNews, workJobs } from './work-jobs.ts';

interface ThreadJobsOptions {
  /** Where the record is. */
  readonly place: string;
  readonly clock: Clock;
  readonly newId: (prefix: string) => string;
  readonly log: Log;
}

interface TakeOptions {
  /** The model that attempts here; undefined while there is none. */
  readonly model: () => Promise<{ readonly name: string; readonly make: MakeAttempt } | undefined>;
  /** Why an attempt cannot be made on this machine. */
  readonly whyNot: (order: AttemptOrder) => Promise<string | undefined>;
}

/** The jobs of a store as the learning thread uses them. */
export interface ThreadJobs {
  readonly openBudget: OpenBudget;
  /** Makes attempts through the queue. */
  share(make: MakeAttempt, model: string, mayShare: (order: AttemptOrder) => boolean): MakeAttempt;
  /** Makes attempts that any process of the store asks for, until it is closed. Once is enough. */
  takeAttempts(options: TakeOptions): void;
  /** Takes no more attempts, and waits for those under way. */
  drain(): Promise<void>;
  close(): Promise<void>;
}

const AT_ONCE = 4;
const IDLE_MS = 1_000;
const GRACE_MS = 20_000;
/** Between two looks at an attempt that another process makes. */
const WAIT_MS = 300;

/** Undefined for the file of a home: one process has all the work then, and nothing is queued. */
export function openThreadJobs({ place, clock, newId, log }: ThreadJobsOptions): ThreadJobs | undefined {
  if (!isPgUrl(place)) return undefined;
  const jobs = openJobs({ place, clock, newId });
  let work: JobWork | undefined;
  return {
    openBudget: jobs.openBudget,
    share: (make, model, mayShare) => shareAttempts({ queue: jobs.queue, make, model, mayShare }),
    takeAttempts: ({ model, whyNot }) => {
      work ??= workJobs({
        queue: jobs.queue,
        atOnce: AT_ONCE,
        leaseMs: JOB_RULES.leaseMs,
        idleMs: IDLE_MS,
        clock,
        doing: async () => {
          const own = await model();
          return own === undefined ? {} : { [attemptKind(own.name)]: doAttempt(own.make, whyNot) };
        },
        onNews: (news) => logWork(log, news),
      });
    },
    drain: async () => work?.close(GRACE_MS),
    close: async () => {
      await work?.close(0);
      await jobs.close();
    },
  };
}

function logWork(log: Log, news: WorkNews): void {
  if (news.type === 'fault') log.warn({ err: news.error }, 'no jobs can be taken now');
  else {
    const { type, ...fields } = news;
    if (type === 'taken') log.info(fields, 'job taken');
    else if (type === 'done') log.info(fields, 'job done');
    else if (type === 'lost') log.warn(fields, 'job lost: another process has taken it over');
    else log.warn(fields, 'job failed');
  }
}

interface SharedAttemptsOptions {
  readonly queue: Pick<JobQueue, 'enqueue' | 'state' | 'forget'>;
  /** The name of the model that attempts: only processes that have the same one take the job. */
  readonly model: string;
  /** Makes an attempt here. */
  readonly make: MakeAttempt;
  /** Whether any other process could make it. */
  readonly mayShare: (order: AttemptOrder) => boolean;
}

/** Processes take the attempts of the model that they are configured with. */
const attemptKind = (model: string): string => `attempt ${model}`;

/**
 * Makes attempts through the queue: whichever process has time makes them, this one included. An attempt that is over is found by its id,
 * also by the successor of a session's process, so that it is made once. What nobody could make is made here.
 */
function shareAttempts(options: SharedAttemptsOptions): MakeAttempt {
  const { queue, make, mayShare } = options;
  const kind = attemptKind(options.model);
  return async (order, signal) => {
    if (!mayShare(order) || signal.aborted) return make(order, signal);
    const session = order.task.from?.session;
    const sessions = session === undefined ? {} : { sessions: [session] };
    const job = { kind, key: order.id, data: { order: toJson(order) }, ...sessions };
    try {
      const id = await queue.enqueue(job);
      for (;;) {
        if (signal.aborted) {
          // One that is under way goes on, and is found when the session continues.
          await queue.forget(kind, id);
          return await make(order, signal);
        }
        const state = await queue.state(kind, id);
        if (state.is === 'open') {
          await sleep(WAIT_MS, signal);
          continue;
        }
        const attempt = state.is === 'done' ? state.output.attempt : undefined;
        if (!isAttempt(attempt)) return await make(order, signal);
        // A failure of our own is not the attempt's last word: the next try is a new job.
        if (attempt.outcome.is === 'infrastructure') await queue.forget(kind, id);
        return attempt;
      }
    } catch (error) {
      const why = `the queue of jobs cannot be used: ${errorMessage(error)}`;
      return unmade(order, why);
    }
  };
}

/** Makes an attempt that another process asked for. */
const doAttempt =
  (make: MakeAttempt, whyNot: (order: AttemptOrder) => Promise<string | undefined>): DoJob =>
  async ({ data }, signal) => {
    const order = data.order as object as AttemptOrder;
    const why = await whyNot(order);
    // Another process may be able to.
    if (why !== undefined) throw new Error(why);
    const attempt = await make(order, signal);
    signal.throwIfAborted();
    return { attempt: toJson(attempt) };
  };

const isAttempt = (value: unknown): value is Attempt & typeof value =>
  isObject(value) && isObject(value.outcome) && typeof asObject(value.outcome).is === 'string';

const unmade = ({ id, task, shown }: AttemptOrder, why: string): Attempt => ({
  id,
  task: task.id,
  by: '',
  generation: shown.generation,
  lessons: shown.lessons,
  outcome: { is: 'infrastructure', why },
  output: '',
  steps: [],
  used: { calls: 0, tokens: 0, usd: 0, unpriced: 0, ms: 0 },
});
