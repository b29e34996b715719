import { BLANK, charClassAt, DIGIT, DOT, LETTER, runEnd, runStart, WORD } from './char-class.ts';

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
export function declaredTypeEnd(text: string, nameStart: number, nameEnd: number): number | undefined {
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
