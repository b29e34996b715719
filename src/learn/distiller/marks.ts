import { findLiterals } from './literals.ts';

const FORMAT = /Y{4}|YY|MM|DD|HH|hh|mm|ss|SS/g;
const IS_FORMAT = /YYYY|YY.?MM|DD.?MM|MM.?DD|HH.?mm/;
/** "20 hours", "4.50 eur": some amount of something. */
const QUANTITY = /^#[#.,]*\s?[a-z%€$£°]{1,12}$/;
const SHORTEST_PART = 4;
const ENDINGS = /[^/\s.]\.\w{1,5}(\.\w{1,5})$/;
/** A name that begins with a day: the words behind it are those of the case. */
const DATED = /^#{6,8}[_-][a-z]/;
/** Half of all files have one of these. */
const ORDINARY =
  /^\*?\.(?:json|ya?ml|toml|xml|csv|tsv|txt|md|html?|pdf|docx?|xlsx?|png|svg|py|ts|js|sh|sql|log)$/;

/**
 * What a rule cannot be said without: its literals, with any figures in place of figures, so that a format and an example of it
 * are one. A file name with two endings counts by the last: the rest is the file that it happened to be.
 */
export function marksOf(text: string): ReadonlySet<string> {
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

/** A field of a line that is filled in: what stands in brackets before it is fixed, the rest is whatever there was. */
const fieldOf = (field: string): string => `${/^\s*(\[[^\]]{1,20}\])/.exec(field)?.[1] ?? ''}w`;

/** Some amount, some line of fields: too many rules show one. */
const PLAIN = /^(?:# w|w(?:\|w)+)$/;

/** Whether two have a mark in common that few others have. */
export const sharesMark = (a: ReadonlySet<string>, b: ReadonlySet<string>): boolean =>
  [...a].some((mark) => b.has(mark) && !PLAIN.test(mark));

/** The same, or one is how the other begins or ends. What has spaces in it is whole or nothing. */
const isSameMark = (a: string, b: string): boolean => a === b || isPart(a, b) || isPart(b, a);

const isPart = (part: string, whole: string): boolean =>
  part.length >= SHORTEST_PART && !/\s/.test(whole) && (whole.startsWith(part) || whole.endsWith(part));

export const hasMark = (marks: ReadonlySet<string>, mark: string): boolean =>
  [...marks].some((other) => isSameMark(other, mark));
