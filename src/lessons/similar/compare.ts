import type { Lesson } from '../../core/lesson.ts';
import { scopesOverlap } from '../scope.ts';
import { quotedRule } from '../title.ts';

/**
 * Unit vectors by lesson id, all of one model, of the text of `comparedText`: by the description alone, different advice for
 * the same situation would look the same. Lessons without a vector are left out.
 */
export type LessonVectors = ReadonlyMap<string, Float32Array>;

export interface NearLessonPair {
  readonly a: Lesson;
  readonly b: Lesson;
  /** The cosine of their vectors. */
  readonly similarity: number;
}

export const comparedText = ({ text }: Pick<Lesson, 'text'>): string =>
  `${text.description}\n${text.content}`;

/** What a lesson tells to do: of one that quotes a person the rule alone, without the task and the answer that it was said about. */
export const ruleWords = ({ text }: Pick<Lesson, 'text'>): string =>
  quotedRule(text) ?? comparedText({ text });

/**
 * Pairs of active lessons with overlapping scopes and at least this similarity, in the order of the list. Compares all
 * pairs: about five seconds for 3,000 lessons.
 */
export function nearPairs(
  lessons: readonly Lesson[],
  vectors: LessonVectors,
  threshold: number,
): readonly NearLessonPair[] {
  return [...eachNearPair(lessons, vectors, threshold)].filter((pair) => pair !== undefined);
}

/** The same, one after the other; undefined after each lesson, so that whoever asks may do something else in between. */
export function* eachNearPair(
  lessons: readonly Lesson[],
  vectors: LessonVectors,
  threshold: number,
): Generator<NearLessonPair | undefined> {
  const placed = lessons.flatMap((lesson) => {
    const vector = vectors.get(lesson.id);
    const isOut = lesson.state === 'retired' || lesson.state === 'rejected';
    return vector === undefined || isOut ? [] : [{ lesson, vector }];
  });
  for (const [at, { lesson: a, vector }] of placed.entries()) {
    for (let next = at + 1; next < placed.length; next++) {
      const other = placed[next];
      if (other === undefined) continue;
      const similarity = cosineSimilarity(vector, other.vector);
      const b = other.lesson;
      if (similarity >= threshold && scopesOverlap(a.text.scope, b.text.scope)) yield { a, b, similarity };
    }
    yield undefined;
  }
}

/*
 * Do two texts say the same? The calibration of every comparison by vectors, in one place. The cosines are of all-MiniLM-L6-v2 unless a
 * name says `letters`: vectors of n-grams compare spelling, and are less similar for the same meaning.
 */

/** Two lessons, by description and content. */
export const LESSON_LIKENESS = {
  /** They say the same: one of them is enough. */
  same: 0.9,
  /** The same by letters: a text with a few words changed is above it, another advice about the same thing below. */
  sameByLetters: 0.82,
  /** They are about one topic: only such lessons can contradict each other. */
  topic: { sentence: 0.55, letters: 0.28 },
  /** Lessons with the same words are at least so near, by any measure: the words decide. */
  sameWords: 0.5,
} as const;

/**
 * Two quotes of people. Chosen on users who tell their rules again in other words (`npm run bench:retold`, the dev set) and on messages
 * that tell none.
 */
export const QUOTE_LIKENESS = {
  same: 0.55,
  /** Where the work was shown the lesson and was corrected all the same. */
  sameWhenShown: 0.45,
  /** With a term that neither task has. */
  sameWithTerm: 0.4,
  /** With a value that both name. */
  sameWithValue: 0.2,
} as const;

/**
 * A line of a lesson and a sentence of outside text: lower, since a paraphrase that is missed would be an instruction of a stranger.
 * Among many statements one is somewhat similar by chance: the bar rises with their number, from `few` to `many`.
 */
export const OUTSIDE_LIKENESS = {
  statement: 0.32,
  instruction: 0.28,
  /** A statement of a few words is somewhat similar to many lines. */
  short: 0.42,
  /** A lesson may say what went wrong: only a line that says the same as the report is its text. */
  report: 0.66,
  /** From here on an agent's sentence says what the outside sentence says. */
  relayed: 0.55,
  rise: 0.12,
  few: 3,
  many: 10,
} as const;

/** Requests: two tasks of one kind, and a request about a lesson. */
export const TASK_LIKENESS = { sameKind: 0.5, aboutLesson: 0.4 } as const;

/** The cosine similarity of two unit vectors, −1 to 1; 0 where one is missing. */
export function cosineSimilarity(a: Float32Array | undefined, b: Float32Array | undefined): number {
  if (a === undefined || b === undefined) return 0;
  let sum = 0;
  for (let at = 0; at < a.length; at++) sum += (a[at] ?? 0) * (b[at] ?? 0);
  return sum;
}
