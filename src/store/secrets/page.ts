/** A part of a text that is a secret, or one line of a secret. */
export interface Span {
  readonly start: number;
  readonly end: number;
  /** The secret that the mark is computed from, if the text is another spelling of it. */
  readonly secret?: string;
}

/** The state of one scan of a text from start to end. */
export interface Page {
  readonly text: string;
  /** Everything before this index is decided: no secret may begin there, and it counts as a word boundary. */
  floor: number;
  /** The end of the last examined name, so that a name with two triggers is examined once. */
  nameEnd: number;
  /** The end of the last long run that was rejected, so that many prefixes in it are examined once. */
  refusedEnd: number;
  /** The same for long runs in the place of a value, and the names in them. */
  refusedValueEnd: number;
  /**
   * The next occurrence of a literal at or after an index, or the end of the text. Results are cached, so that queries from
   * every index cost one pass over the text.
   */
  next(literal: string, from: number): number;
}

/** Examines an occurrence of a trigger, from `start` to `end`. Reads a bounded part of the text unless it returns a span. */
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
