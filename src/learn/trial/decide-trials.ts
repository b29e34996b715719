import { hash } from 'node:crypto';
import type { Clock } from '../../core/clock.ts';
import type { Author, Change, ChangeSet, Lesson } from '../../core/lesson.ts';
import type { Library } from '../../core/library.ts';
import type { LessonsForTask, PracticeTask } from '../../core/practice.ts';
import type { NewFact, Records } from '../../core/store.ts';
import { lessonSubject, type TrialFact, type TrialOutcome } from '../../core/trial.ts';
import { trialFigures } from '../../lessons/effect/describe-trial.ts';
import {
  readTrials,
  type TrialFold,
  type TrialRecord,
  type Trials,
} from '../../lessons/effect/fold-trials.ts';
import { isMeasured, testScopeOf } from '../../lessons/effect/hold-out.ts';
import { isRetirable, judgeEffect } from '../../lessons/effect/judge-effect.ts';
import {
  earlierOutcomes,
  pairedMean,
  type WeighedEffects,
  weighLesson,
} from '../../lessons/effect/weigh-lesson.ts';
import type { LessonReplica } from '../../lessons/lesson-replica.ts';
import { addOutcomes, countOutcomes, NO_OUTCOMES, type OutcomeCounts } from '../../stats/effect-posterior.ts';
import { plural } from '../../text/phrases.ts';
import { decidedLearner } from '../cycle.ts';
import { decidedPiece, type LearnerRow, type LearningPieces } from '../runner.ts';
import { tasksThatFit } from './gate-tasks.ts';

export const MEASUREMENT: Author = { kind: 'instar', name: 'measurement' };
/**
 * A lesson is decided, or its owner asked, this many days after its turn came: with ten sessions a day, a fifth of which it fits, most effects of 20
 * points are found by then.
 */
export const TEST_DAYS = 45;
const DAY_MS = 86_400_000;
/** With fewer sessions with a lesson, and without it or before it, a verdict would say more than was looked at. */
const FEWEST_SESSIONS = 5;
const FEWEST_OTHERS = 3;

/** A lesson on trial that has no verdict yet, with what was measured of it. */
export interface RunningTrial {
  readonly lesson: Lesson;
  readonly record: TrialRecord;
}

export const trialSubject = ({ id, revision }: Lesson): string => lessonSubject(id, revision);
const isOnTrial = (lesson: Lesson): boolean => lesson.state === 'trial' && isMeasured(lesson);
const isDecided = ({ end }: TrialRecord): boolean => end !== undefined && end.outcome !== 'untested';

/** A person's word is not among them. */
export const runningTrials = (
  lessons: readonly Lesson[],
  trials: Pick<Trials, 'of'>,
): readonly RunningTrial[] =>
  lessons.filter(isOnTrial).flatMap((lesson) => {
    const record = trials.of(trialSubject(lesson));
    return record === undefined || isDecided(record) ? [] : [{ lesson, record }];
  });

type OpenedFact = Extract<TrialFact, { readonly type: 'trial-opened' }>;

/** Lessons on trial that have no date yet, the oldest first. Those of one scope come one after another, and so do their dates. */
export function trialsToOpen(
  lessons: readonly Lesson[],
  trials: Pick<Trials, 'of' | 'nextPlace'>,
  now: number,
): readonly { readonly lesson: Lesson; readonly fact: OpenedFact }[] {
  const latest = new Map<string, number>();
  for (const { lesson, record } of runningTrials(lessons, trials)) {
    const scope = testScopeOf(lesson);
    latest.set(scope, Math.max(record.until, latest.get(scope) ?? 0));
  }
  const fresh = lessons
    .filter((lesson) => isOnTrial(lesson) && trials.of(trialSubject(lesson)) === undefined)
    .sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
  const first = trials.nextPlace('lesson');
  return fresh.map((lesson, at) => {
    const scope = testScopeOf(lesson);
    const until = Math.max(now, latest.get(scope) ?? 0) + TEST_DAYS * DAY_MS;
    latest.set(scope, until);
    return {
      lesson,
      fact: { type: 'trial-opened', subject: trialSubject(lesson), place: first + at, until },
    };
  });
}

