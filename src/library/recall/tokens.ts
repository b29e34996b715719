import { stem } from '../../text/stem.ts';
import { STOP_WORDS } from './stop-words.ts';

/** The search terms of a text. */
export interface Terms {
  /** Stems of words, and of the parts of names. */
  readonly words: readonly string[];
  /** Names kept whole: snake_case, camelCase, paths, versions, error codes, --flags, dates. */
  readonly names: readonly string[];
}

/** The parts of a name are joined by one separator, which matches no other part of the pattern: matching is linear. */
const TOKEN = /-{0,2}[\p{L}\p{N}_$]+(?:['’./:\\@-][\p{L}\p{N}_]+)*(?:\+\+|#)?/gu;
const PART = /\p{Lu}+(?![\p{Ll}])|\p{Lu}?\p{Ll}+|\p{N}+|[\p{Lo}\p{Lm}]+/gu;
/** The fast path for most words. */
const PLAIN = /^[a-z]+$/;
const HAN = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;
const LONGEST_NAME = 80;

export function termsOf(text: string): Terms {
  const words: string[] = [];
  const names: string[] = [];
  for (const raw of text.match(TOKEN) ?? []) {
    if (PLAIN.test(raw)) {
      addPlain(words, raw);
      continue;
    }
    const token = withoutApostrophe(raw);
    if (isName(token) && token.length <= LONGEST_NAME) names.push(token.toLowerCase());
    for (const [part] of token.matchAll(PART)) addWord(words, part.toLowerCase());
  }
  return { words, names };
}

function addWord(words: string[], word: string): void {
  if (HAN.test(word)) words.push(...pairs(word));
  else addPlain(words, word);
}

function addPlain(words: string[], word: string): void {
  if (word.length > 1 && !STOP_WORDS.has(word)) words.push(stem(word));
}

/** Bigrams, for scripts without spaces. */
function pairs(run: string): readonly string[] {
  const letters = [...run];
  return letters.length === 1 ? letters : letters.slice(1).map((letter, at) => `${letters[at]}${letter}`);
}

/** "don't" is dont, "Alice's" is Alice. */
function withoutApostrophe(token: string): string {
  const at = token.search(/['’]/);
  if (at < 0) return token;
  const rest = token.slice(at + 1);
  return /^(?:t|re|ve|ll|d|m)$/i.test(rest) ? '' : token.slice(0, at);
}

/** More than a plain word: separators, an inner capital, or letters mixed with digits. */
const isName = (token: string): boolean =>
  /[\p{L}\p{N}][_./:\\@-]+[\p{L}\p{N}]/u.test(token) ||
  /^--?[\p{L}]/u.test(token) ||
  /\p{Ll}\p{Lu}/u.test(token) ||
  (/\p{L}/u.test(token) && /\p{N}/u.test(token)) ||
  /(?:\+\+|#)$/.test(token);
