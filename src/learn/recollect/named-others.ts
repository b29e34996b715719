import { MONTH_NAMES, WEEKDAY_NAMES } from '../../text/calendar-names.ts';
import { detectLanguages } from '../../text/languages.ts';

/*
 * A question about Anna is not answered by what its author said about somebody else. Who is meant is told by names alone: words with a
 * capital inside a sentence, where a language does not write every noun with one.
 */

const NAME = /^\p{Lu}\p{Ll}/u;
const DATES: ReadonlySet<string> = new Set([...MONTH_NAMES, ...WEEKDAY_NAMES]);
const SENTENCE = /(?<=[.!?])\s+/u;
const CLAUSE = /(?<=[.!?,;:—–])\s+|\n/u;
/** "Hey Anna!", "Anna,": a clause of so few words speaks to somebody, and says nothing of them. */
const MOST_SPOKEN_TO = 2;

const wordsIn = (text: string): readonly string[] =>
  (text.match(/[\p{L}\p{N}][\p{L}\p{N}'’-]*/gu) ?? []).map((word) => word.replace(/['’]s?$/u, ''));

/** The names in a question. */
export function namesAskedAbout(question: string): readonly string[] {
  if (detectLanguages(question.toLowerCase()).has('german')) return [];
  const inside = question.split(SENTENCE).flatMap((sentence) => wordsIn(sentence).slice(1));
  return [...new Set(inside.filter((word) => NAME.test(word) && !DATES.has(word)))];
}

const isSpokenTo = (clause: string): boolean =>
  /[.!?,]$/.test(clause) && wordsIn(clause).length <= MOST_SPOKEN_TO;

/** Whether a text says something of one of them: it does not only speak to them. */
export function isAboutOne(names: readonly string[], text: string): boolean {
  const said = text.split(CLAUSE).filter((clause) => !isSpokenTo(clause.trim()));
  return said.some((clause) => wordsIn(clause).some((word) => names.some((name) => isNamedBy(word, name))));
}

/** Shorter names begin too many words. */
const LONG_NAME = 4;

/** "PostgreSQL" names Postgres, and "react" React: in doubt a quotation stays. */
function isNamedBy(word: string, name: string): boolean {
  const [written, asked] = [word.toLowerCase(), name.toLowerCase()];
  return asked.length < LONG_NAME ? written === asked : written.startsWith(asked);
}

/** Whether a text speaks to one of them, as in "Hey Anna!". */
export const speaksToOne = (names: readonly string[], text: string): boolean =>
  text.split(CLAUSE).some((clause) => {
    const [, ...behind] = isSpokenTo(clause.trim()) ? wordsIn(clause) : [];
    return behind.some((word) => names.includes(word));
  });
