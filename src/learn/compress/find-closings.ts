const BARE_FENCE = /^(?:`{3,40}|~{3,40})$/;
const END_TAG = /^<\/[A-Za-z][\w-]{0,60}>$/;

export interface Closings {
  /** Whether a line after `at` closes the fence or tag. */
  isClosed(closing: string, at: number): boolean;
}

/** The last line that closes each fence and tag. */
export function findClosings(lines: readonly string[]): Closings {
  const last = new Map<string, number>();
  lines.forEach((line, at) => {
    const text = line.trim();
    if (END_TAG.test(text)) last.set(text, at);
    // A longer fence closes a shorter one.
    if (BARE_FENCE.test(text))
      for (let length = 3; length <= text.length; length++) last.set(text.slice(0, length), at);
  });
  return { isClosed: (closing, at) => (last.get(closing) ?? -1) > at };
}
