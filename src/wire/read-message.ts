import { createHash } from 'node:crypto';
import {
  eachElement,
  eachMember,
  isText,
  OPEN_BRACE,
  OPEN_BRACKET,
  type Span,
  skipSpace,
  skipValue,
} from './scan.ts';

/** The byte spans of a message and of its parts. */
export interface MessageSpans {
  /** The end is -1 when the message is malformed. */
  readonly span: Span;
  readonly isSystem: boolean;
  readonly role: Span | undefined;
  readonly type: Span | undefined;
  readonly content: Span | undefined;
  /** The elements of `content` if it is an array. */
  readonly parts: readonly PartSpans[];
  /** The prompt-cache marks in it. */
  readonly marks: readonly Span[];
}

export interface PartSpans {
  readonly type: Span | undefined;
  readonly text: Span | undefined;
  /** Whether it has no members other than type, text and cache marks. */
  readonly isPlain: boolean;
}

/** `at` is the offset of the message's opening brace; `markNames` are the keys of prompt-cache marks. */
export function readMessage(bytes: Buffer, at: number, markNames: readonly string[]): MessageSpans {
  let role: Span | undefined;
  let type: Span | undefined;
  let content: Span | undefined;
  let parts: PartSpans[] = [];
  const marks: Span[] = [];
  const isMark = (key: Span): boolean => markNames.some((name) => isText(bytes, key, name));

  function readPart(partAt: number): number {
    if (bytes[partAt] !== OPEN_BRACE) {
      parts.push({ type: undefined, text: undefined, isPlain: false });
      return skipValue(bytes, partAt);
    }
    let partType: Span | undefined;
    let text: Span | undefined;
    let isPlain = true;
    const end = eachMember(bytes, partAt, (key, valueAt) => {
      const span: Span = [valueAt, skipValue(bytes, valueAt)];
      if (isText(bytes, key, 'type')) partType = span;
      else if (isText(bytes, key, 'text')) text = span;
      else if (isMark(key)) marks.push([key[0], span[1]]);
      else isPlain = false;
      return span[1];
    });
    parts.push({ type: partType, text, isPlain });
    return end;
  }

  const end = eachMember(bytes, at, (key, valueAt) => {
    if (isText(bytes, key, 'content')) {
      parts = [];
      const contentEnd =
        bytes[valueAt] === OPEN_BRACKET ? eachElement(bytes, valueAt, readPart) : skipValue(bytes, valueAt);
      content = [valueAt, contentEnd];
      return contentEnd;
    }
    const span: Span = [valueAt, skipValue(bytes, valueAt)];
    if (isText(bytes, key, 'role')) role = span;
    else if (isText(bytes, key, 'type')) type = span;
    else if (isMark(key)) marks.push([key[0], span[1]]);
    return span[1];
  });
  const isSystem = role !== undefined && (isText(bytes, role, 'system') || isText(bytes, role, 'developer'));
  return { span: [at, end], isSystem, role, type, content, parts, marks };
}

/** The next link of a hash chain: a hash of the link before it and these pieces. */
export function linkAfter(link: string, pieces: readonly Buffer[]): string {
  const hash = createHash('sha256').update(link);
  for (const piece of pieces) hash.update(piece);
  return hash.digest('base64url').slice(0, 22);
}

/** A span without the marks in it. The comma beside a mark is removed too, so that moving a mark changes nothing. */
export function withoutMarks(bytes: Buffer, [start, end]: Span, marks: readonly Span[]): readonly Buffer[] {
  const kept: Buffer[] = [];
  let from = start;
  for (const [markStart, markEnd] of marks) {
    const before = bytes.subarray(from, markStart);
    const comma = before.lastIndexOf(',');
    const isLast = comma >= 0 && before.toString('latin1', comma + 1).trim() === '';
    kept.push(isLast ? before.subarray(0, comma) : before);
    const next = skipSpace(bytes, markEnd);
    from = !isLast && bytes[next] === 0x2c ? skipSpace(bytes, next + 1) : markEnd;
  }
  kept.push(bytes.subarray(from, end));
  return kept;
}
