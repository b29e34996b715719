import {
  ALNUM,
  BACKSLASH,
  BLANK,
  BRACKET,
  BREAK,
  CLOSER,
  charClassAt,
  DASH,
  DIGIT,
  DOT,
  LETTER,
  QUOTE_MARK,
  runEnd,
  runStart,
  runUntil,
  SPACE,
  UNDERSCORE,
} from './char-class.ts';
import { authorizationIn, cookiesIn } from './http-credential.ts';
import { NO_SPANS, type ScanContext, type SecretRule, type SecretSpan } from './scan-context.ts';
import { kindOfName, type NameKind } from './secret-name.ts';
import { isSecretValue, isSpokenPassword, SAMPLE, type ValueContext } from './secret-value.ts';

const NAME = ALNUM | UNDERSCORE | DASH | DOT;
const LONGEST_HALF = 64;
const LONGEST_QUOTED = 16_384;

/** A value after the name of a secret: `KEY=value`, `"key": "value"`, `--key value`, `<key>value`, `key is value`. */
export const findNamedSecret: SecretRule = (page, start, end) => {
  if (start < page.nameEnd || start < page.refusedValueEnd) return NO_SPANS;
  const { text } = page;
  const triggerEnd = '=:'.includes(text.charAt(end - 1)) ? end - 1 : end;
  const nameEnd = trimName(text, triggerEnd, runEnd(text, triggerEnd, NAME, triggerEnd + LONGEST_HALF));
  page.nameEnd = nameEnd;
  if ((charClassAt(text, nameEnd) & (LETTER | UNDERSCORE)) !== 0) return NO_SPANS;
  const nameStart = startOfName(text, start, page.floor);
  const before = text.charAt(nameStart - 1);
  // An existing mark.
  if (before === '[' && text.startsWith('[[secret:', nameStart - 2)) return NO_SPANS;
  const name = text.slice(nameStart, nameEnd);
  const isParameter = before === '?' || before === '&' || text.startsWith('u0026', nameStart);
  const kind = kindIn(text, name, nameStart, isParameter);
  if (kind === undefined) return NO_SPANS;
  const isTag = before === '<' && text.charAt(nameEnd) === '>';
  const told = kind === 'password' || kind === 'phrase' ? toldIn(text, nameEnd) : undefined;
  if (told) return [told];
  const gap = readNameValueGap(text, nameEnd, isTag);
  if (!gap || (kind === 'weak' && !gap.assigns)) return NO_SPANS;
  if (kind === 'authorization' && gap.assigns) return authorizationIn(page, gap.end);
  if (kind === 'cookie') return cookiesIn(page, gap.end, gap.quote, /set-?cookie/i.test(name));
  const span = valueIn(page, {
    name,
    kind,
    gap,
    nameStart,
    nameEnd,
    isParameter,
    isTag,
    isFlag: before === '-',
  });
  return span ? [span] : NO_SPANS;
};

const TOLD =
  /^ (?:for|of|to|on|at|in|von|für|zum|zur|du|de|del|da|pour|para) (?:[\p{L}\w.'-]{1,24}(?: |(?=:))){1,5}(?:(?:is|was|lautet|ist|est|es|è|é) ?:?|:) ?["'`]?([^\s"'`,;\\]{8,100})/du;

/** "The password for the staging box is …". */
function toldIn(text: string, nameEnd: number): SecretSpan | undefined {
  if (text.charCodeAt(nameEnd) !== 0x20) return undefined;
  const found = TOLD.exec(text.slice(nameEnd, nameEnd + 260));
  const place = found?.indices?.[1];
  const value = (found?.[1] ?? '').replace(/[.!?:)]+$/, '');
  if (place === undefined || !isSpokenPassword(value)) return undefined;
  return { start: nameEnd + place[0], end: nameEnd + place[0] + value.length };
}

interface NamedPlace {
  readonly name: string;
  readonly kind: NameKind;
  readonly nameStart: number;
  readonly nameEnd: number;
}

/** The value after a name that was recognised elsewhere. */
export function findValueAfter(page: ScanContext, named: NamedPlace): readonly SecretSpan[] {
  const gap = readNameValueGap(page.text, named.nameEnd, false);
  const found = { ...named, isParameter: false, isTag: false, isFlag: false };
  const span = gap && valueIn(page, { ...found, gap });
  return span ? [span] : NO_SPANS;
}

interface Found {
  readonly name: string;
  readonly kind: NameKind;
  readonly gap: NameValueGap;
  readonly nameStart: number;
  readonly nameEnd: number;
  readonly isParameter: boolean;
  readonly isTag: boolean;
  /** `--name`: a space is enough before its value. */
  readonly isFlag: boolean;
}

