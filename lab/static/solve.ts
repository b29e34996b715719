/** X with A X = B, by elimination. A is symmetric and positive; both are overwritten. */
export function solve(a: readonly Float64Array[], b: readonly Float64Array[]): readonly Float64Array[] {
  const size = a.length;
  const subtract = (target: Float64Array, source: Float64Array, factor: number): void => {
    for (let at = 0; at < target.length; at++) target[at] = (target[at] ?? 0) - factor * (source[at] ?? 0);
  };
  const at = (rows: readonly Float64Array[], row: number): Float64Array =>
    rows[row] ?? new Float64Array(size);
  for (let pivot = 0; pivot < size; pivot++)
    for (let row = pivot + 1; row < size; row++) {
      const factor = (at(a, row)[pivot] ?? 0) / (at(a, pivot)[pivot] ?? 1);
      subtract(at(a, row), at(a, pivot), factor);
      subtract(at(b, row), at(b, pivot), factor);
    }
  for (let pivot = size - 1; pivot >= 0; pivot--) {
    for (let row = pivot + 1; row < size; row++) subtract(at(b, pivot), at(b, row), at(a, pivot)[row] ?? 0);
    const scale = at(a, pivot)[pivot] ?? 1;
    for (let column = 0; column < size; column++) at(b, pivot)[column] = (at(b, pivot)[column] ?? 0) / scale;
  }
  return b;
}
