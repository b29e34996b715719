import type { OpenBudget } from '../core/budget.ts';
import type { NamedLeases } from '../core/jobs.ts';
import { isPgUrl } from '../record/pg-place.ts';
import type { Jobs } from './open-jobs.ts';

/** What a process does of the work that the processes of a store share. */
export const WORK_KINDS = ['learning', 'attempts', 'training'] as const;
export type WorkKind = (typeof WORK_KINDS)[number];
export type WorkKinds = Readonly<Record<WorkKind, boolean>>;

/** Whether several processes can work for a record: it is in a PostgreSQL, and not in the file of a home. */
export const canShare = (storeUrl: string): boolean => isPgUrl(storeUrl);

/** The job of the scheduler that needs an engine, and not the process that learns. */
const TRAINING_JOB = 'training';

/** For the scheduler: budgets in the database, and each job in one process at a time. Nothing for the file of a home. */
export const sharedSchedule = (
  jobs: Pick<Jobs, 'isShared' | 'leases' | 'openBudget'>,
  isLeader: () => boolean,
  work: WorkKinds | undefined,
): {
  readonly shared?: {
    readonly leases: NamedLeases;
    readonly mayRun: (job: string) => boolean;
    readonly isWorker: boolean;
  };
  readonly openBudget?: OpenBudget;
} =>
  jobs.isShared
    ? {
        openBudget: jobs.openBudget,
        shared: {
          leases: jobs.leases,
          // Consolidation, reflection and practice are done in the learning thread of the leader.
          isWorker: work !== undefined,
          mayRun: (job) => (job === TRAINING_JOB ? (work?.training ?? true) : isLeader()),
        },
      }
    : {};
