import type { Insertion } from '../core/wire.ts';
import { appendText, prependItem } from './place.ts';
import { eachElement, eachMember, isText, OPEN_BRACE, type Span, skipValue } from './scan.ts';

/** An array of messages and the last of its leading system messages. */
export interface Leading {
  /** The end is -1 when the array is malformed. */
  readonly array: Span;
  readonly last: Message | undefined;
}

interface Message {
  readonly end: number;
  readonly content: Span | undefined;
}

/** The end of the message at `at`, and the message itself if it is a system message. */
function readSystem(
  bytes: Buffer,
  at: number,
  isType: (type: Span | undefined) => boolean,
): readonly [end: number, message: Message | undefined] {
  let content: Span | undefined;
  let role: Span | undefined;
  let type: Span | undefined;
  const end = eachMember(bytes, at, (key, valueAt) => {
    const span: Span = [valueAt, skipValue(bytes, valueAt)];
    if (isText(bytes, key, 'content')) content = span;
    else if (isText(bytes, key, 'role')) role = span;
    else if (isText(bytes, key, 'type')) type = span;
    return span[1];
  });
  const isSystem = role && (isText(bytes, role, 'system') || isText(bytes, role, 'developer'));
  return [end, isSystem && isType(type) ? { end, content } : undefined];
}

/** Walks the array at `at`; after the leading system messages it only skips. `isType` accepts a message's `type`. */
export function findLeading(bytes: Buffer, at: number, isType: (type: Span | undefined) => boolean): Leading {
  let last: Message | undefined;
  let isLeading = true;
  const end = eachElement(bytes, at, (elementAt) => {
    if (!isLeading || bytes[elementAt] !== OPEN_BRACE) {
      isLeading = false;
      return skipValue(bytes, elementAt);
    }
    const [elementEnd, message] = readSystem(bytes, elementAt, isType);
    if (message) last = message;
    else isLeading = false;
    return elementEnd;
  });
  return { array: [at, end], last };
}

/**
 * Inserts a block after the leading system text: into the last leading message, or as a new `message` if that one has no
 * text to append to. `part` and `message` are JSON texts that contain the block.
 */
export function placeAfterLeading(
  bytes: Buffer,
  { array, last }: Leading,
  block: string,
  { part, message }: { readonly part: string; readonly message: string },
): Insertion {
  if (last === undefined) return prependItem(bytes, array, message);
  const inside = last.content && appendText(bytes, last.content, block, part);
  return inside ?? { at: last.end, text: `,${message}` };
}
