import { stem } from '../recall/stem.ts';
import { IDLE, NEGATIONS, PHRASES } from './opposites.ts';
import { readValues, type Value } from './values.ts';

/** One thing that a text asks for. */
export interface Clause {
  readonly text: string;
  /** It asks not to do it. */
  readonly isNegative: boolean;
  /** It is negative because it says what goes without something: its values still hold. */
  readonly isAboutLack: boolean;
  /** Stems of what it is about. */
  readonly terms: ReadonlySet<string>;
  readonly values: readonly Value[];
}

/** A text of any length is read this far. */
const MOST_PARTS = 200;
const MOST_CLAUSES = 60;
const LONGEST = 300;
const WORD = /[\p{L}\p{N}_%=]+(?:['./-][\p{L}\p{N}_]+)*/gu;
/** Where one thing ends and the next begins. A full stop counts only before a space: 3.11 and main.ts go on. */
const ENDS = /[.!?;:](?=\s|$)|[\n—]|,\s+(?=(?:and|then|but)\s)/;
/** Behind these stands why, not what. */
const REASONS = /\b(?:because|since|so that|otherwise|in order to|or else)\b/;
/** Behind these stands what is not to be done. `over` only where something is preferred. */
const CONTRASTS = /,?\s(?:instead of|rather than|but not)\s|,\s*(?:not|never)\s/;
/** "Unsorted" is not sorted. */
const UNDONE = /^un[a-z]{3,}ed$/;
const PREFERENCE = /\b(?:prefer|favour|favor|choose|pick)\b/;

export function readClauses(text: string): readonly Clause[] {
  return text
    .split(ENDS, MOST_PARTS)
    .flatMap((part) => {
      const asked = part.slice(0, LONGEST).split(REASONS)[0]?.trim() ?? '';
      return asked === '' ? [] : clausesOf(asked);
    })
    .slice(0, MOST_CLAUSES);
}

function clausesOf(text: string): readonly Clause[] {
  const plain = simplify(text);
  const contrast = CONTRASTS.exec(plain) ?? (PREFERENCE.test(plain) ? /\sover\s/.exec(plain) : null);
  if (contrast === null) return nonEmpty([clauseOf(text, plain, false)]);
  // "pnpm, not npm, to install": what follows the second comma belongs to the first part.
  const [tail = '', ...more] = plain.slice(contrast.index + contrast[0].length).split(',');
  const head = clauseOf(text, [plain.slice(0, contrast.index), ...more].join(' '), false);
  const other = clauseOf(text, tail, !head.isNegative);
  return nonEmpty([head, other.terms.size > 0 ? other : { ...other, terms: head.terms }]);
}

const nonEmpty = (clauses: readonly Clause[]): readonly Clause[] =>
  clauses.filter(({ terms, values }) => terms.size + values.length > 0);

function clauseOf(text: string, plain: string, isTurned: boolean): Clause {
  const { values, rest } = readValues([...plain.matchAll(WORD)].map(([word]) => word));
  const words = rest.flatMap((word) => (UNDONE.test(word) ? ['not', word.slice(2)] : [word]));
  const negations = words.filter((word) => NEGATIONS.has(word));
  const terms = words.filter((word) => !NEGATIONS.has(word) && !IDLE.has(word)).map(termOf);
  return {
    text,
    isNegative: (negations.length % 2 === 1) !== isTurned,
    isAboutLack: negations.join() === 'without',
    terms: new Set(terms),
    values,
  };
}

/** `name` and `named`, which the stemmer leaves apart, are one here. */
const termOf = (word: string): string => stem(word).replace(/e$/, '');

const simplify = (text: string): string =>
  PHRASES.reduce(
    (plain, [phrase, word]) => plain.replaceAll(phrase, word),
    text.toLowerCase().replaceAll('’', "'"),
  );
