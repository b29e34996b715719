import type { Clock } from '../core/clock.ts';
import type { Fence, NamedLease, NamedLeases } from '../core/jobs.ts';

interface LeadershipOptions {
  readonly leases: NamedLeases;
  /** What is led, such as `learning`. */
  readonly name: string;
  readonly leaseMs: number;
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Called with each change; a call is over before the next one begins. */
  readonly onChange: (isLeader: boolean) => Promise<void> | void;
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
  let told = false;
  let isFaulty = false;

  const isLeader = (): boolean => lease !== undefined && clock.monotonic() - since < leaseMs * SAFE_PART;
  const tell = async (): Promise<void> => {
    const is = isLeader();
    if (is === told) return;
    told = is;
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
