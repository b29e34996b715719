interface JsonSyntaxFault {
  /** Both from 1, as in editors; columns in UTF-16 code units. */
  readonly line: number;
  readonly column: number;
  readonly what: string;
}

/** Settings are shallow; the limit protects every recursive reader of them. */
const MAX_DEPTH = 64;

const NUMBER = '-?(?:0|[1-9][0-9]*)(?:\\.[0-9]+)?(?:[eE][+-]?[0-9]+)?';
const STRING = '"(?:[ !#-[\\]-\\u{10ffff}]|\\\\(?:["\\\\/bfnrt]|u[0-9a-fA-F]{4}))*"';
const TOKEN = new RegExp(`[{}[\\]:,]|${STRING}|(?:${NUMBER}|true|false|null)(?![\\w.+-])`, 'uy');

type Expected = 'value' | 'value-or-close' | 'key' | 'key-or-close' | 'colon' | 'comma-or-close' | 'end';

interface OpenBracket {
  readonly at: number;
  readonly close: '}' | ']';
  readonly keys: Set<string>;
}

/**
 * The first syntax error, or a duplicate key in one object (where `JSON.parse` would silently keep the last). The message
 * of `JSON.parse` is not used: it has no line, and it repeats the file's text, which may contain a secret.
 */
export function findJsonFault(text: string): JsonSyntaxFault | undefined {
  const open: OpenBracket[] = [];
  let expected: Expected = 'value';
  let at = 0;
  let before = '';
  let beforeAt = 0;
  let colonAt = 0;
  const fault = (what: string, where = at): JsonSyntaxFault => ({ ...positionOf(text, where), what });
  const afterValue = (): Expected => (open.length === 0 ? 'end' : 'comma-or-close');
  const opening = ({ at: start, close }: OpenBracket): string =>
    `the "${close === '}' ? '{' : '['}" of line ${positionOf(text, start).line}`;
  const unexpectedEnd = (): string => {
    const inside = open.at(-1);
    if (inside === undefined) return 'the file is empty: write {} for no settings';
    if (before === ':') return 'the file ends too early: a value is missing after the colon';
    return `the file ends too early: "${inside.close}" is missing for ${opening(inside)}`;
  };

  for (;;) {
    while (' \t\n\r'.includes(text[at] ?? 'x')) at++;
    if (at >= text.length) return expected === 'end' ? undefined : fault(unexpectedEnd());
    TOKEN.lastIndex = at;
    const token = TOKEN.exec(text)?.[0];
    const inside = open.at(-1);
    if (token === undefined) {
      const { what, offset = 0 } = describeCharacter(text, at, expected, inside?.close);
      return fault(what, at + offset);
    }
    if (expected === 'end') return fault('unexpected text after the end');

    if (token === '}' || token === ']') {
      const may =
        expected === 'comma-or-close' || expected === (token === '}' ? 'key-or-close' : 'value-or-close');
      if (before === ':') return fault('a value is missing after the colon');
      if (before === ',' && inside?.close === token)
        return fault(`trailing comma: remove the comma before "${token}"`, beforeAt);
      if (inside === undefined) return fault(`"${token}" is unexpected: nothing is open here`);
      if (inside.close !== token)
        return fault(`"${token}" is unexpected: expected "${inside.close}" for ${opening(inside)}`);
      if (!may) return fault('expected ":" and a value after the key');
      open.pop();
      expected = afterValue();
    } else if (expected === 'colon') {
      if (token !== ':') return fault(EXPECTED_COLON);
      colonAt = at;
      expected = 'value';
    } else if (expected === 'comma-or-close') {
      // The key of the next line was read as the value.
      if (token === ':' && text.slice(colonAt, beforeAt).includes('\n'))
        return fault('a value is missing after the colon', colonAt);
      if (token !== ',') return fault(expectedComma(inside?.close, token));
      expected = inside?.close === '}' ? 'key' : 'value';
    } else if (expected === 'key' || expected === 'key-or-close') {
      if (token === ',')
        return fault(before === ',' ? 'two commas in a row: remove one' : 'expected a key, not ","');
      if (!token.startsWith('"')) return fault('expected a key in double quotes');
      const key: string = JSON.parse(token);
      if (inside?.keys.has(key)) return fault('duplicate key in the same object');
      if (key === '__proto__') return fault('this key is not allowed');
      inside?.keys.add(key);
      expected = 'colon';
    } else if (token === '{' || token === '[') {
      if (open.length === MAX_DEPTH) return fault('nested too deep');
      open.push({ at, close: token === '{' ? '}' : ']', keys: new Set() });
      expected = token === '{' ? 'key-or-close' : 'value-or-close';
    } else if (token === ':' || token === ',') {
      if (before === ':') return fault('a value is missing after the colon');
      return fault(before === ',' ? 'two commas in a row: remove one' : `expected a value, not "${token}"`);
    } else {
      expected = afterValue();
    }
    before = token;
    beforeAt = at;
    at += token.length;
  }
}

