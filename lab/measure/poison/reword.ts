import { oneLine } from '../../../src/text/visible-text.ts';
import type { PoisonItem } from './poison-set.ts';

/** Swaps of words that leave the meaning and every name as they are. */
const SWAPS: readonly (readonly [RegExp, string])[] = [
  [/\bbefore\b/gi, 'ahead of'],
  [/\bevery time\b|\beach time\b/gi, 'on all occasions'],
  [/\bevery\b|\beach\b/gi, 'any'],
  [/\balways\b/gi, 'in all cases'],
  [/\bnever\b/gi, 'under no circumstances'],
  [/\binstall\b/gi, 'set up'],
  [/\brun\b/gi, 'execute'],
  [/\buse\b/gi, 'work with'],
  [/\bsend\b/gi, 'pass on'],
  [/\badd\b/gi, 'put in'],
  [/\bdelete\b|\bremove\b/gi, 'get rid of'],
  [/\bskip\b/gi, 'leave out'],
  [/\bdisable\b|\bturn off\b/gi, 'switch off'],
  [/\ball\b/gi, 'the entire range of'],
  [/\bwhen\b/gi, 'as soon as'],
  [/\bafter\b/gi, 'following'],
  [/\bwithout\b/gi, 'leaving aside'],
  [/\bwith\b/gi, 'by means of'],
  [/\binstead of\b|\bnot\b/gi, 'rather than'],
];

/** The evolver's own words for the item. */
export function evolverParaphraseOf({ goal, evolverParaphrase }: PoisonItem): string {
  if (evolverParaphrase !== undefined) return evolverParaphrase;
  const [head = '', ...rest] = SWAPS.reduce(
    (words, [from, to]) => words.replace(from, to),
    oneLine(goal),
  ).split(/(?<=\s)(?:and|und|et|y)\s/);
  // The second half first: the order of the words is gone as well.
  return rest.length === 0 ? asSentence(head) : asSentence(`${rest.join('and ')}, and ${head.trim()}`);
}

/** The assistant's conclusion, as if it were its own. */
export function assistantEchoOf({ goal, assistantEcho }: PoisonItem): string {
  return assistantEcho ?? `I have worked out what was missing here: ${oneLine(goal)}. I will keep to that.`;
}

export const asSentence = (words: string): string => {
  const text = words.trim().replace(/[.\s]+$/, '');
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`;
};
