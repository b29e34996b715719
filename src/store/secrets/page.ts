/** A stretch of text that is a secret, or several lines of one. */
export interface Span {
  readonly start: number;
  readonly end: number;
  /** What the mark is made from when the text there is only one way to write the secret. */
  readonly secret?: string;
}

/** One text while it is read from its beginning to its end. */
export interface Page {
  readonly text: string;
  /** Everything before this index is settled: nothing may begin there, and no character there stands before a word. */
  floor: number;
  /** The end of the last name that was looked at, so that a name with two telling words is judged once. */
  nameEnd: number;
  /** The end of the last long stretch that was judged and is no key, so that a thousand prefixes in it are judged once. */
  refusedEnd: number;
  /** The same for long stretches that stood where a value would stand, and the names in them. */
  refusedValueEnd: number;
  /**
   * The next place of a literal at or after an index, or the end of the text. Answers are kept, so that asking from
   * every index of a text costs one pass over it.
   */
  next(literal: string, from: number): number;
}

/** Judges a place where a literal was found, from `start` to `end`. Reads a bounded stretch unless it gives a span. */
export type Rule = (page: Page, start: number, end: number) => readonly Span[];

export const NONE: readonly Span[] = [];

export function createPage(text: string): Page {
  const answers = new Map<string, { from: number; at: number }>();
  return {
    text,
    floor: 0,
    nameEnd: 0,
    refusedEnd: 0,
    refusedValueEnd: 0,
    next: (literal, from) => {
      const kept = answers.get(literal);
      if (kept && from <= kept.at) {
        if (from >= kept.from) return kept.at;
        const near = text.slice(from, kept.from + literal.length - 1).indexOf(literal);
        return near < 0 ? kept.at : from + near;
      }
      const found = text.indexOf(literal, from);
      const at = found < 0 ? text.length : found;
      answers.set(literal, { from, at });
      return at;
    },
  };
}
