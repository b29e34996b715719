/** A lower bound: a token is about three bytes or more of prose, code or logs in any script. */
export const BYTES_PER_TOKEN = 3;

export const bytesOf = (text: string): number => Buffer.byteLength(text, 'utf8');

/**
 * How many bytes each of several texts may have. Each is guaranteed its share; the rest goes to the first texts that
 * need more.
 */
export function allot(sizes: readonly number[], shares: readonly number[], total: number): readonly number[] {
  const given = sizes.map((size, index) => Math.min(size, shares[index] ?? 0));
  let left = total - given.reduce((sum, size) => sum + size, 0);
  return given.map((size, index) => {
    const more = Math.max(0, Math.min(left, (sizes[index] ?? 0) - size));
    left -= more;
    return size + more;
  });
}
