import type { Log } from '../base/log.ts';
import type { Clock } from '../core/clock.ts';
import type { Fence } from '../core/jobs.ts';
import { compact, type JsonObject } from '../core/json.ts';
import { StoreError } from '../core/store.ts';
import { createLeadership } from './leadership.ts';
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
