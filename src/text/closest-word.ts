/** Edits (insert, delete or replace a character, swap two neighbours) that turn one word into the other. */
function editDistance(a: string, b: string): number {
  let before: readonly number[] = [];
  let row: readonly number[] = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swapped = i > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? before[j - 2] : undefined;
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (swapped ?? Infinity) + 1));
    }
    before = row;
    row = next;
  }
  return row[b.length] ?? 0;
}

/** The candidate that was probably meant by a mistyped word; undefined when none is within a third of its length. */
export function closestWord(word: string, candidates: readonly string[]): string | undefined {
  if (word.length > 64) return undefined;
  const ranked = candidates
    .map((candidate) => ({ candidate, edits: editDistance(word.toLowerCase(), candidate.toLowerCase()) }))
    .filter(
      ({ candidate, edits }) => edits <= Math.max(1, Math.floor(Math.max(word.length, candidate.length) / 3)),
    )
    .sort((a, b) => a.edits - b.edits);
  return ranked[0]?.candidate;
}
