/** Tokens are at least about three bytes of what people, programs and machines write, in any script. */
export const BYTES_PER_TOKEN = 3;

export const bytesOf = (text: string): number => Buffer.byteLength(text, 'utf8');

/** At most `most` bytes, from the beginning and, the larger part, from the end: errors stand in the last lines. */
export function cutText(text: string, most: number): string {
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length <= most) return text;
  const gap = `\n[… ${bytes.length} bytes, cut …]\n`;
  const room = Math.max(0, most - bytesOf(gap));
  const head = Math.floor(room * 0.4);
  const tail = room - head;
  const first = bytes
    .subarray(0, head)
    .toString('utf8')
    .replace(/\ufffd$/, '');
  const last = bytes
    .subarray(bytes.length - tail)
    .toString('utf8')
    .replace(/^\ufffd{1,3}/, '');
  return room === 0 ? '' : first + gap + last;
}

/**
 * How many bytes each of several texts may have. Each is sure of its share; what is left over goes to the first ones
 * that want more.
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
