import { armOf, type Condition } from '../../suite/arms.ts';
import type { FeedbackKind, LessonRecord } from '../../suite/run-records.ts';
import { FEEDBACK_SHARES } from '../../workdays/imperfect-feedback.ts';
import type { Figure } from '../figure.ts';
import { needsIn, obedience, type RowsByCondition } from './rule-needs.ts';

/** What feedback was like under a condition whose feedback is not always right, and what wrong feedback did. */
export interface FeedbackSummary {
  readonly condition: Condition;
  /** How often feedback on a rule was of each kind, as planned and as it was. */
  readonly kinds: readonly {
    readonly kind: FeedbackKind;
    readonly planned: number;
    readonly said: number;
  }[];
  readonly said: number;
  /** Lessons that at some evening taught a wrong value, and those that still did on their last evening. */
  readonly wrongLessons: number;
  readonly wrongAtTheEnd: number;
  /** Rules of questions whose prompt had a lesson with a wrong value; how often the right value was followed; how often the wrong one. */
  readonly mistaught: Figure;
  readonly misled: number;
  /** How often the right value was followed where a lesson in the prompt taught it and none taught a wrong one. */
  readonly rightlyTaught: Figure;
}

const KINDS: readonly FeedbackKind[] = ['complete', 'partial', 'vague', 'wrong'];

export const summariseFeedback = (
  byCondition: RowsByCondition,
  lessons: readonly LessonRecord[],
): readonly FeedbackSummary[] =>
  [...byCondition].flatMap(([condition, rows]) => {
    if (armOf(condition).feedback === 'whole' || rows.length === 0) return [];
    const heard = rows.flatMap((row) => row.heard ?? []);
    const own = lessons.filter((lesson) => lesson.condition === condition);
    const keyOf = ({ seed, id }: LessonRecord): string => `${seed}/${id}`;
    const last = new Map(own.toSorted((a, b) => a.day - b.day).map((lesson) => [keyOf(lesson), lesson]));
    const isWrong = ({ mistakes = [] }: LessonRecord): boolean => mistakes.length > 0;
    const isInUse = ({ state }: LessonRecord): boolean => state === 'trial' || state === 'live';
    const needs = needsIn(rows);
    const mistaught = needs.filter(({ rule, row }) => row.mistaught?.includes(rule) === true);
    return [
      {
        condition,
        kinds: KINDS.map((kind) => ({
          kind,
          planned: FEEDBACK_SHARES[kind],
          said: heard.filter((one) => one.kind === kind).length,
        })),
        said: heard.length,
        wrongLessons: new Set(own.filter(isWrong).map(keyOf)).size,
        wrongAtTheEnd: [...last.values()].filter((one) => isWrong(one) && isInUse(one)).length,
        mistaught: obedience(mistaught),
        misled: mistaught.filter(({ rule, row }) => row.misled?.includes(rule) === true).length,
        rightlyTaught: obedience(
          needs.filter(
            ({ rule, row }) => row.taught.includes(rule) && row.mistaught?.includes(rule) !== true,
          ),
        ),
      },
    ];
  });
