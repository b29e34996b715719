import { distractorName, isDistractor } from '../../run/distractors.ts';
import { armOf, type Condition } from '../../suite/arms.ts';
import { compareText } from '../questions/question-rows.ts';
import { needsIn, type RowsByCondition } from './rule-needs.ts';

/** Whether prompts contained the lessons that they needed, and what else they contained. */
export interface RecallSummary {
  readonly condition: Condition;
  /** Lessons of other domains that the library had from the beginning. */
  readonly distractors: number;
  /** Rules of questions that an active lesson of the library teaches: the lesson is needed. */
  readonly needed: number;
  /** The lesson was in the prompt with its body, by its index line only, or not at all. */
  readonly body: number;
  readonly line: number;
  readonly missing: number;
  readonly questions: number;
  /** Questions with any distractor in the prompt, distractors in all, and the most frequent ones. */
  readonly disturbed: number;
  readonly shown: number;
  readonly most: readonly { readonly name: string; readonly questions: number }[];
}

const MOST = 5;

/** For every condition that has lessons. */
export const summariseRecall = (byCondition: RowsByCondition): readonly RecallSummary[] =>
  [...byCondition].flatMap(([condition, rows]) => {
    const arm = armOf(condition);
    if (arm.lessons === 'off' || rows.length === 0) return [];
    const needed = needsIn(rows).filter(({ rule, row }) => row.known?.includes(rule) === true);
    const line = needed.filter(({ rule, row }) => row.byLine?.includes(rule) === true).length;
    const taught = needed.filter(({ rule, row }) => row.taught.includes(rule)).length;
    const counts = new Map<string, number>();
    for (const id of rows.flatMap(({ lessons }) => lessons.filter(isDistractor)))
      counts.set(distractorName(id), (counts.get(distractorName(id)) ?? 0) + 1);
    return [
      {
        condition,
        distractors: arm.distractors,
        needed: needed.length,
        body: taught - line,
        line,
        missing: needed.length - taught,
        questions: rows.length,
        disturbed: rows.filter(({ lessons }) => lessons.some(isDistractor)).length,
        shown: [...counts.values()].reduce((all, one) => all + one, 0),
        most: [...counts]
          .map(([name, questions]) => ({ name, questions }))
          .sort((a, b) => b.questions - a.questions || compareText(a.name, b.name))
          .slice(0, MOST),
      },
    ];
  });