const EXPECTED_COLON = 'expected ":" after the key';
const expectedComma = (close = '', token = ''): string =>
  token === ':'
    ? `":" is unexpected: expected "," or "${close}"`
    : `expected "," or "${close}": a comma is missing before this`;

interface CharacterFault {
  readonly what: string;
  /** Where the fault is, from the place that was asked about. */
  readonly offset?: number;
}

/** Words of other languages, with what JSON has in their place. */
const WORDS: Readonly<Record<string, string>> = {
  NaN: 'NaN is not a JSON value: use a number, or remove the key',
  Infinity: 'Infinity is not a JSON value: use a number, or remove the key',
  undefined: 'undefined is not a JSON value: use null, or remove the key',
  None: 'None is not a JSON value: use null, or remove the key',
  True: 'write true in lower case',
  False: 'write false in lower case',
  Null: 'write null in lower case',
};
const INVISIBLE = /[\p{Zs}\p{Cf}\p{Zl}\p{Zp}\p{Cc}]/u;
const VALUES = 'text needs double quotes; without them only numbers, true, false and null are values';

/** What is wrong with characters that begin no token. The text is not repeated. */
function describeCharacter(
  text: string,
  at: number,
  expected: Expected,
  close: string | undefined,
): CharacterFault {
  const character = String.fromCodePoint(text.codePointAt(at) ?? 0);
  const rest = text.slice(at, at + 64);
  const isKey = expected === 'key' || expected === 'key-or-close';
  const isValue = expected === 'value' || expected === 'value-or-close';
  if (/^(?:\/\/|\/\*|#|<!--)/.test(rest)) return { what: 'comments are not allowed in JSON: remove it' };
  if (character === '"') return describeString(text, at);
  if (/['`‘’“”„«»]/u.test(character))
    return { what: `${isKey ? 'keys' : 'strings'} need double quotes: " on both sides` };
  if (INVISIBLE.test(character)) {
    const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
    return { what: `an invisible character (U+${code}): delete it` };
  }
  if (expected === 'colon') return { what: EXPECTED_COLON };
  if (expected === 'comma-or-close') return { what: expectedComma(close) };
  if (expected === 'end') return { what: 'unexpected text after the end' };
  const word = /^[-+]?([A-Za-z]+)(?![\w$-])/.exec(rest)?.[1] ?? '';
  if (isValue && Object.hasOwn(WORDS, word)) return { what: WORDS[word] ?? '' };
  if (isValue && /^[-+]?\.?\d/.test(rest) && !/^[\d.]*[A-Za-z_]{2}/.test(rest))
    return { what: 'not a JSON number: write it as 10, -2.5 or 0.5, without "+" and leading zeros' };
  if (isKey && /^[\p{L}_$\d-]/u.test(rest)) return { what: 'keys need double quotes: " on both sides' };
  if (isValue && /^[\p{L}_$\d./~@-]/u.test(rest)) return { what: VALUES };
  return { what: 'unexpected character' };
}

/** Why a text in double quotes is not a JSON string. */
function describeString(text: string, at: number): CharacterFault {
  for (let end = at + 1; end < text.length; end++) {
    const character = text[end] ?? '';
    if (character === '"') break;
    if (character < ' ')
      return character === '\t'
        ? { what: 'a tab inside a string: write \\t', offset: end - at }
        : { what: 'string without an end: " is missing in this line' };
    if (character !== '\\') continue;
    const valid = /^\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/.exec(text.slice(end, end + 6))?.[0];
    if (valid === undefined)
      return { what: 'invalid escape in a string: write \\\\ for a backslash', offset: end - at };
    end += valid.length - 1;
  }
  return { what: 'string without an end: the closing " is missing' };
}

function positionOf(text: string, at: number): { line: number; column: number } {
  const before = text.slice(0, at);
  return { line: before.split('\n').length, column: at - before.lastIndexOf('\n') };
}
