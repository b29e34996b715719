import type { Change, Lesson, LessonText } from '../../core/lesson.ts';
import { readClauses } from './clauses.ts';
import { comparedText, type NearPair, nearPairs, type Vectors } from './near-pairs.ts';
import { scopeCovers } from './scopes.ts';
import { whyContradict } from './why-contradict.ts';

export interface DuplicateOptions {
  /** The cosine from which two lessons say the same. */
  readonly threshold?: number;
  /** How well a lesson has proved itself, more is better; the same for all unless told. */
  readonly proof?: (lesson: Lesson) => number;
}

export interface Duplicates {
  readonly pairs: readonly NearPair[];
  /** One per group, to be gated and published like any change. */
  readonly merges: readonly Change[];
}

/** For the meanings of all-MiniLM-L6-v2. */
const SAME = 0.9;
/** As much as a lesson may hold. */
const MOST_EVIDENCE = 64;
const STANDING = { live: 2, trial: 1, proposed: 0, retired: -1, rejected: -1 } as const;
const VISIBLE = { private: 0, scoped: 1, shared: 2 } as const;

/**
 * Lessons of one kind that say the same. Opposites are near in meaning too: what contradicts is not the same, however
 * similar. In each group the lesson that stands best takes up those that are near to it itself, since along a chain of
 * near ones the last may be far from the first.
 */
export function findDuplicates(
  lessons: readonly Lesson[],
  vectors: Vectors,
  { threshold = SAME, proof = () => 0 }: DuplicateOptions = {},
): Duplicates {
  const pairs = nearPairs(lessons, vectors, threshold).filter(
    ({ a, b }) =>
      a.kind === b.kind &&
      whyContradict(readClauses(comparedText(a)), readClauses(comparedText(b))) === undefined,
  );
  const near = new Map<string, Lesson[]>();
  for (const { a, b } of pairs)
    for (const [one, other] of [
      [a, b],
      [b, a],
    ] as const)
      near.set(one.id, [...(near.get(one.id) ?? []), other]);

  const best = lessons.filter(({ id }) => near.has(id)).sort((a, b) => rank(a, b, proof));
  const taken = new Set<string>();
  const merges: Change[] = [];
  for (const into of best) {
    if (taken.has(into.id)) continue;
    const others = (near.get(into.id) ?? []).filter(
      (other) => !taken.has(other.id) && mayTakeUp(into, other),
    );
    if (others.length === 0) continue;
    for (const { id } of [into, ...others]) taken.add(id);
    merges.push({
      op: 'merge',
      ids: [into, ...others].map(({ id }) => id),
      into: into.id,
      from: into.revision,
      text: mergedText(into, others),
    });
  }
  return { pairs, merges };
}

/** First what a person vouches for, then what is further in life, better proven, older. */
const rank = (a: Lesson, b: Lesson, proof: (lesson: Lesson) => number): number =>
  Number(b.pinned) - Number(a.pinned) ||
  STANDING[b.state] - STANDING[a.state] ||
  proof(b) - proof(a) ||
  a.createdAt - b.createdAt ||
  (a.id < b.id ? -1 : 1);

/** Nothing may be lost that was in force: nowhere, for no one, at no time. */
function mayTakeUp(into: Lesson, other: Lesson): boolean {
  return (
    !other.pinned &&
    !other.frozen &&
    STANDING[into.state] >= STANDING[other.state] &&
    scopeCovers(into.text.scope, other.text.scope) &&
    VISIBLE[into.text.note.visibility] >= VISIBLE[other.text.note.visibility] &&
    (into.expiresAt ?? Number.POSITIVE_INFINITY) >= (other.expiresAt ?? Number.POSITIVE_INFINITY)
  );
}

/** The words stay as they were measured; what all of them rest on comes together. What is frozen stays as it is. */
function mergedText({ text, frozen }: Lesson, others: readonly Lesson[]): LessonText {
  if (frozen) return text;
  const all = [text, ...others.map((other) => other.text)].map(({ evidence }) => evidence);
  const turns = [...new Set(all.flatMap((evidence) => evidence.turns))].slice(0, MOST_EVIDENCE);
  const quotes = all.flatMap((evidence) => evidence.quotes).slice(0, MOST_EVIDENCE);
  return { ...text, evidence: { ...text.evidence, turns, quotes } };
}
