import { findLiterals } from '../../text/literals.ts';
import { topicStems, topicWords } from '../../text/topic-words.ts';
import { isVagueWord } from './phrasing.ts';

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
export const subjectWords = (text: string): readonly string[] =>
  topicWords(withoutLiterals(text)).filter((word) => !isVagueWord(word));

/** A sentence without its literals. */
export const withoutLiterals = (text: string): string =>
  findLiterals(text)
    .reduce((rest, literal) => rest.replace(literal, ' '), text)
    .replace(TIME, '$1 times');

/** Their stems, with synonyms unified, for comparing. */
export function subjectStems(text: string): ReadonlySet<string> {
  const words = subjectWords(text).filter(
    (word) => (!FILLER.has(word) || SORTS.test(word)) && !/^\d+$/.test(word),
  );
  return new Set([...topicStems(words.join(' '))].map((stem) => SAME.get(stem) ?? stem));
}

const SORTS = /^(?:sort|order)$/;

export const isFiller = (word: string): boolean => FILLER.has(word);

const FORMAT = /Y{4}|YY|MM|DD|HH|hh|mm|ss|SS/g;
const IS_FORMAT = /YYYY|YY.?MM|DD.?MM|MM.?DD|HH.?mm/;
/** "20 hours", "4.50 eur": an amount. */
const QUANTITY = /^#[#.,]*\s?[a-z%€$£°]{1,12}$/;
const SHORTEST_PART = 4;
const ENDINGS = /[^/\s.]\.\w{1,5}(\.\w{1,5})$/;
/** A name that begins with a date: the words after it belong to the case. */
const DATED = /^#{6,8}[_-][a-z]/;
/** Half of all files have one of these. */
const ORDINARY =
  /^\*?\.(?:json|ya?ml|toml|xml|csv|tsv|txt|md|html?|pdf|docx?|xlsx?|png|svg|py|ts|js|sh|sql|log)$/;

/**
 * The shapes of the literals in a rule: digits are replaced, so that a format and an example of it are equal. A file name with
 * two extensions counts by the last one: the rest belongs to the case.
 */
export function literalShapes(text: string): ReadonlySet<string> {
  const literals = findLiterals(text);
  const named = literals.filter((literal) => !literals.some((other) => other.startsWith(`${literal}.`)));
  return new Set(
    named.map(shapeOf).filter((mark) => !ORDINARY.test(mark) && (/[a-z]/.test(mark) || mark.length > 4)),
  );
}

function shapeOf(literal: string): string {
  const ending = ENDINGS.exec(literal)?.[1];
  if (ending !== undefined && !/\d/.test(ending)) return ending.toLowerCase();
  const figures = (
    IS_FORMAT.test(literal) ? literal.replace(FORMAT, (part) => '#'.repeat(part.length)) : literal
  )
    .replace(/\d/g, '#')
    .toLowerCase();
  if (figures.includes(' | ')) return figures.split('|').map(fieldOf).join('|');
  if (QUANTITY.test(figures)) return '# w';
  return DATED.test(figures) ? figures.replace(/[a-z]+(?:[_-][a-z#]+)*/g, 'w') : figures;
}

/** A field of a record line: a bracketed label is fixed, the rest is data. */
const fieldOf = (field: string): string => `${/^\s*(\[[^\]]{1,20}\])/.exec(field)?.[1] ?? ''}w`;

/** An amount or a record line: too many rules contain one. */
const PLAIN = /^(?:# w|w(?:\|w)+)$/;

/** Whether two rules share a distinctive shape. */
export const sharesLiteralShape = (a: ReadonlySet<string>, b: ReadonlySet<string>): boolean =>
  [...a].some((mark) => b.has(mark) && !PLAIN.test(mark));

/** Equal, or one is a prefix or suffix of the other. A shape with spaces must be equal. */
const isSameMark = (a: string, b: string): boolean => a === b || isPart(a, b) || isPart(b, a);

const isPart = (part: string, whole: string): boolean =>
  part.length >= SHORTEST_PART && !/\s/.test(whole) && (whole.startsWith(part) || whole.endsWith(part));

export const hasLiteralShape = (marks: ReadonlySet<string>, mark: string): boolean =>
  [...marks].some((other) => isSameMark(other, mark));
