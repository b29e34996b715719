import type { Insertion } from '../core/wire.ts';
import { appendText, prependItem } from './place.ts';
import { eachElement, eachMember, OPEN_BRACE, readString, type Span, skipValue } from './scan.ts';

/** An array of messages and the last of the system messages it starts with. */
export interface Leading {
  /** The end is -1 when the array is malformed. */
  readonly array: Span;
  readonly last: Message | undefined;
}

interface Message {
  readonly end: number;
  readonly content: Span | undefined;
  readonly role: string | undefined;
  /** Undefined when absent, null when it is not a string. */
  readonly type: string | null | undefined;
}

function readMessage(bytes: Buffer, at: number): Message {
  let content: Span | undefined;
  let role: string | undefined;
  let type: string | null | undefined;
  const end = eachMember(bytes, at, (key, valueAt) => {
    const valueEnd = skipValue(bytes, valueAt);
    if (valueEnd < 0) return -1;
    const span: Span = [valueAt, valueEnd];
    if (key === 'content') content = span;
    else if (key === 'role') role = readString(bytes, span);
    else if (key === 'type') type = readString(bytes, span) ?? null;
    return valueEnd;
  });
  return { end, content, role, type };
}

/** Walks the array at `at`; after the leading run it only skips. */
export function findLeading(
  bytes: Buffer,
  at: number,
  isMessage: (type: Message['type']) => boolean,
): Leading {
  let last: Message | undefined;
  let isLeading = true;
  const end = eachElement(bytes, at, (elementAt) => {
    if (!isLeading || bytes[elementAt] !== OPEN_BRACE) {
      isLeading = false;
      return skipValue(bytes, elementAt);
    }
    const message = readMessage(bytes, elementAt);
    isLeading = (message.role === 'system' || message.role === 'developer') && isMessage(message.type);
    if (isLeading) last = message;
    return message.end;
  });
  return { array: [at, end], last };
}

/**
 * After the leading system text: into the last leading message, or as a `message` of its own where that has no
 * text to add to. `part` and `message` are JSON texts that carry the block.
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
