import {
  findForgotten,
  findReplaced,
  isRevocation,
  isRevocationOfLast,
  isRuleOver,
} from '../../reader/cues/revocations.ts';
import { isHabit, isOrder } from '../../reader/cues/standing-phrases.ts';
import { foldWords } from '../../reader/own-sentences.ts';
import { sentencesOf } from '../../text/sentences.ts';
import { replacesWords } from '../compare-words.ts';
import { isNamedIn, isWantedIn, type Matter, namesNothingElse, readMatter } from './matter.ts';
import type { Saying } from './sayings.ts';

/** Words that may be taken back. */
interface EarlierWords {
  readonly quote: string;
  readonly matters: readonly Matter[];
}

const foldedSentences = (quote: string): readonly string[] => sentencesOf(quote).map(foldWords);

/**
 * Whether a saying takes older words back: it says the contrary, it gives the same thing another value, it says that what they are about is over or replaced, it asks to forget
 * all about it, or it says "forget that" right after them. One of several sentences is not all that was said.
 */
export function takesBack({ quote, failure }: Saying, older: EarlierWords): boolean {
  if (replacesWords(quote, older.quote)) return true;
  const sentences = foldedSentences(quote);
  const lead = readMatter(older.quote);
  if (sentences.some((sentence) => isRuleOver(sentence) && isNamedIn(readMatter(sentence), lead)))
    return true;
  const forgotten = sentences.flatMap(findForgotten).map(readMatter);
  if (forgotten.some((part) => namesNothingElse(part, readMatter(foldWords(older.quote))))) return true;
  // Who says that a thing is out agrees with words that reject it.
  if (findReplaced(sentences.join(' ')).some((part) => isWantedIn(part, lead))) return true;
  return (
    sentences.some(isRevocationOfLast) && failure.task.includes(older.quote.split('\n')[0] ?? older.quote)
  );
}

/** Whether a saying only asks to forget what was said: there is nothing in it to learn. */
export function isNothingButRevocation({ quote }: Saying): boolean {
  const sentences = foldedSentences(quote);
  const forgets = (sentence: string): boolean =>
    isRevocationOfLast(sentence) || findForgotten(sentence).length > 0;
  return (
    sentences.some(forgets) &&
    !sentences.some(
      (sentence) => !forgets(sentence) && (isOrder(sentence) || isHabit(sentence) || isRevocation(sentence)),
    )
  );
}
