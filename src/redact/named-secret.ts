import {
  ALNUM,
  BACKSLASH,
  BLANK,
  BRACKET,
  BREAK,
  CLOSER,
  charClassAt,
  DASH,
  DOT,
  LETTER,
  QUOTE_MARK,
  runEnd,
  runStart,
  runUntil,
  SPACE,
  UNDERSCORE,
} from './char-class.ts';
import { declaredTypeEnd } from './declared-type.ts';
import { authorizationIn, cookiesIn } from './http-credential.ts';
import { type NameValueGap, readNameValueGap } from './name-value-gap.ts';
import { NO_SPANS, type ScanContext, type SecretRule, type SecretSpan } from './scan-context.ts';
import { kindOfName, type NameKind } from './secret-name.ts';
import {
  isSecretValue,
  isSpokenPassword,
  SAMPLE,
  spokenPhraseLength,
  type ValueContext,
} from './secret-value.ts';

const NAME = ALNUM | UNDERSCORE | DASH | DOT;
const LONGEST_HALF = 64;
const LONGEST_QUOTED = 16_384;
/** Twenty-four words of twelve letters. */
const LONGEST_PHRASE = 320;

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
  const named = { name, kind, nameStart, isParameter, isTag, isFlag: before === '-' };
  const typeEnd = declaredTypeEnd(text, nameStart, nameEnd);
  if (typeEnd === undefined) return spansAfter(page, named, nameEnd);
  const declared = spansAfter(page, named, typeEnd);
  // A value that ends with `=` can look like a type, but a type without digits before a string is one.
  const isCertain =
    OPENS_STRING.test(text.slice(typeEnd, typeEnd + 12)) && !/\d/.test(text.slice(nameEnd, typeEnd));
  return declared.length > 0 || isCertain ? declared : spansAfter(page, named, nameEnd);
};

const OPENS_STRING = /^[ \t]{0,4}:?=[ \t]{0,4}\\{0,4}["'`]/;

/** The value behind the gap that begins here. */
function spansAfter(page: ScanContext, named: Named, from: number): readonly SecretSpan[] {
  const { name, kind, isTag } = named;
  const gap = readNameValueGap(page.text, from, isTag);
  if (!gap || (kind === 'weak' && !gap.assigns)) return NO_SPANS;
  if (kind === 'authorization' && gap.assigns) return authorizationIn(page, gap.end);
  if (kind === 'cookie') return cookiesIn(page, gap.end, gap.quote, /set-?cookie/i.test(name));
  const span = valueIn(page, named, gap);
  return span ? [span] : NO_SPANS;
}

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
}

/** The value after a name that was recognised elsewhere. */
export function findValueAfter(page: ScanContext, place: NamedPlace, nameEnd: number): readonly SecretSpan[] {
  const gap = readNameValueGap(page.text, nameEnd, false);
  const span = gap && valueIn(page, { ...place, isParameter: false, isTag: false, isFlag: false }, gap);
  return span ? [span] : NO_SPANS;
}

interface Named extends NamedPlace {
  readonly isParameter: boolean;
  readonly isTag: boolean;
  /** `--name`: a space is enough before its value. */
  readonly isFlag: boolean;
}

function kindIn(text: string, name: string, nameStart: number, isParameter: boolean): NameKind | undefined {
  if (isParameter && /^(?:u0026)?key$/i.test(name)) return 'token';
  // "API key", "secret access key", "seed phrase": prose has a space where identifiers have none.
  const isBare = /^(?:keys?|phrase)$/i.test(name) && text.charAt(nameStart - 1) === ' ';
  const word = isBare ? runStart(text, nameStart - 1, LETTER, nameStart - 24) : nameStart;
  const kind = kindOfName(isBare ? `${text.slice(word, nameStart - 1)}_${name}` : name);
  if (kind === 'query') return isParameter ? 'token' : undefined;
  if (kind === undefined && /^(?:pass|pw|passcode)$/i.test(name)) return 'spoken';
  return isBare && kind === 'weak' ? undefined : kind;
}

function valueIn(page: ScanContext, named: Named, gap: NameValueGap): SecretSpan | undefined {
  const quotedEnd = gap.quote === undefined ? undefined : closingQuote(page, gap);
  // A double quote in between ends the enclosing string: the other quote was an apostrophe.
  if (quotedEnd === undefined || page.next('"', gap.end) < quotedEnd) return unquotedIn(page, named, gap);
  const value = page.text.slice(gap.end, Math.min(quotedEnd, gap.end + SAMPLE));
  const isEnv = gap.tight && isLoud(named.name) && isLineStart(page.text, named.nameStart, page.floor);
  const setting = settingOf(named, gap, gap.assigns ? (isEnv ? 'env' : 'quoted') : 'loose');
  return isSecretValue(value, named.kind, setting) ? { start: gap.end, end: quotedEnd } : undefined;
}

function unquotedIn(page: ScanContext, named: Named, gap: NameValueGap): SecretSpan | undefined {
  const { text } = page;
  const { kind, nameStart, isParameter } = named;
  if (kind === 'phrase' && (gap.assigns || gap.tells) && !gap.broken) {
    const length = spokenPhraseLength(text.slice(gap.end, gap.end + LONGEST_PHRASE), !gap.assigns);
    if (length > 0) return { start: gap.end, end: gap.end + length };
  }
  const startsLine = isLineStart(text, nameStart, page.floor);
  // In JSON text the name is quoted, and an unquoted value is a number or a literal such as `null`.
  const isJson = text.slice(gap.start, gap.end).includes('"');
  const isBound = gap.assigns && gap.tight && !isJson && standsAlone(text, named, startsLine);
  const stops = SPACE | QUOTE_MARK | BRACKET | (isBound && startsLine && !isParameter ? 0 : CLOSER);
  const sampleEnd = runUntil(text, gap.end, stops, gap.end + SAMPLE);
  const end = trimValue(text, gap.end, sampleEnd, isBound);
  const value = text.slice(gap.end, end);
  if (isJson && /^-?\d[\d.eE+-]*$/.test(value)) return undefined;
  const isEnv = startsLine && isLoud(named.name);
  const free = freeSetting(text, gap, startsLine || isQuoteBefore(text, nameStart), end);
  const setting = settingOf(named, gap, isBound ? (isEnv ? 'env' : 'bound') : free);
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
  { name, nameStart, isParameter, isFlag, isTag }: Named,
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

const isQuoteBefore = (text: string, nameStart: number): boolean =>
  (charClassAt(text, nameStart - 1) & QUOTE_MARK) !== 0;

function freeSetting(text: string, gap: NameValueGap, beginsText: boolean, end: number): ValueContext {
  if (!gap.assigns) return 'loose';
  return beginsText && isLineEnd(text, end) ? 'line' : 'plain';
}

function settingOf({ kind, isFlag, isTag }: Named, gap: NameValueGap, otherwise: ValueContext): ValueContext {
  if (gap.broken && !isTag) return 'loose';
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
