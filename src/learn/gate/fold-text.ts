import { visibleText } from '../plain-text.ts';

/** Homoglyphs: letters of other scripts, each before the Latin letter that it looks like. */
const PAIRS =
  'аa вb еe ёe оo рp сc уy хx іi јj ѕs һh ԁd ԛq ԝw кk мm нh тt гr ӏl ɡg ɩi αa βb εe ηn ιi κk νv οo ρp τt υu χx ωw γy';
const HOMOGLYPHS: ReadonlyMap<string, string> = new Map(
  PAIRS.split(' ').map((pair): [string, string] => [pair.charAt(0), pair.slice(1)]),
);
const OTHER = /[\u0250-\u02af\u0370-\u052f]/;
const LATIN = /[a-z]/g;
const NOT_LATIN = /[\u0370-\u052f]/g;

/** Accents and strokes. In other scripts a mark makes another letter. */
const MARKS = /([\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}])\p{M}+/gu;
const QUOTES = /[\u2018\u2019\u201a\u201b\u02bc\u00b4]/g;
const DOUBLE_QUOTES = /[\u201c-\u201f\u00ab\u00bb]/g;
const DASHES = /[\u2010-\u2015\u2212]/g;

/**
 * Normalizes a text for comparison: removes invisible characters, unifies case, accents, quotes and dashes, and replaces
 * homoglyphs in Latin words. Keeps line breaks.
 */
export function foldText(text: string): string {
  const folded = visibleText(text)
    .normalize('NFKD')
    .replace(MARKS, '$1')
    .normalize('NFC')
    .toLowerCase()
    .replace(QUOTES, "'")
    .replace(DOUBLE_QUOTES, '"')
    .replace(DASHES, '-');
  if (!OTHER.test(folded)) return folded;
  const isLatin = countOf(folded, LATIN) > countOf(folded, NOT_LATIN);
  return folded.replace(/\p{L}+/gu, (word) => foldWord(word, isLatin));
}

/** Whether a Latin word contains letters of another script that look Latin. */
export function isDisguised(text: string): boolean {
  for (const [word] of text.matchAll(/\p{L}+/gu))
    if (/\p{Script=Latin}/u.test(word) && [...word.toLowerCase()].some((letter) => HOMOGLYPHS.has(letter)))
      return true;
  return false;
}

function foldWord(word: string, isLatinText: boolean): string {
  if (!OTHER.test(word) || !(isLatinText || /[a-z]/.test(word))) return word;
  return [...word].map((letter) => HOMOGLYPHS.get(letter) ?? letter).join('');
}

const countOf = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0;
