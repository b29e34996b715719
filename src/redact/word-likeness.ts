import { charClassOf, LETTER, LOWER, UPPER } from './char-class.ts';

/** Frequent letter pairs in English words and identifiers: the followers of each letter. */
const FOLLOWERS: Readonly<Record<string, string>> = {
  a: 'bcdgiklmnprstuvy',
  b: 'aeilorsuy',
  c: 'aehiklortuy',
  d: 'adeiorsuy',
  e: 'acdefglmnpqrstvwxy',
  f: 'aefiloru',
  g: 'aehilnorsu',
  h: 'aeiorty',
  i: 'abcdefglmnoprstvz',
  j: 'aeosu',
  k: 'aeinosy',
  l: 'adefiklmopstuvy',
  m: 'abeimopsuy',
  n: 'acdefgiknostuy',
  o: 'abcdfgiklmnoprstuvwx',
  p: 'aehiloprstuy',
  q: 'u',
  r: 'acdegiklmnorstuvy',
  s: 'acehiklmopstuwy',
  t: 'acehilorstuwy',
  u: 'abcdegilmnprst',
  v: 'aeio',
  w: 'aehinors',
  x: 'aceipty',
  y: 'aelmnopst',
  z: 'aeio',
};
const PLAUSIBLE = new Uint8Array(26 * 26);
for (const [letter, followers] of Object.entries(FOLLOWERS)) {
  for (const follower of followers)
    PLAUSIBLE[(letter.charCodeAt(0) - 97) * 26 + follower.charCodeAt(0) - 97] = 1;
}

/** The share of letters and digits that belong to word-like parts: near 1 for names, near 0 for keys. */
export function wordLikeness(text: string): number {
  let counted = 0;
  let wordy = 0;
  let at = 0;
  while (at < text.length) {
    const bits = charClassOf(text.charCodeAt(at));
    if ((bits & LETTER) === 0) {
      if (isDigit(text.charCodeAt(at))) counted++;
      at++;
      continue;
    }
    const end = humpEnd(text, at);
    counted += end - at;
    if (isWord(text, at, end)) wordy += end - at;
    at = end;
  }
  return counted === 0 ? 0 : wordy / counted;
}

/** The mean length of the camel-case parts of a text: 4 to 6 in names, 2 or 3 in random strings. */
export function meanCamelHump(text: string): number {
  let letters = 0;
  let humps = 0;
  for (let at = 0; at < text.length; ) {
    const end = charClassOf(text.charCodeAt(at)) & LETTER ? humpEnd(text, at) : at;
    letters += end - at;
    humps += Number(end > at);
    at = Math.max(end, at + 1);
  }
  return humps === 0 ? 0 : letters / humps;
}

const isVowel = (code: number): boolean => 'aeiouyAEIOUY'.includes(String.fromCharCode(code));

const isDigit = (code: number): boolean => code >= 48 && code <= 57;

/** A hump is a part of a camel-case name: `Some`, `word`, `HTTP`. */
function humpEnd(text: string, from: number): number {
  let at = from;
  while (charClassOf(text.charCodeAt(at)) & UPPER) at++;
  if (at - from > 1) return charClassOf(text.charCodeAt(at)) & LOWER ? at - 1 : at;
  while (charClassOf(text.charCodeAt(at)) & LOWER) at++;
  return at;
}

function isWord(text: string, start: number, end: number): boolean {
  const length = end - start;
  if (length < 3) return isBoundary(text, start - 1) && isBoundary(text, end);
  let plausible = 0;
  let vowels = Number(isVowel(text.charCodeAt(end - 1)));
  for (let at = start; at + 1 < end; at++) {
    const first = (text.charCodeAt(at) | 32) - 97;
    vowels += Number(isVowel(text.charCodeAt(at)));
    const second = (text.charCodeAt(at + 1) | 32) - 97;
    plausible += PLAUSIBLE[first * 26 + second] ?? 0;
  }
  // Even "strengths" has a vowel in nine letters.
  if (vowels * 9 >= length && plausible >= 0.75 * (length - 1)) return true;
  return length === 3 && isBoundary(text, start - 1) && isBoundary(text, end);
}

/** A word boundary: the end of the text, or a separator. */
const isBoundary = (text: string, at: number): boolean => '-_./: '.includes(text.charAt(at));
