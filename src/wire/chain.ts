import { linkAfter, readMessage, withoutMarks } from './read-message.ts';
import {
  eachElement,
  eachMember,
  isText,
  OPEN_BRACE,
  OPEN_BRACKET,
  skipSpace,
  skipValue,
  viewBytes,
} from './scan.ts';

const MARKS = ['cache_control'];

/**
 * The hash chain of a conversation: one link for each message that is not a system message, a hash of everything up to
 * it. A request whose history extends another's contains that one's last link. System texts are left out, since clients
 * put dates into them; prompt-cache marks are left out, since clients move them along.
 */
export function chainOf(body: Uint8Array, seed: string): readonly string[] {
  const bytes = viewBytes(body);
  const start = skipSpace(bytes, 0);
  const links: string[] = [];
  if (bytes[start] !== OPEN_BRACE) return links;
  let link = linkAfter(seed, []);
  const add = (pieces: readonly Buffer[]): void => {
    link = linkAfter(link, pieces);
    links.push(link);
  };
  eachMember(bytes, start, (key, at) => {
    const isList = isText(bytes, key, 'messages') || isText(bytes, key, 'input');
    if (!isList) return skipValue(bytes, at);
    link = linkAfter(seed, []);
    links.length = 0;
    if (bytes[at] !== OPEN_BRACKET) {
      const end = skipValue(bytes, at);
      if (end > 0) add([bytes.subarray(at, end)]);
      return end;
    }
    return eachElement(bytes, at, (itemAt) => {
      if (bytes[itemAt] !== OPEN_BRACE) return skipValue(bytes, itemAt);
      const { span, isSystem, marks } = readMessage(bytes, itemAt, MARKS);
      if (span[1] > 0 && !isSystem) add(withoutMarks(bytes, span, marks));
      return span[1];
    });
  });
  return links;
}
