import type { Lesson } from '../../core/lesson.ts';
import type { EmbeddingModel } from '../../core/recall.ts';
import type { Job, JobEnd } from '../../core/schedule.ts';
import type { Records } from '../../core/store.ts';
import { readTrials } from '../../lessons/effect/fold-trials.ts';
import type { ReviewJobOptions } from '../../lessons/review-job.ts';
import { comparedText } from '../../lessons/similar/near-pairs.ts';
import { plural } from '../../text/phrases.ts';
import type { Autonomy } from '../gate/autonomy-rule.ts';
import { readLearningSwitch } from '../learning-switch.ts';
import { openPracticeHistory } from '../practice/practice-history.ts';
import { applyConsolidation, planConsolidation } from './consolidate.ts';
import { isInUse } from './kept-lessons.ts';

export interface ConsolidationJobOptions extends ReviewJobOptions {
  readonly records: Pick<Records, 'events'>;
  readonly autonomy: () => Autonomy;
}

export const CONSOLIDATION_JOB = 'library-consolidation';

const REST_MS = 7 * 86_400_000;
/** Texts between two looks at the signal. */
const GROUP = 16;
const MS_PER_TEXT = 15;

/**
 * Consolidates the library once a week. Where every change needs approval it only says how many there are; `instar lessons
 * consolidate` makes them. It stops between two change sets and goes on with what is left.
 */
export function createConsolidationJob(options: ConsolidationJobOptions): Job {
  const { open, embed, now, history, records, autonomy } = options;
  /** Worked out once, however often the work is interrupted. */
  const vectors = new Map<string, Float32Array>();

  return {
    name: CONSOLIDATION_JOB,
    priority: 1,
    needsWindow: true,
    estimate: () => 1000 + (open()?.library.lessons().length ?? 0) * MS_PER_TEXT,
    isReady: async () => {
      const library = open()?.library;
      if (library === undefined || !library.lessons().some(isInUse)) return false;
      if (!(await readLearningSwitch(records)).isOn) return false;
      const { lastDone, run } = await history(CONSOLIDATION_JOB);
      return run !== undefined || lastDone === undefined || Math.abs(now() - lastDone.at) >= REST_MS;
    },
    run: async ({ signal, checkpoint }): Promise<JobEnd> => {
      const opened = open();
      if (opened === undefined)
        return { end: 'failed', why: 'the library cannot be read', isRetryable: true };
      const { library, effects } = opened;
      const missing = textsOf(library.lessons()).filter((text) => !vectors.has(text));
      for (let at = 0; at < missing.length; at += GROUP) {
        if (signal.aborted) return { end: 'paused' };
        const group = missing.slice(at, at + GROUP);
        const found = await embed.embed(group);
        for (const [index, text] of group.entries()) {
          const vector = found[index];
          if (vector !== undefined) vectors.set(text, vector);
        }
        await checkpoint(`${at + group.length} of ${missing.length} lessons read`);
      }
      if (signal.aborted) return { end: 'paused' };
      const plan = await planConsolidation(
        { library, effects, trials: await readTrials(records) },
        {
          now: now(),
          embed: knownVectors(vectors, embed),
          isByLetters: false,
          isAsked: false,
          lastRun: (await history(CONSOLIDATION_JOB)).lastDone?.at,
          practised: (await openPracticeHistory(records)).sessions(),
        },
      );
      const count = plan.changes.length;
      if (autonomy() === 'manual' && count > 0)
        return {
          end: 'done',
          note: `${plural(count, 'change')} wait for you: instar lessons consolidate`,
        };
      const results = await applyConsolidation(plan, library, {
        signal,
        onSet: () => checkpoint('a change set was published'),
      });
      if (results.length < count) return { end: 'paused' };
      vectors.clear();
      const applied = results.filter(({ status }) => status === 'applied').length;
      const undecided =
        plan.open.length === 0 ? '' : `, ${plural(plan.open.length, 'contradiction')} left open`;
      return { end: 'done', note: `${plural(applied, 'change')}${undecided}` };
    },
  };
}

const textsOf = (lessons: readonly Lesson[]): readonly string[] => [
  ...new Set(lessons.filter(isInUse).map((lesson) => comparedText(lesson))),
];

/** Lessons that were published meanwhile are embedded now. */
const knownVectors =
  (vectors: ReadonlyMap<string, Float32Array>, { embed }: EmbeddingModel): EmbeddingModel['embed'] =>
  async (texts) => {
    const missing = texts.filter((text) => !vectors.has(text));
    const found = missing.length === 0 ? [] : await embed(missing);
    const more = new Map(missing.map((text, at) => [text, found[at]]));
    return texts.flatMap((text) => vectors.get(text) ?? more.get(text) ?? []);
  };
