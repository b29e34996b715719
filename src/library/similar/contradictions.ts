import type { Lesson } from '../../core/lesson.ts';
import { type Clause, readClauses } from './clauses.ts';
import { comparedText, type NearPair, nearPairs, type Vectors } from './near-pairs.ts';
import { whyContradict } from './why-contradict.ts';

export interface Contradiction extends NearPair {
  readonly why: string;
}

/** For embeddings by all-MiniLM-L6-v2; for n-grams, which compare spelling only, half of it. */
const SAME_TOPIC = 0.55;

/** Lessons about the same topic with opposite instructions. Only reported: a person or practice decides which one is right. */
export function findContradictions(
  lessons: readonly Lesson[],
  vectors: Vectors,
  threshold = SAME_TOPIC,
): readonly Contradiction[] {
  const read = new Map<string, readonly Clause[]>();
  const clausesOf = (lesson: Lesson): readonly Clause[] => {
    const found = read.get(lesson.id) ?? readClauses(comparedText(lesson));
    read.set(lesson.id, found);
    return found;
  };
  return nearPairs(lessons, vectors, threshold).flatMap((pair) => {
    const why = whyContradict(clausesOf(pair.a), clausesOf(pair.b));
    return why === undefined ? [] : [{ ...pair, why }];
  });
}
