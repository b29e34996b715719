import {
  type ByteSpan,
  eachElement,
  eachMember,
  OPEN_BRACE,
  OPEN_BRACKET,
  readString,
  restOfElements,
  restOfMembers,
  skipSpace,
  skipValue,
  viewBytes,
} from './json-scan.ts';

/** A request body split into the parts that repeat from turn to turn: an agent sends its whole history each time. */
export interface BodyParts {
  /** Lists by their key, with the span of each element. */
  readonly lists: ReadonlyMap<string, readonly ByteSpan[]>;
  /** The JSON text of all other members, as one object. */
  readonly rest: string;
  /** The spans of those other members, and the offsets of the lists. */
  readonly others: ReadonlyMap<string, ByteSpan>;
  readonly starts: ReadonlyMap<string, number>;
  /** Whether a key occurs twice. */
  readonly hasRepeats: boolean;
}

/** A body that was split before. */
interface SplitBody {
  readonly bytes: Buffer;
  readonly parts: BodyParts;
}

const LISTS = new Set(['messages', 'input', 'system', 'tools']);

/**
 * Undefined when the body is not one JSON object. Of a repeated key the last value counts. The prefix that a body shares
 * with the one before it is not read again.
 */
export function splitBody(body: Uint8Array, before?: SplitBody): BodyParts | undefined {
  const bytes = viewBytes(body);
  const lists = new Map<string, ByteSpan[]>();
  const others = new Map<string, ByteSpan>();
  const starts = new Map<string, number>();
  let hasRepeats = false;

  const cutElements =
    (items: ByteSpan[]) =>
    (at: number): number => {
      const end = skipValue(bytes, at);
      items.push([at, end]);
      return end;
    };
  const cutMember = (keySpan: ByteSpan, at: number): number => {
    const key = readString(bytes, keySpan);
    if (key === undefined) return -1;
    const isRepeated = lists.delete(key) || others.delete(key);
    starts.delete(key);
    hasRepeats ||= isRepeated;
    if (bytes[at] !== OPEN_BRACKET || !LISTS.has(key)) {
      const end = skipValue(bytes, at);
      others.set(key, [at, end]);
      return end;
    }
    const items: ByteSpan[] = [];
    lists.set(key, items);
    starts.set(key, at);
    return eachElement(bytes, at, cutElements(items));
  };

  const common = before && commonList(before, bytes);
  let end: number;
  if (before === undefined || common === undefined) {
    const start = skipSpace(bytes, 0);
    if (bytes[start] !== OPEN_BRACE) return undefined;
    end = eachMember(bytes, start, cutMember);
  } else {
    for (const [key, start] of before.parts.starts) {
      if (start > common.end) continue;
      starts.set(key, start);
      lists.set(key, [...(before.parts.lists.get(key) ?? [])]);
    }
    for (const [key, span] of before.parts.others) if (span[0] < common.end) others.set(key, span);
    const listEnd = restOfElements(bytes, common.end, cutElements(lists.get(common.key) ?? []));
    end = listEnd < 0 ? -1 : restOfMembers(bytes, listEnd, cutMember);
  }
  if (end < 0) return undefined;
  const members = [...others].map(
    ([key, [from, to]]) => `${JSON.stringify(key)}:${bytes.toString('utf8', from, to)}`,
  );
  return { lists, rest: `{${members.join(',')}}`, others, starts, hasRepeats };
}

/** Of the lists up to whose last element both bodies are identical, the one that ends last. */
function commonList(
  before: SplitBody,
  bytes: Buffer,
): { readonly key: string; readonly end: number } | undefined {
  // Of a repeated key only the last value is known.
  if (before.parts.hasRepeats) return undefined;
  return [...before.parts.lists]
    .map(([key, spans]) => ({ key, end: spans.at(-1)?.[1] ?? 0 }))
    .sort((a, b) => b.end - a.end)
    .find(({ end }) => end > 0 && end <= bytes.length && bytes.compare(before.bytes, 0, end, 0, end) === 0);
}
