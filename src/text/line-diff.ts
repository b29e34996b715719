/** A line that both texts have, that only the old one has, or that only the new one has. */
interface DiffLine {
  readonly mark: ' ' | '-' | '+';
  readonly line: string;
}

/** The lines of two texts, by their longest common subsequence. For texts of a few hundred lines. */
export function diffLines(before: string, after: string): readonly DiffLine[] {
  const [a, b] = [linesOf(before), linesOf(after)];
  const width = b.length + 1;
  const lengths = new Uint16Array((a.length + 1) * width);
  const at = (i: number, j: number): number => lengths[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      lengths[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  const lines: DiffLine[] = [];
  for (let [i, j] = [0, 0]; i < a.length || j < b.length; ) {
    const isSame = i < a.length && j < b.length && a[i] === b[j];
    const isRemoved = !isSame && i < a.length && (j >= b.length || at(i + 1, j) >= at(i, j + 1));
    lines.push({
      mark: isSame ? ' ' : isRemoved ? '-' : '+',
      line: (isSame || isRemoved ? a[i] : b[j]) ?? '',
    });
    if (isSame || isRemoved) i++;
    if (isSame || !isRemoved) j++;
  }
  return lines;
}

const linesOf = (text: string): readonly string[] => (text === '' ? [] : text.split('\n'));
