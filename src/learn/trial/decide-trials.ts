import { hash } from 'node:crypto';
import type { Author, Change, ChangeSet, Lesson } from '../../core/lesson.ts';
import type { Library } from '../../core/library.ts';
import { lessonSubject, type TrialFact, type TrialOutcome } from '../../core/trial.ts';
import { trialFigures } from '../../lessons/effect/describe-trial.ts';
import type { TrialRecord, Trials } from '../../lessons/effect/fold-trials.ts';
import { isRetirable, judgeEffect } from '../../lessons/effect/judge-effect.ts';
import { isMeasured, testScopeOf } from '../../lessons/effect/lessons-under-test.ts';
import { pairedMean, type WeighedEffects, weighLesson } from '../../lessons/effect/weigh-lesson.ts';
import { countOutcomes, NO_OUTCOMES } from '../../stats/effect-posterior.ts';
import { plural } from '../../text/phrases.ts';

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
  const others = countOutcomes(arms.without) + countOutcomes(record.before ?? NO_OUTCOMES);
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
