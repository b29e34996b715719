import { createLruMap } from '../../base/lru-map.ts';
import type { EmbeddingModel } from '../../core/recall.ts';
import { cosineSimilarity, QUOTE_LIKENESS } from '../../lessons/similar/compare.ts';
import { foldAccents } from '../../reader/own-sentences.ts';
import { detectLanguages } from '../../text/languages.ts';
import { sentencesOf } from '../../text/sentences.ts';
import { areTwoThings } from '../memory/write/compare-claims.ts';
import {
  contradicts,
  isOpposed,
  isTelling,
  type Matter,
  mattersOf,
  readMatter,
  shareMatter,
} from './matter.ts';

/** The words of a rule, for telling whether other words are about the same rule. Nothing of it is ever shown. */
export interface RuleWords {
  readonly quote: string;
  /** Of its sentences. */
  readonly matters: readonly Matter[];
  /** The values that it names and that its task does not: `--no-verify`, `_total`, `+01:00`. */
  readonly values: readonly string[];
  /** What it is about, without what its task names. */
  readonly terms: ReadonlySet<string>;
}

/** How near two quotes are in meaning, −1 to 1: as a whole, and the two of their sentences that are nearest. */
interface QuoteNearness {
  readonly whole: number;
  readonly nearest: number;
}

/** Undefined where it is not known. */
export type Likeness = (a: string, b: string) => QuoteNearness | undefined;

export const UNKNOWN_LIKENESS: Likeness = () => undefined;

/** Whether two quotes state one rule in nearly the same words. Quotes with different values state two. */
export const isSameInWords = (a: RuleWords, b: RuleWords): boolean =>
  !hasOtherValue(a, b) && shareMatter(a.matters, b.matters) && !areTwoThings(a.quote, b.quote);

/**
 * Whether two quotes state one rule in other words, by the sentence model. Quotes with different values, and quotes of which one rejects
 * what the other wants, state two.
 */
export function isAlike(a: RuleWords, b: RuleWords, likeness: Likeness, wasShown = false): boolean {
  const near = likeness(a.quote, b.quote);
  if (near === undefined) return false;
  const { whole, nearest } = near;
  const isShared = sharesValue(a, b);
  const isNear =
    nearest >= (wasShown ? QUOTE_LIKENESS.sameWhenShown : QUOTE_LIKENESS.same) ||
    (whole >= QUOTE_LIKENESS.sameWithTerm && [...a.terms].some((term) => b.terms.has(term))) ||
    (whole >= QUOTE_LIKENESS.sameWithValue && isShared);
  if (!isNear || hasOtherValue(a, b) || areTwoThings(a.quote, b.quote)) return false;
  // "There was no _total" and "add _total": a complaint names what it misses.
  return !a.matters.some((one) =>
    b.matters.some(
      (other) => contradicts(one, other) || contradicts(other, one) || (!isShared && isOpposed(one, other)),
    ),
  );
}

/** Whether both name values, and none of them in common. Names such as `door_opened` are examples more often than values. */
export const hasOtherValue = (a: RuleWords, b: RuleWords): boolean =>
  !a.values.every(isName) && !b.values.every(isName) && !sharesValue(a, b);
const isName = (value: string): boolean => /^\w+$/.test(value);

const sharesValue = (a: RuleWords, b: RuleWords): boolean =>
  a.values.some((value) => b.quote.includes(value)) ||
  b.values.some((value) => a.quote.includes(value)) ||
  a.values.some((one) => b.values.some((other) => one.slice(0, FORM) === other.slice(0, FORM)));
/** `\\cref{fig:a}` and `\\cref{eq:b}` are of one form. */
const FORM = 4;

const QUOTED =
  /"([^"\n]{1,80})"|“([^”\n]{1,80})”|`([^`\n]{1,80})`|(?<![\p{L}\p{N}])'([^'\n]{1,80})'(?![\p{L}\p{N}])/gu;
