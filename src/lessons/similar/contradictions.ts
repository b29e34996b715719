import type { Lesson } from '../../core/lesson.ts';
import { type Directive, type DirectiveValue, readDirectives } from './directives.ts';
import { comparedText, type LessonVectors, type NearLessonPair, nearPairs } from './near-pairs.ts';

interface Contradiction extends NearLessonPair {
  readonly why: string;
}

/** For embeddings by all-MiniLM-L6-v2; for n-grams, which compare spelling only, half of it. */
const SAME_TOPIC = 0.55;

/** Lessons about the same topic with opposite instructions. Only reported: a person or practice decides which one is right. */
export function findContradictions(
  lessons: readonly Lesson[],
  vectors: LessonVectors,
  threshold = SAME_TOPIC,
): readonly Contradiction[] {
  const read = new Map<string, readonly Directive[]>();
  const clausesOf = (lesson: Lesson): readonly Directive[] => {
    const found = read.get(lesson.id) ?? readDirectives(comparedText(lesson));
    read.set(lesson.id, found);
    return found;
  };
  return nearPairs(lessons, vectors, threshold).flatMap((pair) => {
    const why = whyContradict(clausesOf(pair.a), clausesOf(pair.b));
    return why === undefined ? [] : [{ ...pair, why }];
  });
}

/** The share of common terms from which two instructions are about the same thing. */
const MOSTLY = 0.8;
/** The same when all terms of one are in the other, which then is more specific. */
const WITHIN = 0.5;

/**
 * Why two texts cannot both be followed; undefined when no contradiction was found. A heuristic: the same instruction with
 * and without a negation, or different values for the same property. The result is reported to a person and decides nothing.
 */
export function whyContradict(a: readonly Directive[], b: readonly Directive[]): string | undefined {
  for (const one of a)
    for (const other of b) {
      const why = one.isNegative === other.isNegative ? whyDifferent(one, other) : whyOpposite(one, other);
      if (why !== undefined) return `${why}: “${one.text}” and “${other.text}”`;
    }
  return undefined;
}

/** The prohibition covers the instruction. A prohibition of only a part of it is an exception, not a contradiction. */
function whyOpposite(one: Directive, other: Directive): string | undefined {
  const [asked, refused] = one.isNegative ? [other, one] : [one, other];
  const { shared, all } = compare(asked.terms, refused.terms);
  const isSame = shared >= all * (shared === refused.terms.size ? WITHIN : MOSTLY);
  const isOfValues = refused.values.every((value) =>
    asked.values.some((candidate) => candidate.of === value.of && !excludes(value, candidate)),
  );
  return isSame && isOfValues ? 'opposite directions' : undefined;
}

/** Both set the same property to different values. Two prohibitions do not contradict. */
function whyDifferent(one: Directive, other: Directive): string | undefined {
  if (one.isNegative && !(one.isAboutLack && other.isAboutLack)) return undefined;
  const { shared, all } = compare(one.terms, other.terms);
  const isWithin = shared === Math.min(one.terms.size, other.terms.size);
  if (shared < all * (isWithin ? WITHIN : MOSTLY)) return undefined;
  for (const value of one.values) {
    const [candidate] = other.values.filter(({ of }) => of === value.of);
    if (
      candidate !== undefined &&
      isAlone(value, one) &&
      isAlone(candidate, other) &&
      excludes(value, candidate)
    )
      return `different ${value.of} (${value.words}, ${candidate.words})`;
  }
  return undefined;
}

/** An instruction with two values of one property compares or lists them. */
const isAlone = (value: DirectiveValue, { values }: Directive): boolean =>
  values.every((candidate) => candidate === value || candidate.of !== value.of);

function excludes(one: DirectiveValue, other: DirectiveValue): boolean {
  if (typeof one.value !== 'number' || typeof other.value !== 'number' || one.bound === other.bound)
    return one.value !== other.value;
  const [least, most] = [lowOf(one) > lowOf(other) ? one : other, highOf(one) < highOf(other) ? one : other];
  return lowOf(least) > highOf(most);
}

const lowOf = ({ value, bound }: DirectiveValue): number =>
  bound === 'at most' ? Number.NEGATIVE_INFINITY : Number(value);
const highOf = ({ value, bound }: DirectiveValue): number =>
  bound === 'at least' ? Number.POSITIVE_INFINITY : Number(value);

function compare(
  a: ReadonlySet<string>,
  b: ReadonlySet<string>,
): { readonly shared: number; readonly all: number } {
  const shared = [...a].filter((term) => b.has(term)).length;
  return { shared, all: a.size + b.size - shared };
}
