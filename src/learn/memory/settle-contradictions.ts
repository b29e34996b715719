import type { Change, Lesson } from '../../core/lesson.ts';
import { scopeCovers } from '../../lessons/scope.ts';
import { whyContradict } from '../../lessons/similar/contradictions.ts';
import type { NearLessonPair } from '../../lessons/similar/near-pairs.ts';
import { isTold } from '../distiller/known-lessons.ts';
import { isInUse, isOneRule, type LessonFacts, ruleOf, whyKept, wordsSince } from './kept-lessons.ts';

/** Two lessons that cannot both be followed, and what becomes of them. */
export interface SettledContradiction {
  readonly a: Lesson;
  readonly b: Lesson;
  readonly why: string;
  /** `practise`: only attempts with and without can tell. `ask`: a person has to. */
  readonly by: 'newest-words' | 'told-words' | 'practise' | 'ask';
  readonly change?: Change;
}

/**
 * Decides each contradiction. Of a person's own words the newest win, and a person's words win over what was learned; only a lesson
 * that says one thing gives way, to one that holds wherever it held. All else is left for practice, or for a person.
 */
export const settleContradictions = (
  pairs: readonly NearLessonPair[],
  facts: LessonFacts,
): readonly SettledContradiction[] => {
  const retired = new Set<string>();
  return pairs.flatMap(({ a, b }) => {
    if (!isInUse(a) || !isInUse(b) || retired.has(a.id) || retired.has(b.id)) return [];
    const why = whyContradict(ruleOf(a), ruleOf(b));
    if (why === undefined) return [];
    const settled = settle(a, b, why, facts);
    if (settled.change?.op === 'retire') retired.add(settled.change.id);
    return [settled];
  });
};

function settle(a: Lesson, b: Lesson, why: string, facts: LessonFacts): SettledContradiction {
  const [wins, yields] = ranked(a, b, facts) ?? [];
  if (wins === undefined || yields === undefined)
    return { a, b, why, by: isTold(a) && isTold(b) ? 'ask' : 'practise' };
  const mayYield =
    whyKept(yields, facts) === undefined &&
    isOneRule(yields) &&
    scopeCovers(wins.text.scope, yields.text.scope);
  if (!mayYield) return { a, b, why, by: isTold(yields) ? 'ask' : 'practise' };
  const said = isTold(yields) ? 'the user has said otherwise since' : 'a person says otherwise';
  return {
    a,
    b,
    why,
    by: isTold(yields) ? 'newest-words' : 'told-words',
    change: {
      op: 'retire',
      id: yields.id,
      reason: `superseded: ${said} (${wins.text.name}); ${why}`.slice(0, LONGEST_REASON),
      supersededBy: wins.id,
    },
  };
}

const LONGEST_REASON = 400;

/** The lesson that wins and the one that yields; undefined where no rule says. */
function ranked(a: Lesson, b: Lesson, facts: LessonFacts): readonly [Lesson, Lesson] | undefined {
  if (isTold(a) !== isTold(b)) return isTold(a) ? [a, b] : [b, a];
  if (!isTold(a)) return undefined;
  const [first, second] = [wordsSince(a, facts), wordsSince(b, facts)];
  if (first === second) return undefined;
  return first > second ? [a, b] : [b, a];
}
