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
  viewBytes,
} from './scan.ts';

/**
 * The links of a conversation: one for each message that is not the system's, each standing for everything up to it.
 * A request whose history extends another's has that one's last link among its own. System texts are left out, since
 * clients put dates into them; prompt-cache marks are left out, since clients move them along.
 */
export function chainOf(body: Uint8Array, seed: string): readonly string[] {
  const bytes = viewBytes(body);
  const start = skipSpace(bytes, 0);
  const links: string[] = [];
  if (bytes[start] !== OPEN_BRACE) return links;
  let link = digest(seed);
  const add = (text: Buffer | string): void => {
    link = digest(link, text);
    links.push(link);
  };
  eachMember(bytes, start, (key, at) => {
    const isList = isText(bytes, key, 'messages') || isText(bytes, key, 'input');
    if (!isList) return skipValue(bytes, at);
    link = digest(seed);
    links.length = 0;
    if (bytes[at] !== OPEN_BRACKET) {
      const end = skipValue(bytes, at);
      if (end > 0) add(bytes.subarray(at, end));
      return end;
    }
    return eachElement(bytes, at, (itemAt) => {
      if (bytes[itemAt] !== OPEN_BRACE) return skipValue(bytes, itemAt);
      const { end, isSystem, marks } = readMessage(bytes, itemAt);
      if (end > 0 && !isSystem) add(without(bytes, [itemAt, end], marks));
      return end;
    });
  });
  return links;
}

const digest = (before: string, text: Buffer | string = ''): string =>
  createHash('sha256').update(before).update(text).digest('base64url').slice(0, 22);

function readMessage(bytes: Buffer, at: number): { end: number; isSystem: boolean; marks: readonly Span[] } {
  let isSystem = false;
  const marks: Span[] = [];
  const markAt = (key: Span, valueAt: number): number => {
    const end = skipValue(bytes, valueAt);
    if (isText(bytes, key, 'cache_control')) marks.push([key[0], end]);
    return end;
  };
  const end = eachMember(bytes, at, (key, valueAt) => {
    if (isText(bytes, key, 'role')) {
      const roleEnd = skipValue(bytes, valueAt);
      isSystem =
        isText(bytes, [valueAt, roleEnd], 'system') || isText(bytes, [valueAt, roleEnd], 'developer');
      return roleEnd;
    }
    if (!isText(bytes, key, 'content') || bytes[valueAt] !== OPEN_BRACKET) return markAt(key, valueAt);
    return eachElement(bytes, valueAt, (partAt) =>
      bytes[partAt] === OPEN_BRACE ? eachMember(bytes, partAt, markAt) : skipValue(bytes, partAt),
    );
  });
  return { end, isSystem, marks };
}

/** The message without its marks. The comma beside a mark goes with it, so that moving one leaves no trace. */
function without(bytes: Buffer, [start, end]: Span, marks: readonly Span[]): Buffer {
  if (marks.length === 0) return bytes.subarray(start, end);
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
  return Buffer.concat(kept);
}
