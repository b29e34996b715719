import { createHmac } from 'node:crypto';

/** A part of a text that is a secret, or one line of a secret. */
export interface SecretSpan {
  readonly start: number;
  readonly end: number;
  /** The secret that the mark is computed from, if the text is another spelling of it. */
  readonly secret?: string;
}

/** The state of one scan of a text from start to end. */
export interface ScanContext {
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
export type SecretRule = (page: ScanContext, start: number, end: number) => readonly SecretSpan[];

export const NO_SPANS: readonly SecretSpan[] = [];

export function createScanContext(text: string): ScanContext {
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

/** The replacement of a secret. */
const MARK = /\[\[secret:[0-9a-f]{8}\]\]/;
const MARK_START = '[[secret:';
const MARK_LENGTH = MARK_START.length + 10;

/** Equal secrets get equal marks; without the salt a guess cannot be verified. */
export const formatMark = (secret: string, salt: string): string =>
  `${MARK_START}${createHmac('sha256', salt).update(secret).digest('hex').slice(0, 8)}]]`;

export const hasMark = (text: string): boolean => text.includes(MARK_START) && MARK.test(text);

export const removeMarks = (text: string): string =>
  text.includes(MARK_START) ? text.replace(new RegExp(MARK, 'g'), '') : text;

/** The spans of the marks in a text, in order. */
export function findMarks(text: string): readonly { readonly start: number; readonly end: number }[] {
  const marks: { start: number; end: number }[] = [];
  for (let at = text.indexOf(MARK_START); at >= 0; at = text.indexOf(MARK_START, at + 1)) {
    if (MARK.test(text.slice(at, at + MARK_LENGTH))) marks.push({ start: at, end: at + MARK_LENGTH });
  }
  return marks;
}
