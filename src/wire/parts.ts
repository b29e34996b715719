import {
  eachElement,
  eachMember,
  OPEN_BRACE,
  OPEN_BRACKET,
  readString,
  type Span,
  skipSpace,
  skipValue,
  viewBytes,
} from './scan.ts';

/** A request body cut where it repeats from turn to turn: an agent sends its whole history each time. */
export interface BodyParts {
  /** Lists by their key, with the span of each element. */
  readonly lists: ReadonlyMap<string, readonly Span[]>;
  /** The JSON text of all other members, as one object. */
  readonly rest: string;
}

const LISTS = new Set(['messages', 'input', 'system', 'tools']);

/** Undefined when the body is not one JSON object. A repeated key counts once, with its last value. */
export function cutBody(body: Uint8Array): BodyParts | undefined {
  const bytes = viewBytes(body);
  const start = skipSpace(bytes, 0);
  if (bytes[start] !== OPEN_BRACE) return undefined;
  const lists = new Map<string, readonly Span[]>();
  const others = new Map<string, Span>();
  const end = eachMember(bytes, start, (keySpan, at) => {
    const key = readString(bytes, keySpan);
    if (key === undefined) return -1;
    if (bytes[at] !== OPEN_BRACKET || !LISTS.has(key)) {
      const valueEnd = skipValue(bytes, at);
      lists.delete(key);
      others.set(key, [at, valueEnd]);
      return valueEnd;
    }
    const items: Span[] = [];
    others.delete(key);
    lists.set(key, items);
    return eachElement(bytes, at, (itemAt) => {
      const itemEnd = skipValue(bytes, itemAt);
      items.push([itemAt, itemEnd]);
      return itemEnd;
    });
  });
  if (end < 0) return undefined;
  const members = [...others].map(
    ([key, [from, to]]) => `${JSON.stringify(key)}:${bytes.toString('utf8', from, to)}`,
  );
  return { lists, rest: `{${members.join(',')}}` };
}
