import type { Insertion } from '../core/wire.ts';

interface Edits {
  /** In any order; insertions at the same offset keep their order. */
  readonly insertions: readonly Insertion[];
  /** Spans to replace, such as the model's name; they do not overlap and contain no insertion. */
  readonly replacements?: readonly Replacement[];
}

export interface Replacement {
  readonly span: readonly [start: number, end: number];
  /** Already escaped for its place. */
  readonly text: string;
}

/** A new buffer with the edits applied; the body itself is not changed. */
export function splice(body: Uint8Array, { insertions, replacements = [] }: Edits): Buffer {
  const patches = insertions.map(({ at, text }) => ({ start: at, end: at, text }));
  for (const { span, text } of replacements) patches.push({ start: span[0], end: span[1], text });
  patches.sort((a, b) => a.start - b.start || a.end - b.end);

  let length = body.length;
  for (const { start, end, text } of patches) length += Buffer.byteLength(text) - (end - start);

  const out = Buffer.allocUnsafe(length);
  let from = 0;
  let to = 0;
  for (const { start, end, text } of patches) {
    out.set(body.subarray(from, start), to);
    to += start - from;
    to += out.write(text, to);
    from = end;
  }
  out.set(body.subarray(from), to);
  return out;
}
