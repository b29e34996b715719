import type { DaemonApi } from '../core/daemon-api.ts';
import { compact, type JsonObject } from '../core/json.ts';
import type { Lesson } from '../core/lesson.ts';
import type { Library } from '../core/library.ts';
import type { Job } from '../core/schedule.ts';
import type { Records } from '../core/store.ts';
import { StoreError } from '../core/store.ts';
import { applyConsolidation, type MemoryChange, planConsolidation } from '../learn/memory/consolidate.ts';
import { type ConsolidationJobOptions, createConsolidationJob } from '../learn/memory/consolidation-job.ts';
import { changedLessonId, encodeChange } from '../lessons/codec.ts';
import { readTrials } from '../lessons/effect/fold-trials.ts';
import type { OpenLessons } from '../lessons/open-lessons.ts';
import { createReviewJob } from '../lessons/review-job.ts';

interface ConsolidateParts {
  /** Undefined while the record cannot be read. */
  readonly open: () => OpenLessons | undefined | Promise<OpenLessons>;
  readonly records: Pick<Records, 'events'>;
  readonly now: () => number;
}

/** Consolidation when a person asks for it: also of lessons that people wrote, and of areas that were just practised. */
export const createConsolidateApi = (parts: ConsolidateParts): Pick<DaemonApi, 'consolidate'> => ({
  consolidate: async ({ apply }) => {
    const opened = await parts.open();
    if (opened === undefined) throw new StoreError('io', 'the library is not open yet');
    const { library, effects, comparison } = opened;
    const { embed, isByLetters } = comparison;
    const plan = await planConsolidation(
      { library, effects, trials: await readTrials(parts.records) },
      { now: parts.now(), embed: embed.embed, isByLetters, isAsked: true },
    );
    const described = {
      changes: plan.changes.map((planned) => describeChange(planned, library)),
      open: plan.open.map(({ a, b, why, by }) => ({ a: a.id, b: b.id, names: namesOf([a, b]), why, by })),
      left: plan.left,
    };
    if (apply !== true) return { ...described, done: false, generation: library.generation };
    const results = await applyConsolidation(plan, library);
    const refused = results.filter(({ status }) => status === 'refused');
    return {
      ...described,
      done: true,
      refused: refused.map((result) => ({ ...result })),
      generation: library.generation,
    };
  },
});

/** The jobs that look after the library in quiet hours. */
export const createLibraryJobs = (options: ConsolidationJobOptions): readonly Job[] => [
  createReviewJob(options),
  createConsolidationJob(options),
];

const namesOf = (lessons: readonly Lesson[]): string[] => lessons.map(({ text }) => text.name);

function describeChange({ step, change }: MemoryChange, library: Pick<Library, 'lesson'>): JsonObject {
  const id = changedLessonId(change);
  const ids = change.op === 'merge' ? [id, ...change.ids.filter((one) => one !== id)] : [id];
  const names = namesOf(ids.flatMap((one) => library.lesson(one) ?? []));
  const why =
    change.op === 'retire'
      ? change.reason
      : change.op === 'merge'
        ? `${names.slice(1).join(', ')} says the same: merged into it`
        : 'linked with lessons about the same';
  return compact({ step, id, names, why, change: encodeChange(change) });
}