export interface TrialVerdict {
  readonly lesson: Lesson;
  readonly subject: string;
  readonly outcome: TrialOutcome;
  readonly why: string;
}

/** The verdicts that the measurements allow now; trials without one go on. The same measurements give the same verdicts. */
export function decideTrials(
  running: readonly RunningTrial[],
  effects: WeighedEffects,
  now: number,
): readonly TrialVerdict[] {
  return running.flatMap(({ lesson, record }) => {
    const isCompared = hasComparison(lesson, record, effects);
    const judged = isCompared ? judgeEffect(weighLesson(lesson, record, effects)) : 'unknown';
    const late = isCompared ? 'no-difference' : 'untested';
    const outcome = judged !== 'unknown' ? judged : now >= record.until ? late : undefined;
    if (outcome === undefined || record.end?.outcome === outcome) return [];
    const figures = describeFigures(lesson, record, effects);
    return [{ lesson, subject: record.subject, outcome, why: `${WHY[outcome]}${figures}` }];
  });
}

const WHY: Readonly<Record<TrialOutcome, string>> = {
  helpful: 'work comes out better with it: ',
  harmful: 'work comes out worse with it: ',
  'no-difference': 'no difference was seen: ',
  untested: 'it could not be measured by its date: ',
};

/** Whether there is anything to compare: what was decided about other lessons says nothing about this one by itself. */
function hasComparison(lesson: Lesson, record: TrialRecord, effects: WeighedEffects): boolean {
  if (pairedMean(record) !== undefined) return true;
  const arms = effects.sessionsOf(lesson.id);
  const others = countOutcomes(arms.without) + countOutcomes(earlierOutcomes(lesson, record));
  return countOutcomes(arms.with) >= FEWEST_SESSIONS && others >= FEWEST_OTHERS;
}

function describeFigures(lesson: Lesson, record: TrialRecord, effects: WeighedEffects): string {
  const arms = effects.sessionsOf(lesson.id);
  const [shown, without] = [arms.with, arms.without].map((arm) => Math.round(countOutcomes(arm)));
  const pairs = record.differences.tasks.size + record.differences.replay.size;
  const attempts = pairs === 0 ? [] : [trialFigures(record)];
  const sessions =
    pairs > 0 && !shown ? [] : [`${plural(shown ?? 0, 'session')} with it, ${without} without`];
  return [...attempts, ...sessions].join('; ');
}

/** What a verdict means for the library; undefined: nothing, or a person's decision stands against it. */
function changeFor(
  lesson: Lesson,
  { outcome, why }: Pick<TrialVerdict, 'outcome' | 'why'>,
  { library, mayPromote }: { readonly library: Pick<Library, 'history'>; readonly mayPromote: boolean },
): ChangeSet | undefined {
  const { id, text } = lesson;
  const isHarmful = outcome === 'harmful' && isRetirable(lesson, library, MEASUREMENT);
  if (!isHarmful && (outcome !== 'helpful' || !mayPromote)) return undefined;
  const change: Change = isHarmful
    ? { op: 'retire', id, reason: `harmful: ${why}` }
    : { op: 'move', id, to: 'live', reason: `measured: ${why}` };
  const mark = hash('sha256', trialSubject(lesson), 'hex').slice(0, 24);
  const reason = `${text.name} ${isHarmful ? 'does harm' : 'helps'}: ${why}`;
  return { id: `trial-${outcome}-${mark}`, by: MEASUREMENT, reason, changes: [change] };
}

/** Changes for all verdicts in the record, also those that an earlier run wrote and did not carry out. */
export const dueChanges = (
  library: Pick<Library, 'lessons' | 'history'>,
  trials: Pick<Trials, 'of'>,
  mayPromote: boolean,
): readonly ChangeSet[] =>
  library
    .lessons()
    .filter(isOnTrial)
    .flatMap((lesson) => {
      const end = trials.of(trialSubject(lesson))?.end;
      return (end && changeFor(lesson, end, { library, mayPromote })) ?? [];
    });

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