const BARE = /(?<=^|[\s(:,])(?:--?[\p{L}]|(?=\S*[^\s\p{L}\p{N}.,;:!?'"()…–—-]))[^\s"“”`'(),;]{2,80}/gu;
const OFFSET = /^[+-]\d\d:?\d\d$/;
/** Dates, numbers, amounts, addresses, and files and folders: examples, or the case at hand. */
const NO_VALUE =
  /^[\d.,:/+\s%€$£-]*$|^https?:|@\w+\.|^(?:[\w.-]{0,80}\/)+[\w.-]*$|^[\w-]{1,80}\.[a-z]{1,5}$|^\p{L}+(?:[ '’-]\p{L}+)*$|^\p{L}+\/\p{L}+$/u;
const MOST_VALUES = 8;
const SHORTEST_PART = 3;

/** The values in a quote. What a value has in common with the texts of its case is left out: of `archive/may.json_old`, `_old`. */
function valuesIn(quote: string, known: readonly string[] = []): readonly string[] {
  const texts = known.join('\n');
  const found = [
    ...[...quote.matchAll(QUOTED)].flatMap((match) => match.slice(1).filter((part) => part !== undefined)),
    ...(quote.replace(QUOTED, ' ').match(BARE) ?? []),
  ];
  const values = found
    .map((one) =>
      newPart(
        one.trim().replace(/[.,;:!?]+$/, (end) => (/^[.,;:]+$/.test(end) ? '' : end)),
        texts,
      ),
    )
    .map((value) => (OFFSET.test(value) ? value : value.replace(/(?<=[^\d\s]{2,})\d[\d.,:/-]{2,}$/, '')))
    .filter((value) => value.length > 1 && (OFFSET.test(value) || !NO_VALUE.test(value)));
  return [...new Set(values)].slice(0, MOST_VALUES);
}

/** The value without the longest beginning and end of it that stand in the texts. */
function newPart(value: string, texts: string): string {
  if (texts.includes(value)) return '';
  let from = value.length;
  while (from >= SHORTEST_PART && !texts.includes(value.slice(0, from))) from--;
  const rest = from >= SHORTEST_PART ? value.slice(from) : value;
  let to = 0;
  while (rest.length - to >= SHORTEST_PART && !texts.includes(rest.slice(to))) to++;
  return rest.length - to >= SHORTEST_PART ? rest.slice(0, to) : rest;
}

/** What a quote says, told from the texts of its case: what was asked and done. */
export function readRuleWords(quote: string, known: readonly string[]): RuleWords {
  const matter = readMatter(quote);
  const told = new Set(known.flatMap((text) => [...readMatter(text).terms.keys()]));
  return {
    quote,
    matters: mattersOf(quote),
    values: valuesIn(quote, known),
    terms: new Set([...matter.terms.keys()].filter((term) => !told.has(term) && isTelling(term))),
  };
}

/** Reads quotes with the sentence model, each once. Never rejects: without the model nothing is known to be alike. */
export type CompareQuotes = (quotes: readonly string[]) => Promise<Likeness>;

/** The sentence model knows English only: other texts are near each other whatever they say. */
const isEnglish = (quote: string): boolean => {
  const folded = foldAccents(quote);
  return ENGLISH.test(folded) && detectLanguages(folded).size === 0;
};
const ENGLISH =
  /\b(?:the|a|an|is|are|be|has|have|in|on|for|to|of|by|from|with|and|or|not|no|never|it|this|that|we|you|your|our|i|my|all|every|use|must|should|please|pls)\b/;

const MOST_VECTORS = 5_000;
const MOST_SENTENCES = 6;

export function createQuoteComparison(embed: EmbeddingModel['embed']): CompareQuotes {
  const known = createLruMap<string, Float32Array>(MOST_VECTORS);
  const partsOf = (quote: string): readonly string[] => [
    ...new Set([quote, ...sentencesOf(quote).slice(0, MOST_SENTENCES)]),
  ];
  return async (quotes) => {
    if (quotes.length === 0) return UNKNOWN_LIKENESS;
    const missing = [...new Set(quotes.filter(isEnglish).flatMap(partsOf))].filter(
      (text) => known.get(text) === undefined,
    );
    try {
      const vectors = missing.length === 0 ? [] : await embed(missing);
      vectors.forEach((vector, index) => {
        known.set(missing[index] ?? '', vector);
      });
    } catch {
      return UNKNOWN_LIKENESS;
    }
    return (a, b) => {
      const cosines = partsOf(a).flatMap((one) =>
        partsOf(b).flatMap((other) => {
          const [mine, theirs] = [known.get(one), known.get(other)];
          return mine === undefined || theirs === undefined ? [] : cosineSimilarity(mine, theirs);
        }),
      );
      // The quotes themselves come first.
      const [whole] = cosines;
      return whole === undefined ? undefined : { whole, nearest: Math.max(...cosines) };
    };
  };
}
