import { createLruMap } from '../../base/lru-map.ts';
import { stem } from '../../text/stem.ts';

/** The words of one sentence, in order, without those that say nothing: `please`, articles, `always`. */
export type PlainSentence = readonly string[];

/** A longer text or sentence is compared as it is written. */
const LONGEST_TEXT = 20_000;
const LONGEST = 400;
const MOST_KNOWN = 4000;
const ENDS = /[.!;:](?=\s|$)|(?=[?](?:\s|$))|\n/;
const REASONS = /(?:,\s*)?\b(?:because|so that)\b.*$/i;
/** The number of a step, the mark of a list and of a quotation say nothing. */
const MARKS = /^\s*(?:\d{1,3}[.)]|[-*>]+)\s+/;
/** A rule in the passive is the imperative with its verb first. */
const PASSIVE =
  /^(.{3,200}?)\s+(?:must|should|shall|has to|have to|is to|are to)\s+(?:always\s+)?be\s+(\p{L}+)\b(.*)$/iu;
/** Quotes, brackets and commas around a word. All else that is no letter is part of a literal. */
const AROUND = /^["'“”‘`(,]+|["'“”’`),]+$/g;
const PLAIN = /^[\p{Ll}\p{Lo}]+(?:'[\p{Ll}]+)?$/u;

const FILLERS: ReadonlySet<string> = new Set(
  'a an the please always also kindly you we should must shall'.split(' '),
);
/** What only says that a rule follows. */
const PREFACE = /^(?:(?:please|always)\s+)?(?:make sure|ensure|remember)\s+(?:to|that)\s+/i;
const IRREGULAR: Readonly<Record<string, string>> = {
  written: 'write',
  sent: 'send',
  kept: 'keep',
  built: 'build',
  chosen: 'choose',
  shown: 'show',
  made: 'make',
  given: 'give',
  taken: 'take',
  put: 'put',
  set: 'set',
  never: 'not',
  "don't": 'not',
  "mustn't": 'not',
  "shouldn't": 'not',
};

const known = createLruMap<string, readonly PlainSentence[]>(MOST_KNOWN);

/** The sentences of a rule in their order, each in its plain form. */
export function plainSentences(text: string): readonly PlainSentence[] {
  const found = known.get(text) ?? readSentences(text);
  known.set(text, found);
  return found;
}

const readSentences = (text: string): readonly PlainSentence[] =>
  text.length > LONGEST_TEXT ? [[text]] : text.split(ENDS).map(readSentence).filter(isSaid);

const isSaid = (sentence: PlainSentence): boolean => sentence.length > 0;

/** The regular form of a word that bends irregularly. */
export const regularForm = (word: string): string =>
  Object.hasOwn(IRREGULAR, word) ? (IRREGULAR[word] ?? word) : word;

function readSentence(text: string): PlainSentence {
  if (text.length > LONGEST) return [text];
  const plain = text
    .replaceAll('’', "'")
    .replace(MARKS, '')
    .replace(REASONS, '')
    .trim()
    .replace(PREFACE, '')
    .replace(/\bdo not\b/gi, 'not')
    // The first letter of a sentence is large by its place.
    .replace(/^\p{Lu}(?=\p{Ll}*(?:\s|,|$))/u, (letter) => letter.toLowerCase())
    .replace(PASSIVE, '$2 $1$3');
  return plain.split(/\s+/).flatMap((written) => {
    const word = written.replace(AROUND, '');
    if (word === '' || FILLERS.has(word)) return [];
    return PLAIN.test(word) ? [stem(regularForm(word))] : [word];
  });
}

/**
 * Whether two rules are the same, word by word: the same sentences in the same order, each with the same words in the same order, but
 * for words that say nothing, inflection, the passive, and reasons. Names, literals, signs, numbers, negation and conditions are words
 * like others.
 */
export function isSameInPlainWords(a: string, b: string): boolean {
  const key = (text: string): string =>
    plainSentences(text)
      .map((words) => words.join(' '))
      .join('\n');
  const one = key(a);
  return one !== '' && one === key(b);
}
