import type { Clause } from './clauses.ts';
import type { Value } from './values.ts';

/** The share of common terms from which two instructions are about the same thing. */
const MOSTLY = 0.8;
/** The same when all terms of one are in the other, which then is more specific. */
const WITHIN = 0.5;

/**
 * Why two texts cannot both be followed; undefined when no contradiction was found. A heuristic: the same instruction with
 * and without a negation, or different values for the same property. The result is reported to a person and decides nothing.
 */
export function whyContradict(a: readonly Clause[], b: readonly Clause[]): string | undefined {
  for (const one of a)
    for (const other of b) {
      const why = one.isNegative === other.isNegative ? whyDifferent(one, other) : whyOpposite(one, other);
      if (why !== undefined) return `${why}: “${one.text}” and “${other.text}”`;
    }
  return undefined;
}

/** The prohibition covers the instruction. A prohibition of only a part of it is an exception, not a contradiction. */
function whyOpposite(one: Clause, other: Clause): string | undefined {
  const [asked, refused] = one.isNegative ? [other, one] : [one, other];
  const { shared, all } = compare(asked.terms, refused.terms);
  const isSame = shared >= all * (shared === refused.terms.size ? WITHIN : MOSTLY);
  const isOfValues = refused.values.every((value) =>
    asked.values.some((candidate) => candidate.of === value.of && !excludes(value, candidate)),
  );
  return isSame && isOfValues ? 'opposite directions' : undefined;
}

/** Both set the same property to different values. Two prohibitions do not contradict. */
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

/** An instruction with two values of one property compares or lists them. */
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
