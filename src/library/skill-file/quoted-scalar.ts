import type { Fault } from './skill-file.ts';

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['0', '\0'],
  ['a', '\x07'],
  ['b', '\b'],
  ['t', '\t'],
  ['\t', '\t'],
  ['n', '\n'],
  ['v', '\v'],
  ['f', '\f'],
  ['r', '\r'],
  ['e', '\x1b'],
  [' ', ' '],
  ['"', '"'],
  ['/', '/'],
  ['\\', '\\'],
  ['N', '\u0085'],
  ['_', '\u00a0'],
  ['L', '\u2028'],
  ['P', '\u2029'],
]);
const HEX_DIGITS: ReadonlyMap<string, number> = new Map([
  ['x', 2],
  ['u', 4],
  ['U', 8],
]);
const HEX = /^[0-9a-fA-F]+$/;
const LAST_CODE_POINT = 0x10ffff;

/** Reads `"…"` or `'…'` from the opening quote on; several lines are folded. */
export function readQuoted(text: string): string | Fault {
  const quote = text.charAt(0);
  let out = '';
  let at = 1;
  while (at < text.length) {
    const character = text.charAt(at);
    if (character === quote) {
      if (quote === "'" && text.charAt(at + 1) === "'") {
        out += "'";
        at += 2;
        continue;
      }
      return isEnd(text, at + 1) ? out : { ok: false, why: 'has text after its closing quote' };
    }
    if (character === '\\' && quote === '"') {
      const escaped = readEscape(text, at);
      out += escaped.text;
      at += escaped.length;
    } else if (isBlank(character)) {
      const gap = readGap(text, at);
      out += gap.text;
      at += gap.length;
    } else {
      out += character;
      at++;
    }
  }
  return { ok: false, why: 'has a quote that is not closed' };
}

interface Piece {
  readonly text: string;
  readonly length: number;
}

const isBlank = (character: string): boolean => character === ' ' || character === '\t' || character === '\n';

/** White space: unchanged within a line; one line break becomes a space, and each empty line a line break. */
function readGap(text: string, start: number): Piece {
  let at = start;
  let breaks = 0;
  for (; isBlank(text.charAt(at)); at++) if (text.charAt(at) === '\n') breaks++;
  const length = at - start;
  if (breaks === 0) return { text: text.slice(start, at), length };
  return { text: breaks === 1 ? ' ' : '\n'.repeat(breaks - 1), length };
}

/** An unknown escape is kept literally: a Windows path in quotes is a common and unambiguous mistake. */
function readEscape(text: string, at: number): Piece {
  const letter = text.charAt(at + 1);
  if (letter === '\n') return { text: '', length: 2 + readGap(text, at + 2).length };
  const known = ESCAPES.get(letter);
  if (known !== undefined) return { text: known, length: 2 };
  const digits = text.slice(at + 2, at + 2 + (HEX_DIGITS.get(letter) ?? 0));
  const code =
    digits.length === HEX_DIGITS.get(letter) && HEX.test(digits) ? Number.parseInt(digits, 16) : -1;
  if (code < 0 || code > LAST_CODE_POINT) return { text: '\\', length: 1 };
  return { text: String.fromCodePoint(code), length: 2 + digits.length };
}

function isEnd(text: string, at: number): boolean {
  const rest = text.slice(at).trimStart();
  return rest === '' || (rest.startsWith('#') && rest.length < text.length - at);
}

/** Characters that a terminal or an editor hides or interprets are written as escapes. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
const LAST_BASIC = 0xffff;

/** Any text as one quoted line that YAML parsers read back as the same text. */
export const writeQuoted = (text: string): string =>
  JSON.stringify(text).replace(HIDDEN, (character) => {
    const code = character.codePointAt(0) ?? 0;
    const hex = code.toString(16);
    return code > LAST_BASIC ? `\\U${hex.padStart(8, '0')}` : `\\u${hex.padStart(4, '0')}`;
  });
