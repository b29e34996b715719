import { createHash } from 'node:crypto';
import { topicWords } from '../words.ts';
import type { Rule } from './rule.ts';
import { isVagueWord } from './vague.ts';

const BANS = new Set(['stop', 'avoid', 'refrain', 'allowed', 'forbidden', 'prohibited', 'banned']);
const MOST_WORDS = 5;
const LONGEST = 48;

/** A name out of the words that a rule is about; a rule in letters that a name cannot hold is named by its hash. */
export function nameSkill({ kind, todo }: Rule): string {
  const words = topicWords(todo.normalize('NFKD').replace(/\p{M}/gu, ''))
    .filter((word) => /^[a-z][a-z0-9]{1,23}$/.test(word) && !isVagueWord(word) && !BANS.has(word))
    .filter((word, index, all) => all.indexOf(word) === index)
    .slice(0, MOST_WORDS);
  if (words.length === 0) return `rule-${createHash('sha256').update(todo).digest('hex').slice(0, 10)}`;
  while (words.length > 1 && words.join('-').length > LONGEST) words.pop();
  return `${kind === 'ban' ? 'never-' : ''}${words.join('-')}`;
}

/** The name, or the name with a number when another lesson has it. */
export function freeName(name: string, taken: ReadonlySet<string>): string | undefined {
  if (!taken.has(name)) return name;
  for (let number = 2; number <= 9; number++) if (!taken.has(`${name}-${number}`)) return `${name}-${number}`;
  return undefined;
}
