import type { Change, Lesson } from '../../core/lesson.ts';
import { scopeCovers } from '../../lessons/scope.ts';
import { whyContradict, whyDoubtful } from '../../lessons/similar/contradictions.ts';
import type { NearLessonPair } from '../../lessons/similar/near-pairs.ts';
import { isTold } from '../distiller/known-lessons.ts';
import { isInUse, isOneRule, type LessonFacts, ruleOf, whyKept, wordsSince } from './kept-lessons.ts';

/** Two lessons that cannot both be followed, and what becomes of them. */
export interface SettledContradiction {
  readonly a: Lesson;
  readonly b: Lesson;
  readonly why: string;
  /** `practise`: only attempts with the one and with the other can tell. `ask`: a person has to. */
  readonly by: 'newest-words' | 'told-words' | 'practise' | 'ask';
  /** Both may hold. */
  readonly isDoubtful: boolean;
  readonly change?: Change;
}

/** Why two lessons contradict each other, or may do so. */
export function oppositionOf(
  a: Lesson,
  b: Lesson,
): { readonly why: string; readonly isDoubtful: boolean } | undefined {
  const [one, other] = [ruleOf(a), ruleOf(b)];
  const why = whyContradict(one, other);
  if (why !== undefined) return { why, isDoubtful: false };
  const doubt = whyDoubtful(one, other);
  return doubt === undefined ? undefined : { why: doubt, isDoubtful: true };
}

/**
 * Decides each contradiction. Of a person's own words the newest win, and a person's words win over what was learned before them; only a
 * lesson that says one thing gives way, to one that holds wherever it held. All else is left for practice, or for a person: what only may
 * be a contradiction, and what was learned after a person said otherwise, since either may hold now.
 */
export const settleContradictions = (
  pairs: readonly NearLessonPair[],
  facts: LessonFacts,
): readonly SettledContradiction[] => {
  const retired = new Set<string>();
  return pairs.flatMap(({ a, b }) => {
    if (!isInUse(a) || !isInUse(b) || retired.has(a.id) || retired.has(b.id)) return [];
    const found = oppositionOf(a, b);
    if (found === undefined) return [];
    const settled = settle(a, b, found, facts);
    if (settled.change?.op === 'retire') retired.add(settled.change.id);
    return [settled];
  });
};

function settle(
  a: Lesson,
  b: Lesson,
  { why, isDoubtful }: { readonly why: string; readonly isDoubtful: boolean },
  facts: LessonFacts,
): SettledContradiction {
  const open = { a, b, why, isDoubtful, by: isTold(a) || isTold(b) ? 'ask' : 'practise' } as const;
  const [wins, yields] = (isDoubtful ? undefined : ranked(a, b, facts)) ?? [];
  if (wins === undefined || yields === undefined) return open;
  const mayYield =
    whyKept(yields, facts) === undefined &&
    isOneRule(yields) &&
    scopeCovers(wins.text.scope, yields.text.scope);
  if (!mayYield) return open;
  const said = isTold(yields) ? 'the user has said otherwise since' : 'a person says otherwise';
  return {
    ...open,
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
  if (!isTold(a) && !isTold(b)) return undefined;
  const [first, second] = [wordsSince(a, facts), wordsSince(b, facts)];
  if (first === second) return undefined;
  const [newer, older] = first > second ? [a, b] : [b, a];
  return isTold(newer) ? [newer, older] : undefined;
}
