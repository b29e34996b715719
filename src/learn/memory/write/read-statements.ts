import type { LabelledSpan } from '../../../core/reading.ts';
import { type ReadSentence, readSentences } from '../../../reader/read-message.ts';
import { readForgetRequests } from './compare-claims.ts';

/**
 * A sentence in which a person says what holds: about their world, tools, people, preferences, decisions or rules. `forget`: it only
 * takes something back.
 */
export interface Statement {
  /** Letter by letter as in the message; with the sentence before it where it has too few words of its own. */
  readonly quote: string;
  readonly kind: 'fact' | 'rule' | 'forget';
}

export const MOST_OF_MESSAGE = 3;
/** As long as a description shows whole: a cut could take a negation away. */
const LONGEST_QUOTE = 230;
/** "Do that everywhere": what it speaks of stands before it. */
const FEW_WORDS = 4;

/** The statements of a message that follows this answer ('' without one). In doubt a sentence is none. `spans`: what a model read in it. */
export function readStatements(
  message: string,
  answer = '',
  spans?: readonly LabelledSpan[],
): readonly Statement[] {
  const sentences = readSentences({ message, answer, spans });
  const found: Statement[] = [];
  for (const [nth, sentence] of sentences.entries()) {
    const kind = kindOf(sentence);
    if (kind === undefined) continue;
    const before = sentences[nth - 1];
    const pointsBack =
      kind === 'rule' && wordsIn(sentence.folded) < FEW_WORDS && before?.block === sentence.block;
    const quote =
      pointsBack && before !== undefined ? joined(message, before.text, sentence.text) : sentence.text;
    if (quote === undefined || quote.length > LONGEST_QUOTE) continue;
    if (quote !== sentence.text && found.at(-1)?.quote === before?.text) found.pop();
    found.push({ quote, kind });
  }
  return found.slice(0, MOST_OF_MESSAGE);
}

function kindOf({ text, kinds }: ReadSentence): Statement['kind'] | undefined {
  if (kinds.has('rule')) return 'rule';
  if (kinds.has('fact') || kinds.has('preference')) return 'fact';
  return kinds.has('revocation') || readForgetRequests(text).length > 0 ? 'forget' : undefined;
}

/** A sign of a script without blanks counts as half a word. */
const wordsIn = (folded: string): number =>
  folded.split(' ').length + (folded.match(/\p{Lo}/gu)?.length ?? 0) / 2;

/** What stands between two neighbouring sentences stays as it is. */
function joined(message: string, first: string, second: string): string | undefined {
  const from = message.indexOf(first);
  const at = from < 0 ? -1 : message.indexOf(second, from + first.length);
  const between = at < 0 ? undefined : message.slice(from + first.length, at);
  return between !== undefined && /^[^\S\n]*$/.test(between)
    ? message.slice(from, at + second.length)
    : undefined;
}
