import { findLiterals } from './literals.ts';
import { isVerb } from './verbs.ts';

const DETERMINER =
  /^(?:an?|the|your|its|their|our|any|some|all|every|each|this|that|these|those|both|no|at least|at most|one|two|three|\d)\b/i;
const VAGUE_SUBJECT =
  /^(?:it|this|that|they|these|those|yours|the (?:output|answer|result|response|reply)|your (?:output|answer|result|response|reply|work))$/i;

/** Words that follow an imperative verb. */
const AFTER_VERB =
  /^(?:an?|the|your|its|their|our|any|all|every|each|this|that|these|those|both|no|only|not|it|them|me|us|to|in|on|at|with|by|for|from|as|up|out|into|under|over|one|two|["'`“«<].*)$/i;
const FINITE =
  /^\S+(?: [\w-]+){1,4} (?:is|are|was|were|must|should|shall|has|have|had|needs?|does|do|did|may|can|cannot|will|would|ends?|starts?|begins?|belongs?|go(?:es)?|comes?|uses?|isn['’]t|aren['’]t|wasn['’]t|weren['’]t|doesn['’]t|don['’]t|didn['’]t|hasn['’]t|haven['’]t|lacks?|exceeds?|missing)\b/i;

export const capital = (text: string): string => {
  const [first = ''] = text.split(' ', 1);
  return isName(first) ? text : text.charAt(0).toUpperCase() + text.slice(1);
};

export const small = (text: string): string => {
  const [first = ''] = text.split(' ', 1);
  return isName(first) || /^I\b/.test(text) || /^\p{Lu}{2}/u.test(first)
    ? text
    : text.charAt(0).toLowerCase() + text.slice(1);
};

const isName = (word: string): boolean => !/^\p{L}/u.test(word) || findLiterals(word).length > 0;

/** "ticket prefix" → "the ticket prefix"; nouns with an article and literals stay as they are. */
export const withArticle = (noun: string): string => {
  const bare = noun.replace(/^your\s+/i, 'the ');
  return DETERMINER.test(bare) || isName(bare.split(' ', 1)[0] ?? '') ? small(bare) : `the ${small(bare)}`;
};

/** "it" becomes "The result", and a numbered line becomes "Each line": the reader does not know the case. */
export function namedSubject(subject: string): string {
  const named = subject.trim();
  if (VAGUE_SUBJECT.test(named)) return 'The result';
  return /^lines? \d[\d, -]*$/i.test(named) ? 'Each line' : capital(named);
}

/** "Sort the keys" is imperative; "Log lines must be short" begins with a noun that could be a verb. */
export function isImperative(text: string): boolean {
  const [first = '', second = ''] = text.split(' ', 2);
  if (!isVerb(first.replace(/[^\p{L}]/gu, ''))) return false;
  return second === '' || AFTER_VERB.test(second) || !FINITE.test(text);
}

/** Refers to something named before: "It belongs at the top", "Put it below the address". */
export const looksBack = (text: string): boolean =>
  /^(?:it|they|this|that|these|those|(?:all|each|both|none|any) of (?:them|these|those|it))\b|^\S+ (?:it|them|this|that|those|these)\b(?! \p{L}*s\b)/iu.test(
    text,
  );
