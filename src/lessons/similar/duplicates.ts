import type { Change, Lesson, LessonText } from '../../core/lesson.ts';
import { scopeCovers } from '../scope.ts';
import { LESSON_LIKENESS, type LessonVectors, type NearLessonPair, nearPairs, ruleWords } from './compare.ts';
import { whyContradict } from './contradictions.ts';

interface DuplicateOptions {
  /** The cosine from which two lessons are duplicates. */
  readonly threshold?: number;
  /** The pairs that are at least so near, where they are known already. */
  readonly near?: readonly NearLessonPair[];
  /** How well a lesson is proven, more is better; 0 for all by default. */
  readonly proof?: (lesson: Lesson) => number;
  /** Whether two near lessons say the same; by default all do that do not contradict each other. */
  readonly isSame?: (a: Lesson, b: Lesson) => boolean;
  /** Whether a lesson may be absorbed by another; any by default. */
  readonly mayRetire?: (other: Lesson, into: Lesson) => boolean;
}

interface Duplicates {
  readonly pairs: readonly NearLessonPair[];
  /** One per group, to be gated and published like other changes. */
  readonly merges: readonly Change[];
}

/** The limit of a lesson. */
const MOST_EVIDENCE = 64;
const STANDING = { live: 2, trial: 1, proposed: 0, retired: -1, rejected: -1 } as const;
const VISIBLE = { private: 0, scoped: 1, shared: 2 } as const;

/**
 * Duplicates among lessons of the same kind. Contradicting lessons are similar too and are excluded. In each group the
 * highest-ranked lesson absorbs only its own neighbours, since the ends of a chain of neighbours may be far apart.
 */
export function findDuplicates(
  lessons: readonly Lesson[],
  vectors: LessonVectors,
  {
    threshold = LESSON_LIKENESS.same,
    proof = () => 0,
    isSame = sameByMeaning,
    mayRetire = () => true,
    near: found = nearPairs(lessons, vectors, threshold),
  }: DuplicateOptions = {},
): Duplicates {
  const pairs = found.filter(({ a, b }) => a.kind === b.kind && isSame(a, b));
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
      (other) => !taken.has(other.id) && mayAbsorb(into, other) && mayRetire(other, into),
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

const sameByMeaning = (a: Lesson, b: Lesson): boolean =>
  whyContradict(ruleWords(a), ruleWords(b)) === undefined;

/** Pinned lessons first, then those in a later state, better proven, older. */
const rank = (a: Lesson, b: Lesson, proof: (lesson: Lesson) => number): number =>
  Number(b.pinned) - Number(a.pinned) ||
  STANDING[b.state] - STANDING[a.state] ||
  proof(b) - proof(a) ||
  a.createdAt - b.createdAt ||
  (a.id < b.id ? -1 : 1);

/** The absorbed lesson must not have applied in a scope, to a reader or at a time that the other does not cover. */
function mayAbsorb(into: Lesson, other: Lesson): boolean {
  return (
    !other.pinned &&
    !other.frozen &&
    STANDING[into.state] >= STANDING[other.state] &&
    scopeCovers(into.text.scope, other.text.scope) &&
    VISIBLE[into.text.note.visibility] >= VISIBLE[other.text.note.visibility] &&
    (into.expiresAt ?? Number.POSITIVE_INFINITY) >= (other.expiresAt ?? Number.POSITIVE_INFINITY)
  );
}

/** The text stays as it was measured, with the evidence of all lessons. A frozen lesson stays unchanged. */
function mergedText({ text, frozen }: Lesson, others: readonly Lesson[]): LessonText {
  if (frozen) return text;
  const all = [text, ...others.map((other) => other.text)].map(({ evidence }) => evidence);
  const turns = [...new Set(all.flatMap((evidence) => evidence.turns))].slice(0, MOST_EVIDENCE);
  const quotes = all.flatMap((evidence) => evidence.quotes).slice(0, MOST_EVIDENCE);
  return { ...text, evidence: { ...text.evidence, turns, quotes } };
}
