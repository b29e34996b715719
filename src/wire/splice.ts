import { createLruMap } from '../base/lru-map.ts';
import type { Insertion } from '../core/wire.ts';
import { type ByteSpan, DOUBLE_QUOTE, OPEN_BRACKET, skipSpace } from './json-scan.ts';

interface Edits {
  /** In any order; insertions at the same offset keep their order. */
  readonly insertions: readonly Insertion[];
  /** Spans to replace, such as the model's name; they do not overlap and contain no insertion. */
  readonly replacements?: readonly SpanReplacement[];
}

export interface SpanReplacement {
  readonly span: readonly [start: number, end: number];
  /** Already escaped for its place. */
  readonly text: string;
}

/** Smaller pieces are copied together: a write for each would cost more than the copy. */
const WORTH_A_PIECE = 16 * 1024;

/** The body with the edits applied, in pieces: its long stretches are slices of it, not copies. The body itself is not changed. */
export function splice(body: Uint8Array, { insertions, replacements = [] }: Edits): readonly Buffer[] {
  const patches = insertions.map(({ at, text }) => ({ start: at, end: at, text }));
  for (const { span, text } of replacements) patches.push({ start: span[0], end: span[1], text });
  patches.sort((a, b) => a.start - b.start || a.end - b.end);

  const pieces: Buffer[] = [];
  let small: Uint8Array[] = [];
  const flush = (): void => {
    if (small.length > 0) pieces.push(Buffer.concat(small));
    small = [];
  };
  const add = (bytes: Uint8Array): void => {
    if (bytes.length < WORTH_A_PIECE) {
      if (bytes.length > 0) small.push(bytes);
      return;
    }
    flush();
    pieces.push(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length));
  };
  let from = 0;
  for (const { start, end, text } of patches) {
    add(body.subarray(from, start));
    add(Buffer.from(text));
    from = end;
  }
  add(body.subarray(from));
  flush();
  return pieces;
}

/** Whether there is nothing between a span's brackets. */
const isEmpty = (bytes: Buffer, [start, end]: ByteSpan): boolean => skipSpace(bytes, start + 1) === end - 1;

/** `item` is JSON text: an element, or a member with its key. */
export const prependJsonItem = (bytes: Buffer, span: ByteSpan, item: string): Insertion => ({
  at: span[0] + 1,
  text: isEmpty(bytes, span) ? item : `${item},`,
});

/**
 * Appends a block to a value that contains text: at the end of a string, or as one more element, `part`, of an array.
 * Undefined when the value is neither.
 */
export function appendJsonText(
  bytes: Buffer,
  span: ByteSpan,
  block: string,
  part: string,
): Insertion | undefined {
  const [start, end] = span;
  if (bytes[start] === DOUBLE_QUOTE) {
    return { at: end - 1, text: `\\n\\n${quoteJson(block).slice(1, -1)}` };
  }
  if (bytes[start] === OPEN_BRACKET) {
    return { at: end - 1, text: isEmpty(bytes, span) ? part : `,${part}` };
  }
  return undefined;
}

const MOST = 64;
const quotedTexts = createLruMap<string, string>(MOST);

/** A text as a JSON string, cached: the same block is inserted into many turns. */
export function quoteJson(text: string): string {
  const cached = quotedTexts.get(text);
  if (cached !== undefined) return cached;
  const quoted = JSON.stringify(text);
  quotedTexts.set(text, quoted);
  return quoted;
}
