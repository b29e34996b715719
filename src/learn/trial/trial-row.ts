import type { Clock } from '../../core/clock.ts';
import type { Lesson } from '../../core/lesson.ts';
import type { LessonsForTask, PracticeTask } from '../../core/practice.ts';
import type { NewFact, Records } from '../../core/store.ts';
import type { TrialFact } from '../../core/trial.ts';
import { readTrials, type TrialFold } from '../../lessons/effect/fold-trials.ts';
import type { LessonReplica } from '../../lessons/lesson-replica.ts';
import { addOutcomes, NO_OUTCOMES, type OutcomeCounts } from '../../stats/effect-posterior.ts';
import { decidedLearner } from '../cycle.ts';
import { decidedPiece, type LearnerRow, type LearningPieces } from '../runner.ts';
import { decideTrials, dueChanges, MEASUREMENT, runningTrials, trialsToOpen } from './decide-trials.ts';
import { tasksThatFit } from './gate-tasks.ts';

interface TrialRowOptions {
  readonly lessons: Pick<LessonReplica, 'library' | 'effects'>;
  readonly records: Pick<Records, 'events' | 'turn'>;
  /** What users ask of agents, oldest first, and the lessons that production would show for it; absent: no history is read. */
  readonly tasks: () => Promise<readonly PracticeTask[]>;
  readonly lessonsFor: LessonsForTask | undefined;
  /** Whether a verdict may put a lesson into use by itself; otherwise the owner is told and decides. */
  readonly mayPromote: boolean;
  readonly clock: Clock;
}

const DAY_MS = 86_400_000;
/** Earlier tasks for which recall is tried: about a month of one agent. */
const MOST_EARLIER = 80;

/**
 * Gives every lesson on trial the date by which it is decided, and decides about those of which sessions and practice have shown enough. Folded from
 * facts: a run that was killed writes the same facts again, under the same keys.
 */
export function createTrialRow(options: TrialRowOptions): LearnerRow {
  const { library, effects } = options.lessons;
  let mark = '';
  const markAt = (now: number): string =>
    `${library.generation}/${effects.version}/${Math.floor(now / DAY_MS)}`;
  async function* decide(): LearningPieces {
    const now = options.clock.now();
    mark = markAt(now);
    if (library.lessons().every(({ state }) => state !== 'trial')) return;
    const trials = await readTrials(options.records);
    const write = (fact: TrialFact, what: string): { readonly journal: readonly NewFact[] } => {
      trials.add({ at: now, fact });
      return { journal: [{ at: now, fact, key: `trial/${fact.subject}/${what}` }] };
    };
    for (const { lesson, fact } of trialsToOpen(library.lessons(), trials, now))
      yield write({ ...fact, ...(await outcomesBefore(lesson, options)) }, 'opened');
    for (const { subject, outcome, why } of verdictsNow(trials, options))
      yield write({ type: 'trial-ended', subject, outcome, why }, `ended/${outcome}`);
    for (const set of dueChanges(library, trials, options.mayPromote)) yield decidedPiece(set);
  }
  return {
    name: MEASUREMENT.name,
    due: (_, now) => markAt(now) !== mark,
    learn: decidedLearner(MEASUREMENT.name),
    material: decide,
  };
}

const verdictsNow = (trials: TrialFold, { lessons: { library, effects }, clock }: TrialRowOptions) =>
  decideTrials(runningTrials(library.lessons(), trials), effects, clock.now());

/** How earlier sessions came out that would have been shown the lesson. Those that it was learned from are left out: they failed by choice. */
async function outcomesBefore(
  lesson: Lesson,
  { tasks, lessonsFor, records, lessons: { effects } }: TrialRowOptions,
): Promise<{ readonly before?: OutcomeCounts }> {
  if (lessonsFor === undefined) return {};
  const earlier = (await tasks()).filter(
    ({ from }) => from !== undefined && effects.outcomeOf(from.session) !== undefined,
  );
  const fitting = await tasksThatFit(lesson, earlier.slice(-MOST_EARLIER), { lessonsFor, records });
  const sessions = new Set(fitting.flatMap(({ from }) => from?.session ?? []));
  const outcomes = [...sessions].flatMap((session) => effects.outcomeOf(session) ?? []);
  if (outcomes.length === 0) return {};
  return { before: outcomes.reduce((sum, one) => addOutcomes(sum, one), NO_OUTCOMES) };
}
