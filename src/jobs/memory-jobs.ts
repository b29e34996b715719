import type { Clock } from '../core/clock.ts';
import type { JobQueue, JobRules, JobState, LeasedJob, NamedLeases, NewJob } from '../core/jobs.ts';

interface MemoryJob extends NewJob {
  readonly id: string;
  attempt: number;
  /** Monotonic: it waits until then, or belongs to somebody until then. */
  until: number;
  is: 'waiting' | 'taken' | 'over';
  state: JobState;
}

const OPEN: JobState = { is: 'open' };

/** The queue of a home that one process uses: nothing outlives it, and nobody else takes from it. */
export function createMemoryJobs(rules: JobRules, clock: Pick<Clock, 'monotonic'>): JobQueue {
  const jobs = new Map<string, MemoryJob>();
  const now = clock.monotonic;
  const end = (job: MemoryJob, why: string): void => {
    const isLast = job.attempt >= rules.attempts;
    job.is = isLast ? 'over' : 'waiting';
    job.state = isLast ? { is: 'failed', why } : OPEN;
    job.until = now() + rules.pauseMs * 2 ** (job.attempt - 1);
  };
  const expire = (): void => {
    for (const job of jobs.values())
      if (job.is === 'taken' && job.until <= now()) end(job, 'its process did not answer in time');
  };
  const lease = (job: MemoryJob): LeasedJob => {
    const { id, kind, key, data, attempt } = job;
    const isOurs = (): boolean => {
      expire();
      return jobs.get(id) === job && job.is === 'taken' && job.attempt === attempt;
    };
    const ifOurs = async (change: () => void): Promise<boolean> => {
      const is = isOurs();
      if (is) change();
      return is;
    };
    return {
      id,
      kind,
      key,
      data,
      attempt,
      isLast: attempt >= rules.attempts,
      renew: () =>
        ifOurs(() => {
          job.until = now() + rules.leaseMs;
        }),
      complete: (output) =>
        ifOurs(() => {
          job.is = 'over';
          job.state = { is: 'done', output };
        }),
      fail: (why) => ifOurs(() => end(job, why)),
    };
  };
  return {
    enqueue: async (job) => {
      const id = `${job.kind}\n${job.key}`;
      if (!jobs.has(id)) jobs.set(id, { ...job, id, attempt: 0, until: 0, is: 'waiting', state: OPEN });
      return id;
    },
    take: async (kinds) => {
      expire();
      const next = [...jobs.values()].find(
        (job) => kinds.includes(job.kind) && job.is === 'waiting' && job.until <= now(),
      );
      if (next === undefined) return undefined;
      next.is = 'taken';
      next.attempt++;
      next.until = now() + rules.leaseMs;
      return lease(next);
    },
    state: async (_, id) => {
      expire();
      return jobs.get(id)?.state ?? { is: 'unknown' };
    },
    forget: async (_, id) => {
      if (jobs.get(id)?.is !== 'taken') jobs.delete(id);
    },
    forgetSession: async (session) => {
      const about = [...jobs.values()].filter(({ sessions }) => sessions?.includes(session));
      for (const { id } of about) jobs.delete(id);
      return about.length;
    },
    close: async () => jobs.clear(),
  };
}

/** Rights within one process. */
export function createMemoryLeases(clock: Pick<Clock, 'monotonic'>, holder: string): NamedLeases {
  const held = new Map<string, { fence: number; until: number }>();
  const isFree = (name: string): boolean => (held.get(name)?.until ?? 0) <= clock.monotonic();
  return {
    take: async (names, leaseMs) => {
      const name = names.find(isFree);
      if (name === undefined) return undefined;
      const mine = { fence: (held.get(name)?.fence ?? 0) + 1, until: clock.monotonic() + leaseMs };
      held.set(name, mine);
      return {
        name,
        fence: mine.fence,
        renew: async () => {
          if (held.get(name) !== mine) return false;
          mine.until = clock.monotonic() + leaseMs;
          return true;
        },
        release: async () => {
          if (held.get(name) === mine) mine.until = 0;
        },
      };
    },
    holder: async (name) => (isFree(name) ? undefined : holder),
  };
}
