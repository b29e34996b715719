import type { Log } from '../base/log.ts';
import type { Clock } from '../core/clock.ts';
import type { Fence, NamedLease, NamedLeases } from '../core/jobs.ts';
import { compact, type JsonObject } from '../core/json.ts';
import { StoreError } from '../core/store.ts';
import type { Jobs } from './open-jobs.ts';

interface LearningLeadOptions {
  readonly jobs: Pick<Jobs, 'isShared' | 'leases' | 'holder'>;
  /** Whether this process may learn for all. */
  readonly mayLead: boolean;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly log: Log;
  /** This process learns from now on, or no longer does. */
  readonly onChange: () => Promise<void>;
  /** Called while it leads: other processes may have recorded something. */
  readonly onLook: () => void;
}

/** Which process of a store learns. */
export interface LearningLead {
  isLeader(): boolean;
  /** Who learns, where it is another process. */
  leader(): string | undefined;
  /** For `status`: `{ learner: { holder, isThis } }`, without a holder while nobody learns; nothing where no store is shared. */
  describe(): JsonObject;
  /**
   * For what is learned here. Throws when another process may learn by now; one that begins to after this question makes the store
   * refuse what has this fence. Undefined where no store is shared.
   */
  fence(): Fence | undefined;
  close(): Promise<void>;
}

const NAME = 'learning';
const LEASE_MS = 9_000;
const LOOK_MS = 2_000;

/** One process of a store follows the record and learns; when it dies, another one does so within its lease and a third of it. */
export function createLearningLead(options: LearningLeadOptions): LearningLead {
  const { jobs, mayLead, clock, log, onChange, onLook } = options;
  const onlyOne = {
    isLeader: () => true,
    leader: () => undefined,
    fence: () => undefined,
    describe: () => ({}),
  };
  if (!jobs.isShared) return { ...onlyOne, close: async () => undefined };
  const lead = mayLead
    ? createLeadership({
        leases: jobs.leases,
        name: NAME,
        leaseMs: LEASE_MS,
        clock,
        onChange: async (is) => {
          log.info(
            { holder: jobs.holder },
            is ? 'this process learns for the store' : 'another process may learn',
          );
          await onChange();
        },
        onFault: (error) => log.warn({ err: error }, 'who learns cannot be agreed on now'),
      })
    : undefined;
  const isLeader = (): boolean => lead?.isLeader() ?? false;
  const timer = setInterval(() => {
    if (isLeader()) onLook();
  }, LOOK_MS);
  timer.unref();
  return {
    isLeader,
    leader: () => (isLeader() ? undefined : lead?.leader()),
    describe: () => ({ learner: compact({ holder: lead?.leader(), isThis: isLeader() }) }),
    fence: () => {
      const fence = lead?.fence();
      if (fence === undefined) throw new StoreError('fenced', 'another process of this store learns now');
      return fence;
    },
    close: async () => {
      clearInterval(timer);
      await lead?.close();
    },
  };
}

interface LeadershipOptions {
  readonly leases: NamedLeases;
  /** What is led, such as `learning`. */
  readonly name: string;
  readonly leaseMs: number;
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Called with each change; a call is over before the next one begins. */
  readonly onChange: (isLeader: boolean) => Promise<void>;
  readonly onFault: (error: unknown) => void;
}

/** The right of one process to do what only one may do. */
export interface Leadership {
  /**
   * Whether this process leads, by its own monotonic clock: a process that was stopped for longer than its lease knows it at once, before
   * it has asked anybody.
   */
  isLeader(): boolean;
  /** For what only the leader may write: the store compares the number of the lease again. Undefined when it does not lead. */
  fence(): Fence | undefined;
  /** Who leads, as far as it is known here. */
  leader(): string | undefined;
  /** Gives the lease back, so that another process leads at once. */
  close(): Promise<void>;
}

/** Somebody else may lead from here on: a part of the lease is left for clocks that run differently. */
const SAFE_PART = 0.8;

/** Asks for the lease three times in its duration, holds it while that succeeds, and asks again when it was lost. */
export function createLeadership(options: LeadershipOptions): Leadership {
  const { leases, name, leaseMs, clock, onChange, onFault } = options;
  let lease: NamedLease | undefined;
  /** Before the question was sent: the database counts from a later moment. */
  let since = Number.NEGATIVE_INFINITY;
  let holder: string | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  /** As the listener was last told. */
  let wasLeader = false;
  let isFaulty = false;

  const isLeader = (): boolean => lease !== undefined && clock.monotonic() - since < leaseMs * SAFE_PART;
  const tell = async (): Promise<void> => {
    const is = isLeader();
    if (is === wasLeader) return;
    wasLeader = is;
    await onChange(is);
  };
  const ask = async (): Promise<void> => {
    const askedAt = clock.monotonic();
    try {
      if (lease === undefined) lease = await leases.take([name], leaseMs);
      else if (!(await lease.renew())) lease = undefined;
      if (lease !== undefined) since = askedAt;
      holder = await leases.holder(name);
      isFaulty = false;
    } catch (error) {
      // The lease is kept as long as it lasts. One outage is told once.
      if (!isFaulty) onFault(error);
      isFaulty = true;
    }
  };
  const look = async (): Promise<void> => {
    await ask();
    // The time may have run out while nobody answered.
    if (!isLeader() && isFaulty) lease = undefined;
    await Promise.resolve(tell()).catch(onFault);
    if (isClosed) return;
    timer = setTimeout(() => {
      looking = look();
    }, leaseMs / 3);
    timer.unref();
  };
  let looking = look();

  return {
    isLeader,
    fence: () => (lease !== undefined && isLeader() ? { right: name, number: lease.fence } : undefined),
    leader: () => holder,
    close: async () => {
      isClosed = true;
      clearTimeout(timer);
      await looking;
      const last = lease;
      lease = undefined;
      await Promise.resolve(tell()).catch(onFault);
      // Without an answer the lease ends by itself.
      await last?.release().catch(() => undefined);
    },
  };
}
