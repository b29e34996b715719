import type { DaemonApi } from '../core/daemon-api.ts';
import type { JsonObject } from '../core/json.ts';
import type { Job } from '../core/schedule.ts';
import { createConsolidationJob } from '../learn/memory/serve-memory.ts';
import { createReviewJob, type ReviewJobOptions } from '../lessons/review-job.ts';

type ConsolidateCommand = (request: JsonObject, signal?: AbortSignal) => Promise<JsonObject>;

/** Consolidation on demand, in the learning thread. */
export const createConsolidateApi = (command: ConsolidateCommand): Pick<DaemonApi, 'consolidate'> => ({
  consolidate: ({ apply }) => command({ do: 'consolidate', apply: apply === true }),
});

/** The jobs that look after the library in quiet hours. */
export const createLibraryJobs = (
  options: ReviewJobOptions & Parameters<typeof createConsolidationJob>[0],
): readonly Job[] => [createReviewJob(options), createConsolidationJob(options)];
