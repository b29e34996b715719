/** Two texts, by their places in the two lists, and how much of what either says is in both. */
export interface NearPair {
  readonly a: number;
  readonly b: number;
  readonly similarity: number;
}

export interface NearDuplicates {
  readonly pairs: readonly NearPair[];
  /** Pairs about which this says something: all there are. */
  readonly compared: number;
  /** Pairs that shared enough of their rarest words to be counted out. */
  readonly counted: number;
}

const SHINGLE = 3;

/**
 * The pairs whose word triples overlap (Jaccard) by at least the threshold, which is over 0. Exact, and yet without
 * looking at every pair: two sets that overlap by `t` share one of their first `n - ⌈t·n⌉ + 1` members when all sets are in the
 * same order (prefix filtering, Chaudhuri et al. 2006; with the rarest first hardly any pair is left to count).
 */
export function nearDuplicates(
  a: readonly string[],
  b: readonly string[],
  threshold: number,
): NearDuplicates {
  if (!(threshold > 0 && threshold <= 1)) throw new RangeError('a threshold lies above 0 and at most at 1');
  const [left = [], right = []] = rankShingles(a, b);
  const index = new Map<number, number[]>();
  for (const [at, ranks] of right.entries()) {
    for (const rank of prefixOf(ranks, threshold)) {
      const known = index.get(rank);
      if (known === undefined) index.set(rank, [at]);
      else known.push(at);
    }
  }
  const pairs: NearPair[] = [];
  let counted = 0;
  for (const [at, ranks] of left.entries()) {
    const candidates = new Set(prefixOf(ranks, threshold).flatMap((rank) => index.get(rank) ?? []));
    for (const other of candidates) {
      const similarity = jaccard(ranks, right[other] ?? []);
      counted++;
      if (similarity >= threshold) pairs.push({ a: at, b: other, similarity });
    }
  }
  return { pairs, compared: a.length * b.length, counted };
}

/** The triples of each text as numbers in rising order, where a rarer one has the lower number. */
function rankShingles(...lists: readonly (readonly string[])[]): readonly (readonly (readonly number[])[])[] {
  const frequency = new Map<string, number>();
  const sets = lists.map((texts) => texts.map((text) => new Set(shingles(text))));
  for (const set of sets.flat()) {
    for (const shingle of set) frequency.set(shingle, (frequency.get(shingle) ?? 0) + 1);
  }
  const ranked = [...frequency].sort(([, one], [, two]) => one - two);
  const ranks = new Map(ranked.map(([shingle], rank) => [shingle, rank]));
  return sets.map((texts) =>
    texts.map((set) => [...set].map((shingle) => ranks.get(shingle) ?? -1).sort((one, two) => one - two)),
  );
}

/** Of two lists in rising order: what is in both against what is in either. */
function jaccard(a: readonly number[], b: readonly number[]): number {
  let [at, other, shared] = [0, 0, 0];
  while (at < a.length && other < b.length) {
    const difference = (a[at] ?? 0) - (b[other] ?? 0);
    if (difference === 0) shared++;
    if (difference <= 0) at++;
    if (difference >= 0) other++;
  }
  return shared / (a.length + b.length - shared);
}

/** A product that should be whole may come out a little over; rounding that up would miss a pair. */
const ROUNDING = 1e-9;

const prefixOf = (list: readonly number[], threshold: number): readonly number[] =>
  list.slice(0, list.length - Math.ceil(threshold * list.length - ROUNDING) + 1);

/** Triples of words, without case and punctuation; names and numbers count like any word. */
function shingles(text: string): readonly string[] {
  const words =
    text
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? [];
  if (words.length <= SHINGLE) return [words.join(' ')];
  return words.slice(SHINGLE - 1).map((_, at) => words.slice(at, at + SHINGLE).join(' '));
}
