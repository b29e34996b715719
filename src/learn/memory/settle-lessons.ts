import { type Change, isInUse, type Lesson, type LessonText } from '../../core/lesson.ts';
import { scopeCovers } from '../../lessons/scope.ts';
import { LESSON_LIKENESS, type LessonVectors, type NearLessonPair } from '../../lessons/similar/compare.ts';
import { whyContradict, whyDoubtful } from '../../lessons/similar/contradictions.ts';
import { findDuplicates } from '../../lessons/similar/duplicates.ts';
import { isSameInPlainWords } from '../../lessons/similar/plain-words.ts';
import { titleOf } from '../../lessons/title.ts';
import { isPersonsWord } from '../../lessons/told.ts';
import { oneLine } from '../../text/visible-text.ts';
import { isTold } from '../distiller/known-lessons.ts';
import { readLesson } from '../distiller/write-lesson.ts';
import { keepsWords } from '../gate/gate.ts';
import {
  isFresh,
  isOneRule,
  type LessonFacts,
  mayRevise,
  ruleOf,
  whyKept,
  wordsSince,
} from './kept-lessons.ts';

/** Two lessons that cannot both be followed, and what becomes of them. */
export interface SettledContradiction {
  readonly a: Lesson;
  readonly b: Lesson;
  readonly why: string;
  /** `practise`: nothing that people said decides, and tasks of practice are made of it. `ask`: a person has to decide. */
  readonly by: 'newest-words' | 'told-words' | 'practise' | 'ask';
  /** Both may hold. */
  readonly isDoubtful: boolean;
  readonly change?: Change;
}

/** Why two lessons contradict each other, or may do so. */
type Opposition = Pick<SettledContradiction, 'why' | 'isDoubtful'>;

export function oppositionOf(a: Lesson, b: Lesson): Opposition | undefined {
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
    const opposition = oppositionOf(a, b);
    if (opposition === undefined) return [];
    const settled = settle({ a, b, ...opposition }, facts);
    if (settled.change?.op === 'retire') retired.add(settled.change.id);
    return [settled];
  });
};

type Contradiction = Pick<SettledContradiction, 'a' | 'b'> & Opposition;

function settle(contradiction: Contradiction, facts: LessonFacts): SettledContradiction {
  const { a, b, why, isDoubtful } = contradiction;
  if (!isPersonsWord(a) && !isPersonsWord(b)) return { ...contradiction, by: 'practise' };
  const open = { ...contradiction, by: 'ask' } as const;
  const [wins, yields] = (isDoubtful ? undefined : ranked(a, b, facts)) ?? [];
  if (wins === undefined || yields === undefined || !mayYieldTo(wins, yields, facts)) return open;
  const cause = isPersonsWord(yields) ? 'the user has said otherwise since' : 'a person says otherwise';
  return {
    ...open,
    by: isPersonsWord(yields) ? 'newest-words' : 'told-words',
    change: {
      op: 'retire',
      id: yields.id,
      reason: `superseded: ${cause} (“${titleOf(wins)}”); ${why}`.slice(0, LONGEST_REASON),
      supersededBy: wins.id,
    },
  };
}

const LONGEST_REASON = 400;

const mayYieldTo = (wins: Lesson, yields: Lesson, facts: LessonFacts): boolean =>
  whyKept(yields, facts) === undefined &&
  isOneRule(yields) &&
  scopeCovers(wins.text.scope, yields.text.scope);

/** The lesson that wins and the one that yields; undefined where no rule says. */
function ranked(a: Lesson, b: Lesson, facts: LessonFacts): readonly [Lesson, Lesson] | undefined {
  const [first, second] = [wordsSince(a, facts), wordsSince(b, facts)];
  if (first === second) return undefined;
  const [newer, older] = first > second ? [a, b] : [b, a];
  // Feedback outranks what was said in a chat.
  return isPersonsWord(newer) && (isTold(newer) || !isTold(older)) ? [newer, older] : undefined;
}

type Merge = Extract<Change, { readonly op: 'merge' }>;

/** The limit of a list of a note. */
const MOST_LINKS = 32;

/**
 * Merges of lessons that say the same, word by word: rules that differ in a name, a value or a condition are near each other, too, and
 * stay. The better proven text stays, letter by letter, with links to the lessons it absorbed and
 * their evidence. A person's word is absorbed only by a text that has it, and only where a person asked: recall shows one of two that say
 * the same anyway.
 */
export function mergeDuplicates(
  lessons: readonly Lesson[],
  vectors: LessonVectors,
  proof: (lesson: Lesson) => number,
  facts: LessonFacts,
): readonly Merge[] {
  const isAbsorbable = (other: Lesson, into: Lesson): boolean =>
    (!isPersonsWord(other) || (facts.isAsked && isPersonsWord(into))) &&
    whyKept(other, facts) === undefined &&
    (isPersonsWord(into) || isSameInPlainWords(other.text.description, into.text.description)) &&
    (!(isPersonsWord(other) || isFresh(other, facts)) || hasWordsOf(into.text, other.text));
  const { merges } = findDuplicates(lessons, vectors, {
    threshold: LESSON_LIKENESS.sameWords,
    proof,
    isSame: (a, b) => isSameInPlainWords(ruleOf(a), ruleOf(b)) && answerOf(a) === answerOf(b),
    mayRetire: isAbsorbable,
  });
  return merges.flatMap((merge) => {
    const into = lessons.find(({ id }) => merge.op === 'merge' && id === merge.into);
    if (merge.op !== 'merge' || into === undefined) return [];
    const text = mayRevise(into, facts) ? withSources(merge.text, merge) : into.text;
    return [{ ...merge, text }];
  });
}

/** Of words that do not tell what they are about: what they were said about. */
const answerOf = ({ text }: Lesson): string | undefined => readLesson(text)?.answer;

const hasWordsOf = (into: LessonText, other: LessonText): boolean =>
  oneLine(into.content) === oneLine(other.content) || keepsWords(into, other);

const withSources = (text: LessonText, { ids, into }: Merge): LessonText => {
  const links = [...new Set([...text.note.links, ...ids.filter((id) => id !== into)])].slice(-MOST_LINKS);
  return { ...text, note: { ...text.note, links } };
};
