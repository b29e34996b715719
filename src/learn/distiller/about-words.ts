import { topicStems, topicWords } from '../words.ts';
import { findLiterals } from './literals.ts';
import { isVagueWord } from './vague.ts';

/** Words that occur in any demand and do not say what it is about. */
const FILLER: ReadonlySet<string> = new Set(
  `according already anyone anything appear are behind belong bring carry come comes contain deliver down ensure enough example exist exists
  follow form get give goes going have here hold include just kind like look looks lot main mention must need never note order ought part place
  read require required see show sort stand state such sure there thing together type want whole write written wrote`.split(
    /\s+/,
  ),
);

/** Synonyms by their stems; the first of a row stands for the others. */
const SAME: ReadonlyMap<string, string> = new Map(
  [
    'date time timestamp datetim moment',
    'edit chang modify modifi updat touch alter rewrit amend revis',
    'file document',
    'sort order rank arrang',
    'alphabet alphabetical alphabetically',
    'copy copi backup duplicat snapshot',
    'new creat generat',
    'amount figur quantity',
    'begin start open lead',
    'end finish final last clos complet',
    'add append insert',
    'name call titl',
    'ticket issu',
    'remov delet drop eras',
    'customer client',
    'mail email',
    'shorten short brief',
  ].flatMap((row) => {
    const [first = '', ...others] = row.split(' ');
    return others.map((other): [string, string] => [other, first]);
  }),
);

/** "every time" is a conjunction only where a sentence follows. */
const TIME =
  /\b(every|each|any|an?|the|date (?:and|or)(?: an?)?) time\b(?! (?:you|we|i|he|she|they|it|the|an?|some\w+)\b)/gi;

/** The words that say what a sentence is about, in order, without its literals. */
export const aboutWords = (text: string): readonly string[] =>
  topicWords(spokenOf(text)).filter((word) => !isVagueWord(word));

/** A sentence without its literals. */
export const spokenOf = (text: string): string =>
  findLiterals(text)
    .reduce((rest, literal) => rest.replace(literal, ' '), text)
    .replace(TIME, '$1 times');

/** Their stems, with synonyms unified, for comparing. */
export function aboutStems(text: string): ReadonlySet<string> {
  const words = aboutWords(text).filter(
    (word) => (!FILLER.has(word) || SORTS.test(word)) && !/^\d+$/.test(word),
  );
  return new Set([...topicStems(words.join(' '))].map((stem) => SAME.get(stem) ?? stem));
}

const SORTS = /^(?:sort|order)$/;

export const isFiller = (word: string): boolean => FILLER.has(word);
