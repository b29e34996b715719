import type { Insertion, Outline } from '../core/wire.ts';
import { eachMember, isText, OPEN_BRACE, readString, type Span, skipSpace, skipValue } from './scan.ts';

/**
 * The common part of all wires' outlines. `visit` walks every member except `model` and `stream` and returns its end;
 * `place` gets the span of the body's object. Undefined unless the body is exactly one object.
 */
export function outlineObject(
  bytes: Buffer,
  visit: (key: Span, valueAt: number) => number,
  place: (block: string, object: Span) => readonly Insertion[],
): Outline | undefined {
  const start = skipSpace(bytes, 0);
  if (bytes[start] !== OPEN_BRACE) return undefined;
  let model: string | undefined;
  let modelSpan: Span | undefined;
  let stream = false;
  const found: { readonly key: Span; readonly value: Span }[] = [];
  const end = eachMember(bytes, start, (key, at) => {
    const valueEnd = readMember(key, at);
    found.push({ key, value: [at, valueEnd] });
    return valueEnd;
  });
  function readMember(key: Span, at: number): number {
    const isModel = isText(bytes, key, 'model');
    if (!isModel && !isText(bytes, key, 'stream')) return visit(key, at);
    const valueEnd = skipValue(bytes, at);
    if (valueEnd < 0) return -1;
    if (!isModel) stream = bytes.toString('latin1', at, valueEnd) === 'true';
    else {
      model = readString(bytes, [at, valueEnd]);
      modelSpan = model === undefined ? undefined : [at, valueEnd];
    }
    return valueEnd;
  }
  if (end < 0 || skipSpace(bytes, end) !== bytes.length) return undefined;
  return {
    model,
    modelSpan,
    stream,
    member: (name) => {
      for (let i = found.length - 1; i >= 0; i--) {
        const one = found[i];
        if (one !== undefined && isText(bytes, one.key, name)) return one.value;
      }
      return undefined;
    },
    place: (block) => (block === '' ? [] : place(block, [start, end])),
  };
}
