const counts = new Uint16Array(128);

/** The Shannon entropy of a short text, in bits per character; all non-ASCII characters count as one. */
export function entropyBits(text: string): number {
  counts.fill(0);
  for (let i = 0; i < text.length; i++) {
    const code = Math.min(127, text.charCodeAt(i));
    counts[code] = (counts[code] ?? 0) + 1;
  }
  let bits = 0;
  for (const count of counts) {
    if (count > 0) bits -= (count / text.length) * Math.log2(count / text.length);
  }
  return bits;
}
