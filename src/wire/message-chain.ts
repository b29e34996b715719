import { createHash, hash as hashOnce } from 'node:crypto';
import {
  type ByteSpan,
  COMMA,
  eachElement,
  eachMember,
  equalsText,
  isJsonSpace,
  OPEN_BRACE,
  OPEN_BRACKET,
  skipSpace,
  skipValue,
  viewBytes,
} from './json-scan.ts';

const MARKS = ['cache_control'];

/**
 * The hash chain of a conversation: one link for each message that is not a system message, a hash of everything up to
 * it. A request whose history extends another's contains that one's last link. System texts are left out, since clients
 * put dates into them; prompt-cache marks are left out, since clients move them along.
 */
export function messageChain(body: Uint8Array, seed: string): readonly string[] {
  const bytes = viewBytes(body);
  const start = skipSpace(bytes, 0);
  const links: string[] = [];
  if (bytes[start] !== OPEN_BRACE) return links;
  let link = nextChainLink(seed, []);
  const add = (pieces: readonly Buffer[]): void => {
    link = nextChainLink(link, pieces);
    links.push(link);
  };
  eachMember(bytes, start, (key, at) => {
    const isList = equalsText(bytes, key, 'messages') || equalsText(bytes, key, 'input');
    if (!isList) return skipValue(bytes, at);
    link = nextChainLink(seed, []);
    links.length = 0;
    if (bytes[at] !== OPEN_BRACKET) {
      const end = skipValue(bytes, at);
      if (end > 0) add([bytes.subarray(at, end)]);
      return end;
    }
    return eachElement(bytes, at, (itemAt) => {
      if (bytes[itemAt] !== OPEN_BRACE) return skipValue(bytes, itemAt);
      const { span, isSystem, marks } = readMessageSpans(bytes, itemAt, MARKS);
      if (span[1] > 0 && !isSystem) add(withoutCacheMarks(bytes, span, marks));
      return span[1];
    });
  });
  return links;
}

/** The byte spans of a message and of its parts. */
export interface MessageSpans {
  /** The end is -1 when the message is malformed. */
  readonly span: ByteSpan;
  readonly isSystem: boolean;
  readonly role: ByteSpan | undefined;
  readonly type: ByteSpan | undefined;
  readonly content: ByteSpan | undefined;
  /** The elements of `content` if it is an array. */
  readonly parts: readonly PartSpans[];
  /** The prompt-cache marks in it. */
  readonly marks: readonly ByteSpan[];
}

interface PartSpans {
  readonly type: ByteSpan | undefined;
  readonly text: ByteSpan | undefined;
  /** Whether it has no members other than type, text and cache marks. */
  readonly isPlain: boolean;
}

/** `at` is the offset of the message's opening brace; `markNames` are the keys of prompt-cache marks. */
export function readMessageSpans(bytes: Buffer, at: number, markNames: readonly string[]): MessageSpans {
  let role: ByteSpan | undefined;
  let type: ByteSpan | undefined;
  let content: ByteSpan | undefined;
  let parts: PartSpans[] = [];
  const marks: ByteSpan[] = [];
  const isMark = (key: ByteSpan): boolean => markNames.some((name) => equalsText(bytes, key, name));

  function readPart(partAt: number): number {
    if (bytes[partAt] !== OPEN_BRACE) {
      parts.push({ type: undefined, text: undefined, isPlain: false });
      return skipValue(bytes, partAt);
    }
    let partType: ByteSpan | undefined;
    let text: ByteSpan | undefined;
    let isPlain = true;
    const end = eachMember(bytes, partAt, (key, valueAt) => {
      const span: ByteSpan = [valueAt, skipValue(bytes, valueAt)];
      if (equalsText(bytes, key, 'type')) partType = span;
      else if (equalsText(bytes, key, 'text')) text = span;
      else if (isMark(key)) marks.push([key[0], span[1]]);
      else isPlain = false;
      return span[1];
    });
    parts.push({ type: partType, text, isPlain });
    return end;
  }

  const end = eachMember(bytes, at, (key, valueAt) => {
    if (equalsText(bytes, key, 'content')) {
      parts = [];
      const contentEnd =
        bytes[valueAt] === OPEN_BRACKET ? eachElement(bytes, valueAt, readPart) : skipValue(bytes, valueAt);
      content = [valueAt, contentEnd];
      return contentEnd;
    }
    const span: ByteSpan = [valueAt, skipValue(bytes, valueAt)];
    if (equalsText(bytes, key, 'role')) role = span;
    else if (equalsText(bytes, key, 'type')) type = span;
    else if (isMark(key)) marks.push([key[0], span[1]]);
    return span[1];
  });
  const isSystem =
    role !== undefined && (equalsText(bytes, role, 'system') || equalsText(bytes, role, 'developer'));
  return { span: [at, end], isSystem, role, type, content, parts, marks };
}

/** Of a very long message only the length, the beginning and the end are hashed: hashing all of it takes too long. */
const HASHED_END = 2 * 1024 * 1024;

/** Reused for every short message: one call over joined bytes takes half the time of a hash object. */
const joined = Buffer.allocUnsafeSlow(4096);

/** Undefined when it is too long. */
function joinShort(link: string, pieces: readonly Buffer[]): Buffer | undefined {
  let length = 3 * link.length;
  for (const piece of pieces) length += piece.length;
  if (length > joined.length) return undefined;
  let end = joined.write(link);
  for (const piece of pieces) end += piece.copy(joined, end);
  return joined.subarray(0, end);
}

/** The next link of a hash chain: a hash of the link before it and these pieces. */
export function nextChainLink(link: string, pieces: readonly Buffer[]): string {
  const short = joinShort(link, pieces);
  if (short !== undefined) return hashOnce('sha256', short, 'base64url').slice(0, 22);
  const hash = createHash('sha256').update(link);
  for (const piece of pieces) {
    if (piece.length <= 2 * HASHED_END) hash.update(piece);
    else {
      hash.update(String(piece.length));
      hash.update(piece.subarray(0, HASHED_END)).update(piece.subarray(-HASHED_END));
    }
  }
  return hash.digest('base64url').slice(0, 22);
}

/** A span without the marks in it. The comma beside a mark is removed too, so that moving a mark changes nothing. */
export function withoutCacheMarks(
  bytes: Buffer,
  [start, end]: ByteSpan,
  marks: readonly ByteSpan[],
): readonly Buffer[] {
  const kept: Buffer[] = [];
  let from = start;
  for (const [markStart, markEnd] of marks) {
    let comma = markStart - 1;
    while (comma > from && isJsonSpace(bytes[comma])) comma--;
    const isLast = comma >= from && bytes[comma] === COMMA;
    kept.push(bytes.subarray(from, isLast ? comma : markStart));
    const next = skipSpace(bytes, markEnd);
    from = !isLast && bytes[next] === COMMA ? skipSpace(bytes, next + 1) : markEnd;
  }
  kept.push(bytes.subarray(from, end));
  return kept;
}