function kindIn(text: string, name: string, nameStart: number, isParameter: boolean): NameKind | undefined {
  if (isParameter && /^(?:u0026)?key$/i.test(name)) return 'token';
  // "API key", "secret access key": prose has a space where identifiers have none.
  const isBare = /^keys?$/i.test(name) && text.charAt(nameStart - 1) === ' ';
  const word = isBare ? runStart(text, nameStart - 1, LETTER, nameStart - 24) : nameStart;
  const kind = kindOfName(isBare ? `${text.slice(word, nameStart - 1)}_${name}` : name);
  if (kind === 'query') return isParameter ? 'token' : undefined;
  if (kind === undefined && /^(?:pass|pw|passcode)$/i.test(name)) return 'spoken';
  return isBare && kind === 'weak' ? undefined : kind;
}

function valueIn(page: ScanContext, found: Found): SecretSpan | undefined {
  const { gap, kind } = found;
  const quotedEnd = gap.quote === undefined ? undefined : closingQuote(page, gap);
  // A double quote in between ends the enclosing string: the other quote was an apostrophe.
  if (quotedEnd === undefined || page.next('"', gap.end) < quotedEnd) return unquotedIn(page, found);
  const value = page.text.slice(gap.end, Math.min(quotedEnd, gap.end + SAMPLE));
  const isEnv = gap.tight && isLoud(found.name) && isLineStart(page.text, found.nameStart, page.floor);
  const setting = settingOf(found, gap.assigns ? (isEnv ? 'env' : 'quoted') : 'loose');
  return isSecretValue(value, kind, setting) ? { start: gap.end, end: quotedEnd } : undefined;
}

function unquotedIn(page: ScanContext, found: Found): SecretSpan | undefined {
  const { text } = page;
  const { kind, gap, nameStart, isParameter } = found;
  const startsLine = isLineStart(text, nameStart, page.floor);
  // In JSON text the name is quoted, and an unquoted value is a number or a literal such as `null`.
  const isJson = text.slice(found.nameEnd, gap.end).includes('"');
  const isBound = gap.assigns && gap.tight && !isJson && standsAlone(text, found, startsLine);
  const stops = SPACE | QUOTE_MARK | BRACKET | (isBound && startsLine && !isParameter ? 0 : CLOSER);
  const sampleEnd = runUntil(text, gap.end, stops, gap.end + SAMPLE);
  const end = trimValue(text, gap.end, sampleEnd, isBound);
  const value = text.slice(gap.end, end);
  if (isJson && /^-?\d[\d.eE+-]*$/.test(value)) return undefined;
  const setting = settingOf(
    found,
    isBound ? boundSetting(found, startsLine) : freeSetting(text, found, startsLine, end),
  );
  if (value.includes('(') && !isBound) return undefined;
  const isCut = sampleEnd - gap.end >= SAMPLE;
  if (!isSecretValue(value, kind, setting)) {
    if (isCut) page.refusedValueEnd = end;
    return undefined;
  }
  return { start: gap.end, end: isCut ? runUntil(text, sampleEnd, stops, text.length) : end };
}

const standsAlone = (
  text: string,
  { name, nameStart, isParameter, isFlag, isTag }: Found,
  startsLine: boolean,
) =>
  isParameter ||
  startsLine ||
  isFlag ||
  isTag ||
  text.charAt(nameStart - 1) === ';' ||
  isLoud(name) ||
  SETTING.test(text.slice(Math.max(0, nameStart - 64), nameStart));

/** An option that takes a setting (`--set db.password=…`), or a setting before this one (`user=ada password=…`). */
const SETTING =
  /(?:--(?:set|set-string|from-literal|build-arg|env|var|option|property|parameters?)[ =]["']?|(?:^|[\s"'])[\w.-]{1,40}=[^\s=,;(){}"']{1,40} )$/;

const boundSetting = ({ name }: Found, startsLine: boolean): ValueContext =>
  startsLine && isLoud(name) ? 'env' : 'bound';

function freeSetting(
  text: string,
  { gap, nameStart }: Found,
  startsLine: boolean,
  end: number,
): ValueContext {
  if (!gap.assigns) return 'loose';
  const beginsText = startsLine || (charClassAt(text, nameStart - 1) & QUOTE_MARK) !== 0;
  return beginsText && isLineEnd(text, end) ? 'line' : 'plain';
}

function settingOf({ gap, kind, isFlag }: Found, otherwise: ValueContext): ValueContext {
  if (gap.broken) return 'loose';
  if (isFlag && !gap.assigns) return 'line';
  return otherwise === 'loose' && (gap.listed || kind === 'spoken') && !gap.tells ? 'listed' : otherwise;
}

/** The position before the closing quote: one with as many backslashes as the opening quote, or fewer. */
function closingQuote(page: ScanContext, gap: NameValueGap): number | undefined {
  const { text } = page;
  const quote = gap.quote ?? '"';
  let from = gap.end;
  for (let tries = 0; tries < 8; tries++) {
    const at = page.next(quote, from);
    if (at >= text.length || at - gap.end > LONGEST_QUOTED) return undefined;
    const slashes = at - runStart(text, at, BACKSLASH, gap.end);
    if (slashes < gap.slashes) return at - slashes;
    // Further backslashes belong to the value if they pair up.
    if ((slashes - gap.slashes) % (2 * gap.slashes + 2) === 0) return at - gap.slashes;
    from = at + 1;
  }
  return undefined;
}

