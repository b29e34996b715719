import { createHash } from 'node:crypto';
import { topicWords } from '../words.ts';

const MOST_WORDS = 5;
const LONGEST = 44;

/** A lesson name from the content words of a text; text without Latin letters is named by its hash. */
export function nameExperience(text: string): string {
  const words = topicWords(text.normalize('NFKD').replace(/\p{M}/gu, ''))
    .filter((word) => /^[a-z0-9]{2,24}$/.test(word))
    .filter((word, index, all) => all.indexOf(word) === index);
  const first = words.findIndex((word) => /^[a-z]/.test(word));
  const chosen = first < 0 ? [] : words.slice(first, first + MOST_WORDS);
  while (chosen.length > 1 && chosen.join('-').length > LONGEST) chosen.pop();
  if (chosen.length > 0) return chosen.join('-');
  return `experience-${createHash('sha256').update(text).digest('hex').slice(0, 10)}`;
}
