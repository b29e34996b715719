import { findLiterals } from '../../text/literals.ts';
import { isInstructionVerb } from '../../text/verbs.ts';

const DETERMINER =
  /^(?:an?|the|your|its|their|our|any|some|all|every|each|this|that|these|those|both|no|at least|at most|one|two|three|\d)\b/i;
const VAGUE_SUBJECT =
  /^(?:it|this|that|they|these|those|yours|the (?:output|answer|result|response|reply)|your (?:output|answer|result|response|reply|work))$/i;

/** Words that follow an imperative verb. */
const AFTER_VERB =
  /^(?:an?|the|your|its|their|our|any|all|every|each|this|that|these|those|both|no|only|not|it|them|me|us|to|in|on|at|with|by|for|from|as|up|out|into|under|over|one|two|["'`“«<].*)$/i;
const FINITE =
  /^\S+(?: [\w-]+){1,4} (?:is|are|was|were|must|should|shall|has|have|had|needs?|does|do|did|may|can|cannot|will|would|ends?|starts?|begins?|belongs?|go(?:es)?|comes?|uses?|isn['’]t|aren['’]t|wasn['’]t|weren['’]t|doesn['’]t|don['’]t|didn['’]t|hasn['’]t|haven['’]t|lacks?|exceeds?|missing)\b/i;

export const capitalize = (text: string): string => {
  const [first = ''] = text.split(' ', 1);
  return isName(first) ? text : text.charAt(0).toUpperCase() + text.slice(1);
};

export const uncapitalize = (text: string): string => {
  const [first = ''] = text.split(' ', 1);
  return isName(first) || /^I\b/.test(text) || /^\p{Lu}{2}/u.test(first)
    ? text
    : text.charAt(0).toLowerCase() + text.slice(1);
};

const isName = (word: string): boolean => !/^\p{L}/u.test(word) || findLiterals(word).length > 0;

/** "ticket prefix" → "the ticket prefix"; nouns with an article and literals stay as they are. */
export const withArticle = (noun: string): string => {
  const bare = noun.replace(/^your\s+/i, 'the ');
  return DETERMINER.test(bare) || isName(bare.split(' ', 1)[0] ?? '')
    ? uncapitalize(bare)
    : `the ${uncapitalize(bare)}`;
};

/** "it" becomes "The result", and a numbered line becomes "Each line": the reader does not know the case. */
export function namedSubject(subject: string): string {
  const named = subject.trim();
  if (VAGUE_SUBJECT.test(named)) return 'The result';
  return /^lines? \d[\d, -]*$/i.test(named) ? 'Each line' : capitalize(named);
}

/** "Sort the keys" is imperative; "Log lines must be short" begins with a noun that could be a verb. */
export function isImperative(text: string): boolean {
  const [first = '', second = ''] = text.split(' ', 2);
  if (!isInstructionVerb(first.replace(/[^\p{L}]/gu, ''))) return false;
  return second === '' || AFTER_VERB.test(second) || !FINITE.test(text);
}

/** Refers to something named before: "It belongs at the top", "Put it below the address". */
export const refersBack = (text: string): boolean =>
  /^(?:it|they|this|that|these|those|(?:all|each|both|none|any) of (?:them|these|those|it))\b|^\S+ (?:it|them|this|that|those|these)\b(?! \p{L}*s\b)/iu.test(
    text,
  );

/** Interjections before the statement, followed by punctuation: without it they may be part of the statement ("no tabs"). */
const CALLS =
  `feedback|incorrect|wrong|not correct|not quite|almost|close|failed|failure|fail|error|warning|note|reminder|hint|tip|rule|
house rule|policy|house style|style|convention|nope|no|sorry|hey|hi|hello|ok|okay|well|yes|thanks|thank you|good|great|nice|fyi|
important|nit|minor|comment|review|reviewer|verifier|checker|check failed|validation failed|validation error|assertionerror|
valueerror|as (?:i|we) said(?: before)?|like (?:i|we) said|again|also|finally|first|second|third|lastly|one more thing|
small thing|issue|problem|fix`.replaceAll('\n', '');
const CALL = new RegExp(`^(?:${CALLS})\\s*[:,.!–—-]+\\s+`, 'i');
const FILLER =
  /^(?:please|pls|kindly|also|and|but|so|then|again|still|next time|in (?:the )?future|from now on|going forward|as a rule|in general|generally|remember that|note that|keep in mind that|mind that|be aware that|i (?:said|told you|asked you)(?: to| that)?|you know that)[,:]?\s+/i;
const TAG =
  /^\[[^\]]{0,20}(?:feedback|fail|error|warn|note|check|review|verif|test|rule|lint)[^\]]{0,20}\][:\s]*/i;
const SHOUT = /^(?:FAIL(?:ED|URE)?|ERROR|WARN(?:ING)?|INVALID|NOT OK)\s+(?=\S)/;
const PLACE = /^(?:line \d+|[\w./-]+\.\w{1,5}:\d+(?::\d+)?)[:,]\s+/i;

/** The sentence without leading greetings, tags and "please". */
export function withoutLeadIn(said: string): string {
  let rest = said.trim();
  for (let round = 0; round < 6; round++) {
    const shorter = [TAG, CALL, FILLER, PLACE, SHOUT].reduce(
      (text, pattern) => text.replace(pattern, ''),
      rest,
    );
    if (shorter === rest || shorter === '') return rest;
    rest = shorter;
  }
  return rest;
}

/** Words of general complaints that say nothing about what to do. */
const VAGUE: ReadonlySet<string> = new Set(
  `again attention answer answers ask asked bad best better brain broken careful carefully check closely complete completed
  completely correct correctly deliver detail details different differently do effort error errors exact exactly expected fix fixed
  focus follow following followed good great harder help include incorrect instruction instructions issue job look mistake
  mistakes nothing ok okay output part perfect precise problem properly question quality quickly read redo response result
  results retry right simply something stuff task tasks think thinking thought thorough today try understand user wanted work
  works wrong yourself`.split(/\s+/),
);

export const isVagueWord = (word: string): boolean => VAGUE.has(word);
