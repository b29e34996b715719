import { CLOSER, DIGIT, LETTER, runEnd } from './char-class.ts';

/** The text between a name and its value. */
export interface Gap {
  /** The start of the value. */
  readonly end: number;
  /** It contains an assignment: `=`, `:`, `=>`, `<name>`. */
  readonly assigns: boolean;
  /** It contains only the assignment and quotes. */
  readonly tight: boolean;
  /** It contains a line break. */
  readonly broken: boolean;
  /** The quote that opens the value, and the number of backslashes before it. */
  readonly quote: string | undefined;
  readonly slashes: number;
}

const LONGEST = 48;
const LINKS = new Set(['is', 'are', 'was', 'to', 'as', 'value']);
const PERCENT = /^%(?:3D|3A|20|22)/i;
const UNICODE = /^\\u[0-9a-f]{4}/i;

/** Reads from the end of a name to its value; undefined where no value can follow, as at an empty string or an object. */
export function readGap(text: string, from: number, isTag: boolean): Gap | undefined {
  const limit = Math.min(text.length, from + LONGEST);
  let assigns = false;
  let tight = true;
  let broken = false;
  let quote: string | undefined;
  let quoteEnd = -1;
  let quoteSlashes = 0;
  let slashes = 0;
  let at = from;
  while (at < limit) {
    const { character, width } = characterAt(text, at);
    if (character === '\\') {
      slashes++;
      at++;
      continue;
    }
    if (character === '\u001b') {
      // A terminal colour.
      at = runEnd(text, at + 2, DIGIT | CLOSER, at + 10) + 1;
      continue;
    }
    if (slashes > 0 && 'nrt'.includes(character)) {
      broken ||= character !== 't';
      tight = false;
    } else if (character === '"' || character === "'" || character === '`') {
      const closesName = at - slashes === from;
      if (quoteEnd === at - slashes && quote === character && assigns) return undefined;
      if (!closesName) {
        quote = character;
        quoteEnd = at + width;
        quoteSlashes = slashes;
      }
    } else if (character === ':' || character === '=') {
      if (character === ':' && text.charAt(at + 1) === ':') return undefined;
      assigns = true;
    } else if (character === '>' && (isTag || '=-'.includes(text.charAt(at - 1)))) {
      assigns = true;
    } else if (character === ' ' || character === '\t') {
      tight = false;
    } else if (character === '\n' || character === '\r') {
      broken = true;
      tight = false;
    } else if (character === '{') {
      return undefined;
    } else if (',()[]|*'.includes(character)) {
      if (assigns && ',)]'.includes(character)) return undefined;
      tight = false;
    } else if (!(character === '-' && text.charAt(at + 1) === '>')) {
      const link = linkEnd(text, at, tight && !quote);
      if (link === undefined) break;
      // `name: DB_PASSWORD, value: …` assigns as clearly as an equals sign.
      if (text.slice(at, link).toLowerCase() === 'value') broken = false;
      assigns = false;
      quoteEnd = -1;
      at = link;
      slashes = 0;
      continue;
    }
    slashes = 0;
    at += width;
  }
  if (at >= text.length || at >= from + LONGEST || at === from) return undefined;
  const isQuoted = quoteEnd === at - slashes;
  if (slashes > 0 && !isQuoted) return undefined;
  return {
    end: at - (isQuoted ? slashes : 0),
    assigns,
    tight,
    broken,
    quote: isQuoted ? quote : undefined,
    slashes: quoteSlashes,
  };
}

/** The character at this position, decoded if a URL or JSON has it as an escape. */
function characterAt(text: string, at: number): { readonly character: string; readonly width: number } {
  const character = text.charAt(at);
  if (character === '%' && PERCENT.test(text.slice(at, at + 3))) {
    return { character: decodeURIComponent(text.slice(at, at + 3)), width: 3 };
  }
  if (character === '\\' && UNICODE.test(text.slice(at, at + 6))) {
    const code = Number.parseInt(text.slice(at + 2, at + 6), 16);
    return { character: code === 0x3d ? '=' : ' ', width: 6 };
  }
  return { character, width: 1 };
}

/** The end of a word that links a name and its value; undefined when the value begins here. */
function linkEnd(text: string, at: number, isGlued: boolean): number | undefined {
  const end = runEnd(text, at, LETTER, at + 6);
  if (isGlued || end - at < 2 || !LINKS.has(text.slice(at, end).toLowerCase())) return undefined;
  return ' \t:="\'\\'.includes(text.charAt(end) || 'x') ? end : undefined;
}
