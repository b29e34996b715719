import type { Log } from '../base/log.ts';
import type { OpenBudget } from '../core/budget.ts';
import type { Clock } from '../core/clock.ts';
import type { AttemptOrder, MakeAttempt } from '../core/practice.ts';
import { isPgUrl } from '../record/pg-place.ts';
import { JOB_RULES, openJobs } from './open-jobs.ts';
import { attemptKind, doAttempt, shareAttempts } from './share-attempts.ts';
import { type JobWork, type WorkNews, workJobs } from './work-jobs.ts';

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
interface ThreadJobs {
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
          const found = await model();
          return found === undefined ? {} : { [attemptKind(found.name)]: doAttempt(found.make, whyNot) };
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
