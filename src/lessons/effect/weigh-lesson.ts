import type { Lesson } from '../../core/lesson.ts';
import {
  addOutcomes,
  type EffectPosterior,
  effectPosterior,
  meanOfTasks,
  NO_OUTCOMES,
  type OutcomeCounts,
  type PairedMean,
} from '../../stats/effect-posterior.ts';
import type { TaskDifferences, TrialRecord } from './fold-trials.ts';
import type { LessonEffects } from './lesson-effects.ts';

/** An effect on variations of one or two tasks may be luck with these tasks. */
const FEWEST_TASKS = 3;
/** Single attempts succeed by luck. */
const FEWEST_PAIRS = 12;
/** A judge may prefer an answer for its style: this much of a preference does not count, in either direction. */
const JUDGE_MARGIN = 0.1;

export type WeighedEffects = Pick<LessonEffects, 'sessionsOf' | 'all' | 'decided' | 'version'>;
type MeasuredTrial = Pick<TrialRecord, 'differences' | 'before'>;

/** By the record, which never changes: after a batch of attempts all trials are weighed, and one has changed. */
const weighed = new WeakMap<
  MeasuredTrial,
  { readonly effects: WeighedEffects; readonly version: number; readonly posterior: EffectPosterior }
>();

/** What real sessions and attempts in practice say about a lesson together. */
export function weighLesson(
  lesson: Pick<Lesson, 'id' | 'kind' | 'check'>,
  trial: MeasuredTrial | undefined,
  effects: WeighedEffects,
): EffectPosterior {
  const stored = trial && weighed.get(trial);
  if (stored?.effects === effects && stored.version === effects.version) return stored.posterior;
  const { with: shown, without, scored } = effects.sessionsOf(lesson.id);
  const before = earlierOutcomes(lesson, trial);
  const measured = addOutcomes(scored, trial?.before ?? NO_OUTCOMES);
  const paired = trial && pairedMean(trial);
  const posterior = effectPosterior({
    with: shown,
    without,
    before,
    others: atLeastNone(addOutcomes(effects.all(), measured, -1)),
    decided: effects.decided(lesson.kind),
    ...(paired === undefined ? {} : { paired }),
  });
  if (trial !== undefined) weighed.set(trial, { effects, version: effects.version, posterior });
  return posterior;
}

/** Sessions from before the lesson. Its own check did not look at them, and how else they came out is another question. */
export const earlierOutcomes = (
  { check }: Pick<Lesson, 'check'>,
  trial: Pick<TrialRecord, 'before'> | undefined,
): OutcomeCounts => (check?.standing === 'accepted' ? NO_OUTCOMES : (trial?.before ?? NO_OUTCOMES));

/** What attempts at tasks say; recorded requests only where there are none. Undefined while there are too few tasks to tell. */
export function pairedMean({ differences }: Pick<TrialRecord, 'differences'>): PairedMean | undefined {
  const isReplay = differences.tasks.size === 0;
  const tasks = isReplay ? differences.replay : differences.tasks;
  const pairs = [...tasks.values()].reduce((sum, one) => sum + one.pairs, 0);
  const measured =
    tasks.size < FEWEST_TASKS || pairs < FEWEST_PAIRS ? undefined : meanOfTasks(taskMeans(tasks));
  if (measured === undefined || !isReplay) return measured;
  const size = Math.max(0, Math.abs(measured.mean) - JUDGE_MARGIN);
  return { ...measured, mean: Math.sign(measured.mean) * size };
}

export const taskMeans = (tasks: TaskDifferences): readonly number[] =>
  [...tasks.values()].map(({ pairs, sum }) => sum / pairs);

/** Sessions that were counted before a lesson got its present text are among all others, and not in its arms. */
const atLeastNone = (counts: OutcomeCounts): OutcomeCounts => ({
  success: Math.max(0, counts.success),
  failure: Math.max(0, counts.failure),
  praise: Math.max(0, counts.praise),
  complaint: Math.max(0, counts.complaint),
  silent: Math.max(0, counts.silent),
});
