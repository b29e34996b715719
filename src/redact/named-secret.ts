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
  WORD,
} from './char-class.ts';
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

/** No type is read further than this. */
const LONGEST = 96;
/** Types of text that declarations have behind a name without a colon, in Go and SQL. */
const TEXT_TYPE = /^[*&]?(?:\[\w{0,6}\])?(?:string|bytes?|rune|text|n?(?:var)?char2?)\b/i;
/** The type of text in Julia: `key::String`. Other names behind `::` are members. */
const JULIA_TEXT = /^(?:Abstract)?String\b/;
/** Words that begin a declaration: behind its name any type may stand. */
const DECLARES = /(?:^|[\s;({"'`]|\\[nrt])(?:var|const|let|val|static|declare)[ \t]+[@$]?$/i;
/** Words of a type that another word follows. */
const MODIFIER = /(?:^|[^\w])(?:const|mut|constant|dyn|unsigned|readonly|final)$/;

/**
 * The end of the type that code states between a name and its value: `key: string = "…"`, `key string = "…"`,
 * `key As String = "…"`, `key[64] = "…"`. Only an assignment may follow it; undefined where there is no such type.
 */
function declaredTypeEnd(text: string, nameStart: number, nameEnd: number): number | undefined {
  const start = typeStart(text, nameStart, nameEnd);
  if (start === undefined) return undefined;
  const end = readType(text, start);
  return end === undefined || end === start ? undefined : end;
}

/** Where a type may begin; undefined where none can follow this name. */
function typeStart(text: string, nameStart: number, nameEnd: number): number | undefined {
  if (text.charAt(nameEnd) === '[') return nameEnd;
  const gapEnd = runEnd(text, nameEnd, BLANK, nameEnd + 4);
  const colon = '?!'.includes(text.charAt(gapEnd) || ' ') ? gapEnd + 1 : gapEnd;
  if (text.charAt(colon) === ':') {
    const isDouble = text.charAt(colon + 1) === ':';
    const start = runEnd(text, colon + (isDouble ? 2 : 1), BLANK, colon + 6);
    return isDouble && !JULIA_TEXT.test(text.slice(start, start + 16)) ? undefined : start;
  }
  if (gapEnd === nameEnd) return undefined;
  const near = text.slice(gapEnd, gapEnd + 24);
  const as = /^as[ \t]{1,4}/i.exec(near)?.[0].length;
  if (as !== undefined) return gapEnd + as;
  const isDeclared = DECLARES.test(text.slice(Math.max(0, nameStart - 16), nameStart));
  return isDeclared || TEXT_TYPE.test(near) ? gapEnd : undefined;
}

/** The end of a type before an assignment. Brackets may contain anything but a line break. */
function readType(text: string, start: number): number | undefined {
  const limit = Math.min(text.length, start + LONGEST);
  let depth = 0;
  let at = start;
  while (at < limit) {
    const character = text.charAt(at);
    if (character === '\n' || character === '\r') return undefined;
    if ('<[('.includes(character)) depth++;
    else if ('>])'.includes(character)) depth--;
    else if (
      depth === 0 &&
      (character === '=' || character === ':' || character === ' ' || character === '\t')
    ) {
      const next = runEnd(text, at, BLANK, limit);
      if (isAssignment(text, next)) return at;
      if (character === ':' && text.charAt(at + 1) === ':') at++;
      else if (next === at || !continues(text, start, at, next)) return undefined;
    } else if (depth === 0 && !isTypeCharacter(text, at)) return undefined;
    if (depth < 0) return undefined;
    at++;
  }
  return undefined;
}

const isAssignment = (text: string, at: number): boolean => {
  const equals = text.charAt(at) === ':' ? at + 1 : at;
  return text.charAt(equals) === '=' && !'=>~'.includes(text.charAt(equals + 1) || ' ');
};

/** Whether a type goes on behind a blank: `str | None`, `&'static mut str`, `[]const u8`. */
const continues = (text: string, start: number, blank: number, next: number): boolean =>
  '|&*'.includes(text.charAt(next) || ' ') ||
  '|&*'.includes(text.charAt(blank - 1)) ||
  MODIFIER.test(text.slice(Math.max(start, blank - 10), blank)) ||
  // The lifetime of a reference in Rust.
  text.charAt(runStart(text, blank, LETTER, blank - 16) - 1) === "'";

function isTypeCharacter(text: string, at: number): boolean {
  const character = text.charAt(at);
  if ((charClassAt(text, at) & (WORD | DOT | DIGIT)) !== 0 || '|&*?!$'.includes(character)) return true;
  return character === "'" && text.charAt(at - 1) === '&' && (charClassAt(text, at + 1) & LETTER) !== 0;
}
