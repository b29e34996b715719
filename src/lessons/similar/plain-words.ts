import { createLruMap } from '../../base/lru-map.ts';
import { stem } from '../../text/stem.ts';

/** The words of one sentence, in order, without those that say nothing: `please`, articles, `always`. */
export type PlainSentence = readonly string[];

const MOST_SENTENCES = 40;
const LONGEST = 400;
const MOST_KNOWN = 4000;
const ENDS = /[.!?;:](?=\s|$)|\n/;
const REASONS = /(?:,\s*)?\b(?:because|so that)\b.*$/i;
/** The number of a step, the mark of a list and of a quotation say nothing. */
const MARKS = /^\s*(?:\d{1,3}[.)]|[-*>]+)\s+/;
/** A rule in the passive is the imperative with its verb first. */
const PASSIVE =
  /^(.{3,200}?)\s+(?:must|should|shall|has to|have to|is to|are to)\s+(?:always\s+)?be\s+(\p{L}+)\b(.*)$/iu;
const WORD = /[\p{L}\p{N}_%=$#@~+\\/.:'-]*[\p{L}\p{N}_%=]/gu;
/** A name, a literal or a number: compared as it is written. */
const LITERAL = /[\d_%=$#@~+\\/.:]|.\p{Lu}/u;

const FILLERS: ReadonlySet<string> = new Set(
  'a an the please always also just kindly you we should must shall'.split(' '),
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
  cannot: 'not',
  "can't": 'not',
};

const known = createLruMap<string, readonly PlainSentence[]>(MOST_KNOWN);

/** The sentences of a rule, each in its plain form. */
export function plainSentences(text: string): readonly PlainSentence[] {
  const found = known.get(text) ?? text.split(ENDS, MOST_SENTENCES).map(readSentence).filter(isSaid);
  known.set(text, found);
  return found;
}

const isSaid = (sentence: PlainSentence): boolean => sentence.length > 0;

/** The regular form of a word that bends irregularly. */
export const regularForm = (word: string): string =>
  Object.hasOwn(IRREGULAR, word) ? (IRREGULAR[word] ?? word) : word;

function readSentence(text: string): PlainSentence {
  const plain = text
    .slice(0, LONGEST)
    .replaceAll('’', "'")
    .replace(MARKS, '')
    .replace(REASONS, '')
    .trim()
    .replace(PREFACE, '')
    .replace(/\bdo not\b/gi, 'not')
    // The first letter of a sentence is large by its place.
    .replace(/^\p{Lu}(?=\p{Ll}*\b)/u, (letter) => letter.toLowerCase())
    .replace(PASSIVE, '$2 $1$3');
  return [...plain.matchAll(WORD)].flatMap(([word]) => {
    if (LITERAL.test(word) || /^\p{Lu}/u.test(word)) return [word];
    return FILLERS.has(word) ? [] : [stem(regularForm(word))];
  });
}

/**
 * Whether two rules are the same, word by word: the same sentences, each with the same words in the same order, but for words that
 * say nothing, inflection, the passive, and reasons. Names, literals, numbers, negation and conditions are words like others.
 */
export function isSameInPlainWords(a: string, b: string): boolean {
  const key = (text: string): string =>
    plainSentences(text)
      .map((words) => words.join(' '))
      .sort()
      .join('\n');
  const one = key(a);
  return one !== '' && one === key(b);
}
