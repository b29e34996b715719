import { createHash } from 'node:crypto';
import { topicStems } from '../words.ts';
import { aboutWords, isFiller } from './about-words.ts';
import { findLiterals } from './literals.ts';
import type { Rule } from './rule.ts';
import { withoutShown } from './shown-part.ts';
import { isVerb } from './verbs.ts';

const BANS = new Set(['stop', 'avoid', 'refrain', 'allowed', 'forbidden', 'prohibited', 'banned']);
const MOST_WORDS = 4;
const LONGEST = 48;
const LABEL = /^(?:keep to this|mind this|deliver what is (?:wanted|expected)): /i;
const CONDITION =
  /^(?:when|whenever|if|before|after|once|as soon as|every time|each time|for|in|on)\b([^,]{2,120}), (.+)$/i;

/**
 * A name from the verb, its object and then the condition: `sort-keys-json-file`. Literals are used only where words are too
 * few; a rule without Latin letters is named by its hash.
 */
export function nameSkill({ kind, todo }: Rule): string {
  const general = plain(withoutShown(todo.replace(LABEL, '')));
  const [, condition = '', deed = general] = CONDITION.exec(general) ?? [];
  const words = uniqueByStem([...leadingVerb(deed), ...wordsOf(deed), ...wordsOf(condition)]).slice(
    0,
    MOST_WORDS,
  );
  const [first, ...rest] = words;
  const pieces = words.length < MOST_WORDS ? piecesOf(plain(todo), words.length < 2) : [];
  const name = uniqueByStem([...(first === undefined ? [] : [first]), ...pieces, ...rest]).slice(
    0,
    MOST_WORDS + 1,
  );
  if (name.length === 0) return `rule-${createHash('sha256').update(todo).digest('hex').slice(0, 10)}`;
  while (name.length > 1 && name.join('-').length > LONGEST) name.pop();
  return `${kind === 'ban' ? 'never-' : ''}${name.join('-')}`;
}

const plain = (text: string): string => text.normalize('NFKD').replace(/\p{M}/gu, '');

/** The leading verb, unless it is too general to name a rule. */
function leadingVerb(deed: string): readonly string[] {
  const [first = ''] = deed.toLowerCase().match(/[a-z]+/) ?? [];
  return isVerb(first) &&
    !/^(?:do|be|have|make|use|put|keep|get|go|take|ensure|let|include)$/.test(first) &&
    !BANS.has(first)
    ? [first]
    : [];
}

const wordsOf = (text: string): readonly string[] =>
  aboutWords(text).filter((word) => /^[a-z][a-z0-9]{1,23}$/.test(word) && !isFiller(word) && !BANS.has(word));

/** `notes.txt` → notes, txt. A literal with digits is an example or a format. */
const piecesOf = (todo: string, isShort: boolean): readonly string[] =>
  findLiterals(todo)
    .filter((literal) => isShort || /^[^\d\s]{2,24}$/.test(literal))
    .slice(0, 1)
    .flatMap((literal) => literal.toLowerCase().match(/(?<![a-z0-9])[a-z]{2,15}(?![a-z0-9])/g) ?? []);

function uniqueByStem(words: readonly string[]): readonly string[] {
  const seen = new Set<string>();
  return words.filter((word) => {
    const [stem = word] = topicStems(word);
    return seen.has(stem) ? false : seen.add(stem);
  });
}
