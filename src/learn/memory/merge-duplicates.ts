import type { Change, Lesson, LessonText } from '../../core/lesson.ts';
import { LESSON_LIKENESS } from '../../lessons/similar/compare.ts';
import { findDuplicates } from '../../lessons/similar/duplicates.ts';
import type { LessonVectors } from '../../lessons/similar/near-pairs.ts';
import { isSameInPlainWords } from '../../lessons/similar/plain-words.ts';
import { isPersonsWord } from '../../lessons/told.ts';
import { oneLine } from '../../text/visible-text.ts';
import { readLesson } from '../distiller/write-lesson.ts';
import { keepsWords } from '../gate/gate.ts';
import { isFresh, type LessonFacts, mayRevise, ruleOf, whyKept } from './kept-lessons.ts';

type Merge = Extract<Change, { readonly op: 'merge' }>;

/** The limit of a list of a note. */
const MOST_LINKS = 32;

/**
 * Merges of lessons that say the same, word by word: rules that differ in a name, a value or a condition are near each other, too, and
 * are linked instead. The better proven text stays, letter by letter, with links to the lessons it absorbed and
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
