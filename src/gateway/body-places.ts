import type { Outline, WireName } from '../core/wire.ts';
import { eachElement, OPEN_BRACKET, readString, type Span, skipSpace, skipValue } from '../wire/scan.ts';

/**
 * The parts of a request body that identify its client, as byte offsets: only small parts are copied or parsed. A body
 * that is not a JSON object has none.
 */
export interface BodyPlaces {
  readonly bytes: Buffer;
  /** A member of the body's object. */
  member(name: string): Span | undefined;
  /** A member that is a short string. */
  text(name: string): string | undefined;
  /** Whether the request offers the model any tool. */
  hasTools(): boolean;
  /** The first 8 KB of the client's instructions, as a separate member and as the first message. */
  introductions(): readonly Span[];
  /** The instructions outside the conversation (`system`, `instructions`), at most 256 KB. */
  instructions(): Span | undefined;
  /** The first 256 KB of the conversation. */
  opening(): Span | undefined;
  /** The last 16 KB of the conversation. */
  closing(): Span | undefined;
  newestMessage(): Span | undefined;
}

const OPENING_BYTES = 256 * 1024;
const CLOSING_BYTES = 16 * 1024;
const INTRODUCTION_BYTES = 8 * 1024;
const SHORT_TEXT = 16 * 1024;

const NO_BYTES = Buffer.alloc(0);

export const findPlaces = (
  wire: WireName,
  body: Buffer | undefined,
  outline: Outline | undefined,
): BodyPlaces => new OutlinedPlaces(wire, body ?? NO_BYTES, outline);

/** A class, since every request creates one and most of its methods are never called. */
class OutlinedPlaces implements BodyPlaces {
  readonly bytes: Buffer;
  readonly #wire: WireName;
  readonly #outline: Outline | undefined;

  constructor(wire: WireName, bytes: Buffer, outline: Outline | undefined) {
    this.bytes = bytes;
    this.#wire = wire;
    this.#outline = outline;
  }

  member(name: string): Span | undefined {
    return this.#outline?.member(name);
  }

  text(name: string): string | undefined {
    const span = this.member(name);
    return span && span[1] - span[0] <= SHORT_TEXT ? readString(this.bytes, span) : undefined;
  }

  hasTools(): boolean {
    const first = firstAt(this.bytes, this.member('tools')) ?? firstAt(this.bytes, this.member('functions'));
    return first !== undefined;
  }

  introductions(): readonly Span[] {
    const spans: Span[] = [];
    const instructions = this.#instructions();
    if (instructions !== undefined) spans.push(cut(instructions, INTRODUCTION_BYTES));
    const list = this.#conversation();
    const first = firstAt(this.bytes, list);
    if (first !== undefined && list !== undefined) spans.push(cut([first, list[1]], INTRODUCTION_BYTES));
    return spans;
  }

  instructions(): Span | undefined {
    const span = this.#instructions();
    return span && cut(span, OPENING_BYTES);
  }

  opening(): Span | undefined {
    const span = this.#conversation();
    return span && cut(span, OPENING_BYTES);
  }

  closing(): Span | undefined {
    const span = this.#conversation();
    return span && [Math.max(span[0], span[1] - CLOSING_BYTES), span[1]];
  }

  newestMessage(): Span | undefined {
    return lastElement(this.bytes, this.#conversation());
  }

  #instructions(): Span | undefined {
    return this.member(this.#wire === 'anthropic' ? 'system' : 'instructions');
  }

  #conversation(): Span | undefined {
    return this.member(this.#wire === 'openai-responses' ? 'input' : 'messages');
  }
}

/** A text to search for in bodies, encoded once instead of with every search. */
export const toNeedle = (words: string): Buffer => Buffer.from(words, 'latin1');

/** The offset of `needle` in a span, or -1. */
export function findIn(bytes: Buffer, span: Span | undefined, needle: Buffer): number {
  if (span === undefined) return -1;
  const at = bytes.subarray(span[0], span[1]).indexOf(needle);
  return at < 0 ? -1 : span[0] + at;
}

/** Whether a span contains any of the needles. */
export function holdsAny(bytes: Buffer, span: Span | undefined, needles: readonly Buffer[]): boolean {
  if (span === undefined) return false;
  const text = bytes.subarray(span[0], span[1]);
  return needles.some((needle) => text.includes(needle));
}

const cut = ([start, end]: Span, most: number): Span => [start, Math.min(end, start + most)];

/** The offset of a list's first element; undefined when the list is empty. */
function firstAt(bytes: Buffer, list: Span | undefined): number | undefined {
  if (list === undefined || bytes[list[0]] !== OPEN_BRACKET) return undefined;
  const at = skipSpace(bytes, list[0] + 1);
  return at < list[1] - 1 ? at : undefined;
}

function lastElement(bytes: Buffer, list: Span | undefined): Span | undefined {
  if (list === undefined || bytes[list[0]] !== OPEN_BRACKET) return undefined;
  let last: Span | undefined;
  eachElement(bytes, list[0], (at) => {
    const end = skipValue(bytes, at);
    if (end > 0) last = [at, end];
    return end;
  });
  return last;
}
