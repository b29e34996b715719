import type { Clause } from './clauses.ts';
import type { Value } from './values.ts';

/** How much of what two clauses are about they must share to speak of the same thing. */
const MOSTLY = 0.8;
/** The same when all of one is in the other, which then says more of the same and not something else. */
const WITHIN = 0.5;

/**
 * Why two texts cannot both be followed, in words; undefined when nothing speaks for it. A guess from cues: the same with
 * and without a negation, or two answers where there can be one. It flags for someone to look, and decides nothing.
 */
export function whyContradict(a: readonly Clause[], b: readonly Clause[]): string | undefined {
  for (const one of a)
    for (const other of b) {
      const why = one.isNegative === other.isNegative ? whyDifferent(one, other) : whyOpposite(one, other);
      if (why !== undefined) return `${why}: “${one.text}” and “${other.text}”`;
    }
  return undefined;
}

/** What is refused is what is asked for, or more than it; to refuse a part of it would be an exception. */
function whyOpposite(one: Clause, other: Clause): string | undefined {
  const [asked, refused] = one.isNegative ? [other, one] : [one, other];
  const { shared, all } = compare(asked.terms, refused.terms);
  const isSame = shared >= all * (shared === refused.terms.size ? WITHIN : MOSTLY);
  const isOfValues = refused.values.every((value) =>
    asked.values.some((candidate) => candidate.of === value.of && !excludes(value, candidate)),
  );
  return isSame && isOfValues ? 'opposite directions' : undefined;
}

/** Both fix the same thing, each in its own way. What is refused twice leaves room for a third. */
function whyDifferent(one: Clause, other: Clause): string | undefined {
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

/** A clause that names two of a sort weighs them or lists them. */
const isAlone = (value: Value, { values }: Clause): boolean =>
  values.every((candidate) => candidate === value || candidate.of !== value.of);

function excludes(one: Value, other: Value): boolean {
  if (typeof one.value !== 'number' || typeof other.value !== 'number' || one.bound === other.bound)
    return one.value !== other.value;
  const [least, most] = [lowOf(one) > lowOf(other) ? one : other, highOf(one) < highOf(other) ? one : other];
  return lowOf(least) > highOf(most);
}

const lowOf = ({ value, bound }: Value): number =>
  bound === 'at most' ? Number.NEGATIVE_INFINITY : Number(value);
const highOf = ({ value, bound }: Value): number =>
  bound === 'at least' ? Number.POSITIVE_INFINITY : Number(value);

function compare(
  a: ReadonlySet<string>,
  b: ReadonlySet<string>,
): { readonly shared: number; readonly all: number } {
  const shared = [...a].filter((term) => b.has(term)).length;
  return { shared, all: a.size + b.size - shared };
}
