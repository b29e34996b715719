import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COMMA,
  DOUBLE_QUOTE,
  isJsonSpace,
  OPEN_BRACE,
  OPEN_BRACKET,
  rememberEnds,
} from './json-scan.ts';

const BACKSLASH = 0x5c;

/**
 * `readable`: the walks that follow jump over long values and cost little. `unreadable`: not one JSON object, no walk is
 * needed. `too-complex`: walking it would block the thread for too long.
 */
type BodySurvey = 'readable' | 'unreadable' | 'too-complex';

interface SurveyOptions {
  /** The most strings, containers and commas together. */
  readonly mostTokens: number;
  /** It is only routed by its top-level members: long lists of numbers cost nothing more. */
  readonly mayBeSlow?: boolean;
  readonly monotonic: () => number;
  /** Lets other work of the thread run. */
  readonly rest: () => Promise<void>;
}

/** Bodies up to this size are surveyed in one go. */
const AT_ONCE_BYTES = 1024 * 1024;
/** How long a larger one is read before other work may run, and how often the time is looked at. */
const SLICE_MS = 8;
const SLICE_STEPS = 16_384;
/** Bytes that later walks have to read one by one: white space, numbers and short strings. */
const MOST_SLOW_BYTES = 8 * 1024 * 1024;
/** Strings from this length, or with this many escapes, and containers from this length are jumped over later. */
const LONG_VALUE = 128;
const MANY_ESCAPES = 8;
const DEEPEST_KNOWN = 64;
const DEEPEST = 1000;
/** Up to this many bytes a loop is cheaper than a call of `indexOf`. */
const NEAR = 8;

/**
 * One pass over a large body before anything else walks it. Later walks (the outline, the chain of messages, the
 * conversation) find the ends of its long values in a table. A body under `SURVEYED_BYTES` needs no survey.
 */
export async function surveyBody(bytes: Buffer, options: SurveyOptions): Promise<BodySurvey> {
  const survey = new Survey(bytes, options);
  const isWhole = bytes.length <= AT_ONCE_BYTES;
  for (;;) {
    const until = options.monotonic() + SLICE_MS;
    const result = survey.run(() => !isWhole && options.monotonic() >= until);
    if (result !== undefined) return result;
    await options.rest();
  }
}

/** Can stop anywhere and continue, also within a string. */
class Survey {
  readonly #bytes: Buffer;
  readonly #mostTokens: number;
  readonly #mostSlow: number;
  readonly #ends = new Map<number, number>();
  /** The offsets of the containers that are open. */
  readonly #open: number[] = [];
  #at = 0;
  #tokens = 0;
  #slow = 0;
  /** The offset of the string that is being read, or -1. */
  #stringAt = -1;
  #escapes = 0;
  /** The next quote and the next backslash, if they are not before the current offset. */
  #quote = -1;
  #backslash = -1;
  #isClosed = false;

  constructor(bytes: Buffer, { mostTokens, mayBeSlow = false }: SurveyOptions) {
    this.#bytes = bytes;
    this.#mostTokens = mostTokens;
    this.#mostSlow = mayBeSlow ? Number.POSITIVE_INFINITY : MOST_SLOW_BYTES;
  }

  /** Undefined when `isDue` said that the time is over. */
  run(isDue: () => boolean): BodySurvey | undefined {
    const { length } = this.#bytes;
    for (let steps = 1; this.#at < length; steps++) {
      if (steps % SLICE_STEPS === 0) {
        if (this.#isTooComplex()) return 'too-complex';
        if (isDue()) return undefined;
      }
      const isSound = this.#stringAt >= 0 ? this.#readString() : this.#readByte();
      if (!isSound) return 'unreadable';
    }
    if (!this.#isClosed) return 'unreadable';
    if (this.#isTooComplex()) return 'too-complex';
    rememberEnds(this.#bytes, this.#ends);
    return 'readable';
  }

  #isTooComplex(): boolean {
    return this.#tokens > this.#mostTokens || this.#slow > this.#mostSlow;
  }

  #readByte(): boolean {
    const byte = this.#bytes[this.#at];
    if (this.#open.length === 0 && byte !== OPEN_BRACE) {
      this.#at++;
      this.#slow++;
      return isJsonSpace(byte);
    }
    switch (byte) {
      case DOUBLE_QUOTE:
        this.#stringAt = this.#at++;
        this.#escapes = 0;
        this.#tokens++;
        return true;
      case OPEN_BRACE:
      case OPEN_BRACKET:
        if (this.#isClosed) return false;
        this.#tokens++;
        // Deeper nesting than any request has: no program that reads it back could write it as JSON.
        if (this.#open.push(this.#at++) > DEEPEST) this.#tokens = Number.POSITIVE_INFINITY;
        return true;
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        this.#endContainer(this.#open.pop() ?? 0, ++this.#at);
        this.#isClosed = this.#open.length === 0;
        return true;
      default:
        if (byte === COMMA) this.#tokens++;
        this.#at++;
        this.#slow++;
        return true;
    }
  }

  /** A part of the string: up to its end, or past its next escapes. */
  #readString(): boolean {
    const bytes = this.#bytes;
    const near = Math.min(this.#at + NEAR, bytes.length);
    let i = this.#at;
    while (i < near) {
      const byte = bytes[i];
      if (byte === DOUBLE_QUOTE) return this.#endString(i + 1);
      if (byte === BACKSLASH) {
        this.#escapes++;
        i += 2;
      } else i++;
    }
    if (this.#quote < i) this.#quote = bytes.indexOf(DOUBLE_QUOTE, i);
    if (this.#quote < 0) return false;
    if (this.#backslash < i) {
      const found = bytes.indexOf(BACKSLASH, i);
      this.#backslash = found < 0 ? bytes.length : found;
    }
    if (this.#quote < this.#backslash) return this.#endString(this.#quote + 1);
    this.#at = this.#backslash;
    return true;
  }

  #endString(end: number): boolean {
    const length = end - this.#stringAt;
    if (length >= LONG_VALUE || this.#escapes > MANY_ESCAPES) this.#ends.set(this.#stringAt, end);
    else this.#slow += length;
    this.#stringAt = -1;
    this.#at = end;
    return true;
  }

  /** A walk that skips a container does not look at those inside it. */
  #endContainer(start: number, end: number): void {
    if (end - start >= LONG_VALUE && this.#open.length < DEEPEST_KNOWN) this.#ends.set(start, end);
  }
}
