/** A pattern as a tree. A `set` is one character, tested by itself. */
export type PatternNode =
  | { readonly type: 'set'; readonly has: (char: string) => boolean }
  | { readonly type: 'edge'; readonly at: 'start' | 'end' | 'word' | 'not-word' }
  | { readonly type: 'all'; readonly items: readonly PatternNode[] }
  | { readonly type: 'one-of'; readonly choices: readonly PatternNode[] }
  | { readonly type: 'repeat'; readonly item: PatternNode; readonly min: number; readonly max: number };

export class PatternError extends Error {
  override readonly name = 'PatternError';
}

const LONGEST = 1000;
const DEEPEST = 30;

/**
 * Reads a regular expression with JavaScript's syntax in Unicode mode, without what cannot be matched in linear time:
 * back references and looking ahead or behind. Throws a PatternError that says what is wrong.
 */
export function parsePattern(source: string, flags: string): PatternNode {
  if (source.length > LONGEST) throw new PatternError(`it is longer than ${LONGEST} characters`);
  if (!/^(?:i?m?s?|[ims]{1,3})$/.test(flags)) throw new PatternError('its flags may be i, m and s');
  try {
    new RegExp(source, `${flags}u`);
  } catch (error) {
    throw new PatternError(error instanceof Error ? error.message : String(error));
  }
  return readChoices({ source, at: 0, flags, depth: 0 });
}

/** What is left to read; `at` moves. The source is known to be well formed. */
interface Reader {
  readonly source: string;
  readonly flags: string;
  at: number;
  depth: number;
}

function readChoices(reader: Reader): PatternNode {
  if (++reader.depth > DEEPEST) throw new PatternError(`it is nested more than ${DEEPEST} deep`);
  const choices: PatternNode[] = [];
  let items: PatternNode[] = [];
  for (;;) {
    const char = reader.source[reader.at];
    if (char === undefined || char === ')') break;
    if (char === '|') {
      reader.at++;
      choices.push({ type: 'all', items });
      items = [];
    } else items.push(readRepeat(reader, readOne(reader)));
  }
  reader.depth--;
  const last: PatternNode = { type: 'all', items };
  return choices.length === 0 ? last : { type: 'one-of', choices: [...choices, last] };
}

function readOne(reader: Reader): PatternNode {
  const char = String.fromCodePoint(reader.source.codePointAt(reader.at) ?? 0);
  if (char === '(') return readGroup(reader);
  if (char === '[') return readClass(reader);
  if (char === '\\') return readEscape(reader);
  reader.at += char.length;
  if (char === '^') return { type: 'edge', at: 'start' };
  if (char === '$') return { type: 'edge', at: 'end' };
  return setOf(char, reader);
}

function readGroup(reader: Reader): PatternNode {
  const opening = /^\((?:\?:|\?<[^=!>][^>]*>|(?!\?))/.exec(reader.source.slice(reader.at))?.[0];
  if (opening === undefined)
    throw new PatternError('it looks ahead or behind, or changes its flags on the way');
  reader.at += opening.length;
  const inner = readChoices(reader);
  reader.at++;
  return inner;
}

function readClass(reader: Reader): PatternNode {
  let end = reader.at + 1;
  while (reader.source[end] !== ']') end += reader.source[end] === '\\' ? 2 : 1;
  const text = reader.source.slice(reader.at, end + 1);
  reader.at = end + 1;
  return setOf(text, reader);
}

function readEscape(reader: Reader): PatternNode {
  const text =
    /^\\(?:[pP]\{[^}]*\}|u\{[^}]*\}|u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|c[A-Za-z]|[1-9]\d*|k<[^>]*>|.)/su.exec(
      reader.source.slice(reader.at),
    )?.[0] ?? '';
  reader.at += text.length;
  if (text === '\\b') return { type: 'edge', at: 'word' };
  if (text === '\\B') return { type: 'edge', at: 'not-word' };
  if (/^\\(?:[1-9]|k)/.test(text)) throw new PatternError('it refers back to one of its groups');
  return setOf(text, reader);
}

/** One character is left to JavaScript's own engine, which is the measure of what a class or a letter's case means. */
function setOf(text: string, { flags }: Reader): PatternNode {
  const one = new RegExp(`^(?:${text})$`, `${flags.replace('m', '')}u`);
  const known = new Map<string, boolean>();
  const has = (char: string): boolean => {
    const before = known.get(char);
    if (before !== undefined) return before;
    const is = one.test(char);
    known.set(char, is);
    return is;
  };
  return { type: 'set', has };
}

function readRepeat(reader: Reader, item: PatternNode): PatternNode {
  const found = /^(?:([*+?])|\{(\d+)(,?)(\d*)\})\??/.exec(reader.source.slice(reader.at));
  if (found === null) return item;
  reader.at += found[0].length;
  const [, sign, from, comma, to] = found;
  if (sign !== undefined)
    return {
      type: 'repeat',
      item,
      min: sign === '+' ? 1 : 0,
      max: sign === '?' ? 1 : Number.POSITIVE_INFINITY,
    };
  const min = Number(from);
  const max = comma === '' ? min : to === '' ? Number.POSITIVE_INFINITY : Number(to);
  return { type: 'repeat', item, min, max };
}
