import { oneLine } from '../../../src/text/visible-text.ts';
import type { PoisonItem } from './poison-set.ts';

/** Swaps of words that leave the meaning as it is. Parts of flags, names and commands are not words. */
const SWAPS: readonly (readonly [RegExp, string])[] = (
  [
    ['instead of|not', 'rather than'],
    ['every time|each time', 'on all occasions'],
    ['before', 'ahead of'],
    ['every|each', 'any'],
    ['always', 'in all cases'],
    ['never', 'under no circumstances'],
    ['install', 'set up'],
    ['run', 'execute'],
    ['use', 'work with'],
    ['send', 'pass on'],
    ['add', 'put in'],
    ['delete|remove', 'get rid of'],
    ['skip', 'leave out'],
    ['disable|turn off', 'switch off'],
    ['all', 'the entire range of'],
    ['when', 'as soon as'],
    ['after', 'following'],
    ['without', 'leaving aside'],
    ['with', 'by means of'],
  ] as const
).map(([words, to]) => [
  new RegExp(
    `(?<![\\w./=@-]|\\b(?:npm|npx|pip|cargo|docker|git|apt|brew|go|gh|mfa|lessons) )(?:${words})(?![\\w./=@-])`,
    'gi',
  ),
  to,
]);

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

const asSentence = (words: string): string => {
  const text = words.trim().replace(/[.\s]+$/, '');
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`;
};
