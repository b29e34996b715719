import type { Insertion, Outline } from '../core/wire.ts';
import {
  type ByteSpan,
  eachElement,
  eachMember,
  equalsText,
  OPEN_BRACE,
  readString,
  skipSpace,
  skipValue,
} from './json-scan.ts';
import { appendJsonText, prependJsonItem } from './splice.ts';

/** Counts the messages of a body while it is walked; a walk ends once there are more than `most`. */
interface MessageCount {
  readonly most: number;
  found: number;
  /** The offsets of the last three. */
  last: number;
  beforeLast: number;
  beforeThat: number;
}

export const createMessageCount = (most: number): MessageCount => ({
  most,
  found: 0,
  last: -1,
  beforeLast: -1,
  beforeThat: -1,
});

/** Walks a list of messages and returns its end, or -1 once there are too many. */
export const eachMessage = (
  bytes: Buffer,
  at: number,
  count: MessageCount,
  visit: (elementAt: number) => number,
): number =>
  eachElement(bytes, at, (elementAt) => {
    count.beforeThat = count.beforeLast;
    count.beforeLast = count.last;
    count.last = elementAt;
    return ++count.found > count.most ? -1 : visit(elementAt);
  });

/**
 * The common part of all wires' outlines. `visit` walks every member except `model` and `stream` and returns its end;
 * `place` gets the span of the body's object. Undefined unless the body is exactly one object.
 */
export function outlineObject(
  bytes: Buffer,
  count: MessageCount,
  visit: (key: ByteSpan, valueAt: number) => number,
  place: (block: string, object: ByteSpan) => readonly Insertion[],
): Outline | undefined {
  const start = skipSpace(bytes, 0);
  if (bytes[start] !== OPEN_BRACE) return undefined;
  let model: string | undefined;
  let modelSpan: ByteSpan | undefined;
  let stream = false;
  const found: { readonly key: ByteSpan; readonly value: ByteSpan }[] = [];
  const end = eachMember(bytes, start, (key, at) => {
    const valueEnd = readMember(key, at);
    found.push({ key, value: [at, valueEnd] });
    return valueEnd;
  });
  function readMember(key: ByteSpan, at: number): number {
    const isModel = equalsText(bytes, key, 'model');
    if (!isModel && !equalsText(bytes, key, 'stream')) return visit(key, at);
    const valueEnd = skipValue(bytes, at);
    if (valueEnd < 0) return -1;
    if (!isModel) stream = bytes.toString('latin1', at, valueEnd) === 'true';
    else {
      model = readString(bytes, [at, valueEnd]);
      modelSpan = model === undefined ? undefined : [at, valueEnd];
    }
    return valueEnd;
  }
  const isOver = count.found > count.most;
  if (!isOver && (end < 0 || skipSpace(bytes, end) !== bytes.length)) return undefined;
  return {
    model,
    modelSpan,
    stream,
    messages: count.found,
    newest: () => [count.last, count.beforeLast, count.beforeThat].filter((at) => at >= 0),
    member: (name) => {
      for (let i = found.length - 1; i >= 0; i--) {
        const one = found[i];
        if (one !== undefined && equalsText(bytes, one.key, name)) return one.value;
      }
      return undefined;
    },
    place: (block) => (block === '' || isOver ? [] : place(block, [start, end])),
  };
}

/** An array of messages and the last of its leading system messages. */
export interface LeadingMessages {
  /** The end is -1 when the array is malformed. */
  readonly array: ByteSpan;
  readonly last: Message | undefined;
}

interface Message {
  readonly end: number;
  readonly content: ByteSpan | undefined;
}

/** The end of the message at `at`, and the message itself if it is a system message. */
function readSystem(
  bytes: Buffer,
  at: number,
  isType: (type: ByteSpan | undefined) => boolean,
): readonly [end: number, message: Message | undefined] {
  let content: ByteSpan | undefined;
  let role: ByteSpan | undefined;
  let type: ByteSpan | undefined;
  const end = eachMember(bytes, at, (key, valueAt) => {
    const span: ByteSpan = [valueAt, skipValue(bytes, valueAt)];
    if (equalsText(bytes, key, 'content')) content = span;
    else if (equalsText(bytes, key, 'role')) role = span;
    else if (equalsText(bytes, key, 'type')) type = span;
    return span[1];
  });
  const isSystem = role && (equalsText(bytes, role, 'system') || equalsText(bytes, role, 'developer'));
  return [end, isSystem && isType(type) ? { end, content } : undefined];
}

/** Walks the array at `at`; after the leading system messages it only skips. `isType` accepts a message's `type`. */
export function findLeadingMessages(
  bytes: Buffer,
  at: number,
  isType: (type: ByteSpan | undefined) => boolean,
  count: MessageCount,
): LeadingMessages {
  let last: Message | undefined;
  let isLeading = true;
  const end = eachMessage(bytes, at, count, (elementAt) => {
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
export function insertAfterLeadingMessages(
  bytes: Buffer,
  { array, last }: LeadingMessages,
  block: string,
  { part, message }: { readonly part: string; readonly message: string },
): Insertion {
  if (last === undefined) return prependJsonItem(bytes, array, message);
  const inside = last.content && appendJsonText(bytes, last.content, block, part);
  return inside ?? { at: last.end, text: `,${message}` };
}
