import { CLOSER, DIGIT, LETTER, runEnd } from './char-class.ts';

/** The text between a name and its value. */
export interface NameValueGap {
  /** The end of the name, or of the type behind it. */
  readonly start: number;
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

interface Reading {
  readonly text: string;
  readonly from: number;
  readonly isTag: boolean;
  at: number;
  assigns: boolean;
  tight: boolean;
  broken: boolean;
  listed: boolean;
  tells: boolean;
  quote: string | undefined;
  quoteEnd: number;
  quoteSlashes: number;
  /** The backslashes directly before `at`. */
  slashes: number;
}

const LONGEST = 48;
const LINKS = new Set(['is', 'are', 'was', 'to', 'as', 'value', 'lautet', 'ist', 'est', 'es']);
/** The same in other languages, as single characters. */
const LINK_SIGNS = 'èé是为為は：';
const PERCENT = /^%(?:3D|3A|20|22)/i;
const UNICODE = /^\\u[0-9a-f]{4}/i;
/** Assignments of make (`?=`, `::=`), and those that add to a value or keep one that is there (`+=`, `.=`, `??=`, `||=`). */
const OPERATOR = /(?:\?\??|\+|\.|\|\||::?:?)=(?!=)/y;
/** The prefixes of a string in Python, Rust, C, C#, Objective-C and SQL. */
const STRING_PREFIXES = 'bBrRuUfFLN@$';

/** Reads from the end of a name to its value; undefined where no value can follow, as at an empty string or an object. */
export function readNameValueGap(text: string, from: number, isTag: boolean): NameValueGap | undefined {
  const reading: Reading = {
    text,
    from,
    isTag,
    at: from,
    assigns: false,
    tight: true,
    broken: false,
    listed: false,
    tells: false,
    quote: undefined,
    quoteEnd: -1,
    quoteSlashes: 0,
    slashes: 0,
  };
  const limit = Math.min(text.length, from + LONGEST);
  while (reading.at < limit) {
    const step = readCharacter(reading);
    if (step === 'no value') return undefined;
    if (step === 'value') break;
  }
  const { at, slashes, quoteEnd } = reading;
  if (at >= text.length || at >= from + LONGEST || at === from) return undefined;
  const isQuoted = quoteEnd === at - slashes;
  if (slashes > 0 && !isQuoted) return undefined;
  const { assigns, tight, broken, listed, tells } = reading;
  return {
    start: from,
    end: at - (isQuoted ? slashes : 0),
    assigns,
    tight,
    broken,
    listed,
    tells,
    quote: isQuoted ? reading.quote : undefined,
    slashes: reading.quoteSlashes,
  };
}

type Step = 'gap' | 'value' | 'no value';

/** Reads one character, operator or linking word, and says whether the gap goes on. */
function readCharacter(reading: Reading): Step {
  const { text, at } = reading;
  const { character, width } = characterAt(text, at);
  if (character === '\\') {
    reading.slashes++;
    reading.at++;
    return 'gap';
  }
  if (character === '\u001b') {
    // A terminal colour.
    reading.at = runEnd(text, at + 2, DIGIT | CLOSER, at + 10) + 1;
    return 'gap';
  }
  let step: Step = 'gap';
  let length = width;
  if (reading.slashes > 0 && 'nrt'.includes(character)) {
    reading.broken ||= character !== 't';
    reading.tight = false;
  } else if (character === '"' || character === "'" || character === '`') {
    step = readQuote(reading, character, width);
  } else {
    const operator = operatorAt(text, at, character);
    if (operator > 0) {
      reading.assigns = true;
      length = operator;
    } else step = readSign(reading, character);
  }
  if (step === 'value') return readLink(reading);
  reading.slashes = 0;
  reading.at = at + length;
  return step;
}

function readQuote(reading: Reading, character: string, width: number): Step {
  const { at, slashes, from } = reading;
  if (reading.quoteEnd === at - slashes && reading.quote === character && reading.assigns) return 'no value';
  const closesName = at - slashes === from;
  if (!closesName) {
    reading.quote = character;
    reading.quoteEnd = at + width;
    reading.quoteSlashes = slashes;
  }
  return 'gap';
}

/** The length of an assignment of several characters, else 0. */
function operatorAt(text: string, at: number, character: string): number {
  if (!'?+.|:'.includes(character) || !`=${character}`.includes(text.charAt(at + 1) || ' ')) return 0;
  OPERATOR.lastIndex = at;
  return OPERATOR.exec(text)?.[0].length ?? 0;
}

/** A sign between a name and its value; `value` where it is none. */
function readSign(reading: Reading, character: string): Step {
  const { text, at, isTag } = reading;
  const next = text.charAt(at + 1);
  if (character === ':' || character === '=') {
    if (character === ':' && next === ':') return 'no value';
    reading.assigns = true;
    return 'gap';
  }
  if (character === '>' && (isTag || '=-'.includes(text.charAt(at - 1)))) {
    reading.assigns = true;
    return 'gap';
  }
  if (character === '{') return 'no value';
  if (character === '-' && next === '>') return 'gap';
  const isPrefix = reading.assigns && STRING_PREFIXES.includes(character) && /["']/.test(next);
  if (isPrefix || LINK_SIGNS.includes(character)) {
    reading.assigns ||= character === '：';
  } else if (character === '\n' || character === '\r') {
    reading.broken = true;
  } else if (',()[]|*'.includes(character)) {
    if (reading.assigns && ',)]'.includes(character)) return 'no value';
    reading.listed ||= character === ',';
  } else if (character !== ' ' && character !== '\t') return 'value';
  reading.tight = false;
  return 'gap';
}

/** A word that links a name and its value, such as `is`; else the value begins here. */
function readLink(reading: Reading): Step {
  const { text, at } = reading;
  const link = linkEnd(text, at, reading.tight && !reading.quote);
  if (link === undefined) return 'value';
  const word = text.slice(at, link);
  // `name: DB_PASSWORD, value: …` assigns as clearly as an equals sign.
  if (word.toLowerCase() === 'value') reading.broken = false;
  reading.tells ||= /^(?:is|was|are|ist|lautet|est|es)$/i.test(word);
  reading.assigns = false;
  reading.quoteEnd = -1;
  reading.at = link;
  reading.slashes = 0;
  return 'gap';
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
