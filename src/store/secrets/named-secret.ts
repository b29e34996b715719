import {
  ALNUM,
  BACKSLASH,
  BLANK,
  BRACKET,
  BREAK,
  CLOSER,
  classAt,
  DASH,
  DOT,
  LETTER,
  QUOTE,
  runEnd,
  runStart,
  runUntil,
  SPACE,
  UNDERSCORE,
} from './char-class.ts';
import { type Gap, readGap } from './gap.ts';
import { authorizationIn, cookiesIn } from './http-credential.ts';
import { NONE, type Page, type Rule, type Span } from './page.ts';
import { kindOfName, type NameKind } from './secret-name.ts';
import { isSecretValue, SAMPLE, type Setting } from './secret-value.ts';

const NAME = ALNUM | UNDERSCORE | DASH | DOT;
const LONGEST_HALF = 64;
const LONGEST_QUOTED = 16_384;

/** A value after the name of a secret: `KEY=value`, `"key": "value"`, `--key value`, `<key>value`, `key is value`. */
export const findNamedSecret: Rule = (page, start, end) => {
  if (start < page.nameEnd || start < page.refusedValueEnd) return NONE;
  const { text } = page;
  const triggerEnd = text.charAt(end - 1) === '=' ? end - 1 : end;
  const nameEnd = trimName(text, triggerEnd, runEnd(text, triggerEnd, NAME, triggerEnd + LONGEST_HALF));
  page.nameEnd = nameEnd;
  if ((classAt(text, nameEnd) & (LETTER | UNDERSCORE)) !== 0) return NONE;
  const nameStart = startOfName(text, start, page.floor);
  const before = text.charAt(nameStart - 1);
  // An existing mark.
  if (before === '[' && text.startsWith('[[secret:', nameStart - 2)) return NONE;
  const name = text.slice(nameStart, nameEnd);
  const isParameter = before === '?' || before === '&' || text.startsWith('u0026', nameStart);
  const kind = kindIn(text, name, nameStart, isParameter);
  if (kind === undefined) return NONE;
  const isTag = before === '<' && text.charAt(nameEnd) === '>';
  const gap = readGap(text, nameEnd, isTag);
  if (!gap || (kind === 'weak' && !gap.assigns)) return NONE;
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
  return span ? [span] : NONE;
};

interface Found {
  readonly name: string;
  readonly kind: NameKind;
  readonly gap: Gap;
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
  return isBare && kind === 'weak' ? undefined : kind;
}

function valueIn(page: Page, found: Found): Span | undefined {
  const { gap, kind } = found;
  const quotedEnd = gap.quote === undefined ? undefined : closingQuote(page, gap);
  // A double quote in between ends the enclosing string: the other quote was an apostrophe.
  if (quotedEnd === undefined || page.next('"', gap.end) < quotedEnd) return unquotedIn(page, found);
  const value = page.text.slice(gap.end, Math.min(quotedEnd, gap.end + SAMPLE));
  const isEnv = gap.tight && isLoud(found.name) && isLineStart(page.text, found.nameStart, page.floor);
  const setting = settingOf(found, gap.assigns ? (isEnv ? 'env' : 'quoted') : 'loose');
  return isSecretValue(value, kind, setting) ? { start: gap.end, end: quotedEnd } : undefined;
}

function unquotedIn(page: Page, found: Found): Span | undefined {
  const { text } = page;
  const { kind, gap, nameStart, isParameter } = found;
  const startsLine = isLineStart(text, nameStart, page.floor);
  // In JSON text the name is quoted, and an unquoted value is a number or a literal such as `null`.
  const isJson = text.slice(found.nameEnd, gap.end).includes('"');
  const isBound = gap.assigns && gap.tight && !isJson && standsAlone(text, found, startsLine);
  const stops = SPACE | QUOTE | BRACKET | (isBound && startsLine && !isParameter ? 0 : CLOSER);
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
) => isParameter || startsLine || isFlag || isTag || text.charAt(nameStart - 1) === ';' || isLoud(name);

const boundSetting = ({ name }: Found, startsLine: boolean): Setting =>
  startsLine && isLoud(name) ? 'env' : 'bound';

function freeSetting(text: string, { gap, nameStart }: Found, startsLine: boolean, end: number): Setting {
  if (!gap.assigns) return 'loose';
  const beginsText = startsLine || (classAt(text, nameStart - 1) & QUOTE) !== 0;
  return beginsText && isLineEnd(text, end) ? 'line' : 'plain';
}

function settingOf({ gap, isFlag }: Found, otherwise: Setting): Setting {
  if (gap.broken) return 'loose';
  return isFlag && !gap.assigns ? 'line' : otherwise;
}

/** The position before the closing quote: one with as many backslashes as the opening quote, or fewer. */
function closingQuote(page: Page, gap: Gap): number | undefined {
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
  while (at > least && (classAt(text, at - 1) & (DASH | DOT)) !== 0) at--;
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
  const at = runStart(text, nameStart, BLANK | DASH | QUOTE, Math.max(floor, nameStart - 24));
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
  return end >= text.length || (classAt(text, end) & (BREAK | QUOTE | BACKSLASH)) !== 0;
};