/** The letter of an escape (`\nTOKEN=`) is not part of the name. */
function startOfName(text: string, telling: number, floor: number): number {
  const start = runStart(text, telling, NAME, Math.max(floor, telling - LONGEST_HALF));
  const isEscape =
    start < telling && text.charCodeAt(start - 1) === 0x5c && 'nrt'.includes(text.charAt(start));
  const named = isEscape ? start + 1 : start;
  return named + runEnd(text, named, DASH | DOT, telling) - named;
}

function trimName(text: string, least: number, end: number): number {
  let at = end;
  while (at > least && (charClassAt(text, at - 1) & (DASH | DOT)) !== 0) at--;
  return at;
}

/** Without trailing punctuation and without the next parameter of a form. */
function trimValue(text: string, start: number, end: number, isBound: boolean): number {
  const tail = isBound ? ',;' : ',;.:!?*';
  const next = text.slice(start, end).search(/&(?:&|amp;|[\w.-]{1,64}=)/);
  let at = next < 0 ? end : start + next;
  while (at > start && tail.includes(text.charAt(at - 1))) at--;
  return at;
}

const isLoud = (name: string): boolean => /[A-Z]/.test(name) && name === name.toUpperCase();

const COMMAND = /(?:^|[\n\s"'`\\;&|(>])(?:export|set|setx|ENV|ARG|env|-e|--env|local|declare|readonly)$/;

/** Only an indent, a list dash, a line number or a command such as `export` precedes the name on its line. */
function isLineStart(text: string, nameStart: number, floor: number): boolean {
  const at = runStart(text, nameStart, BLANK | DASH | QUOTE_MARK, Math.max(floor, nameStart - 24));
  if (at === floor || at === 0) return true;
  const before = text.charAt(at - 1);
  if (before === '\n' || before === '\r' || before === '→' || before === '+' || before === '>') return true;
  if (before === 'n' && text.charAt(at - 2) === '\\') return true;
  if (/\d/.test(before) && text.charAt(at) === '\t') return true;
  return at < nameStart && COMMAND.test(text.slice(Math.max(0, at - 10), at));
}

/** The line or the enclosing string ends here. */
const isLineEnd = (text: string, at: number): boolean => {
  const end = runEnd(text, at, BLANK, at + 8);
  return end >= text.length || (charClassAt(text, end) & (BREAK | QUOTE_MARK | BACKSLASH)) !== 0;
};

/** The text between a name and its value. */
interface NameValueGap {
  /** The start of the value. */
  readonly end: number;
  /** It contains an assignment: `=`, `:`, `=>`, `<name>`. */
  readonly assigns: boolean;
  /** It contains only the assignment and quotes. */
  readonly tight: boolean;
  /** It contains a line break. */
  readonly broken: boolean;
  /** It contains a comma: the value may be the next element of a list. */
  readonly listed: boolean;
  /** It contains a verb such as `is`. */
  readonly tells: boolean;
  /** The quote that opens the value, and the number of backslashes before it. */
  readonly quote: string | undefined;
  readonly slashes: number;
}

const LONGEST = 48;
const LINKS = new Set(['is', 'are', 'was', 'to', 'as', 'value', 'lautet', 'ist', 'est', 'es']);
/** The same in other languages, as single characters. */
const LINK_SIGNS = 'èé是为為は：';
const PERCENT = /^%(?:3D|3A|20|22)/i;
const UNICODE = /^\\u[0-9a-f]{4}/i;

/** Reads from the end of a name to its value; undefined where no value can follow, as at an empty string or an object. */
function readNameValueGap(text: string, from: number, isTag: boolean): NameValueGap | undefined {
  const limit = Math.min(text.length, from + LONGEST);
  let assigns = false;
  let tight = true;
  let broken = false;
  let listed = false;
  let tells = false;
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
    } else if (assigns && 'bruf'.includes(character) && /["']/.test(text.charAt(at + 1))) {
      // The prefix of a string in Python or Rust.
      tight = false;
    } else if (LINK_SIGNS.includes(character)) {
      assigns ||= character === '：';
      tight = false;
    } else if (character === ' ' || character === '\t') {
      tight = false;
    } else if (character === '\n' || character === '\r') {
      broken = true;
      tight = false;
    } else if (character === '{') {
      return undefined;
    } else if (',()[]|*'.includes(character)) {
      if (assigns && ',)]'.includes(character)) return undefined;
      listed ||= character === ',';
      tight = false;
    } else if (!(character === '-' && text.charAt(at + 1) === '>')) {
      const link = linkEnd(text, at, tight && !quote);
      if (link === undefined) break;
      // `name: DB_PASSWORD, value: …` assigns as clearly as an equals sign.
      if (text.slice(at, link).toLowerCase() === 'value') broken = false;
      tells ||= /^(?:is|was|are|ist|lautet|est|es)$/i.test(text.slice(at, link));
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
    listed,
    tells,
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
