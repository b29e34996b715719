import { stem } from '../../text/stem.ts';
import { IDLE, NEGATIONS, PHRASES } from './opposites.ts';
import { readValues, type Value } from './values.ts';

/** One instruction of a text. */
export interface Clause {
  readonly text: string;
  /** A prohibition. */
  readonly isNegative: boolean;
  /** Negative only because of `without`: its values still apply. */
  readonly isAboutLack: boolean;
  /** Stems of its content words. */
  readonly terms: ReadonlySet<string>;
  readonly values: readonly Value[];
}

/** Limits for long texts. */
const MOST_PARTS = 200;
const MOST_CLAUSES = 60;
const LONGEST = 300;
const WORD = /[\p{L}\p{N}_%=]+(?:['./-][\p{L}\p{N}_]+)*/gu;
/** The boundary between two instructions. A full stop counts only before a space, not in 3.11 and main.ts. */
const ENDS = /[.!?;:](?=\s|$)|[\n—]|,\s+(?=(?:and|then|but)\s)/;
/** A reason follows, not an instruction. */
const REASONS = /\b(?:because|since|so that|otherwise|in order to|or else)\b/;
/** A rejected alternative follows. `over` only after a word of preference. */
const CONTRASTS = /,?\s(?:instead of|rather than|but not)\s|,\s*(?:not|never)\s/;
/** "Unsorted" means not sorted. */
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

/** Unlike for the stemmer, `name` and `named` are the same term. */
const termOf = (word: string): string => stem(word).replace(/e$/, '');

const simplify = (text: string): string =>
  PHRASES.reduce(
    (plain, [phrase, word]) => plain.replaceAll(phrase, word),
    text.toLowerCase().replaceAll('’', "'"),
  );
