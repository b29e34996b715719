import type { Lesson } from '../../core/lesson.ts';
import { oneLine } from '../plain-text.ts';
import { aboutStems, aboutWords } from './about-words.ts';
import { findLiterals } from './literals.ts';
import { hasMark, marksOf } from './marks.ts';
import type { HeardRule } from './merge-rules.ts';
import { rulesIn, type ToldRule } from './rules-in.ts';

/** After so many ways to say it, other words are one way more. */
const MOST_WORDINGS = 3;
const COVERS = 0.7;

/** What a lesson says, so that a rule can be held against it. */
export interface Said {
  readonly text: string;
  readonly stems: ReadonlySet<string>;
  readonly marks: ReadonlySet<string>;
  /** The rules that it was made of. */
  readonly rules: readonly ToldRule[];
}

/** The words that a skill of ours was made of stand in it. */
export function saidIn({ text }: Lesson): Said {
  const quoted = text.content.split('\n').filter((line) => line.startsWith('> '));
  return said(
    `${text.description}\n${text.content}`,
    quoted.flatMap((line) => rulesIn(line.slice(2))),
  );
}

export const saidBy = (rules: readonly ToldRule[]): Said =>
  said(rules.flatMap(({ todo, more, said: words }) => [todo, ...more, ...words]).join('\n'), rules);

const said = (text: string, rules: readonly ToldRule[]): Said => ({
  text: plain(text),
  stems: aboutStems(text),
  marks: marksOf(text),
  rules,
});

const plain = (text: string): string => oneLine(text).replaceAll('`', '').toLowerCase();

/**
 * Whether a rule asks for something that was not said: a literal of another kind, another measure, code, or all that was said and
 * something more. Another example or another case of the same is nothing new, and neither is what the task itself speaks of.
 */
export function isNewTo(known: Said, { rule, failure }: HeardRule): boolean {
  if (known.text.includes(plain(rule.todo))) return false;
  const task = failure?.task.toLowerCase() ?? '';
  const unsaid = [...rule.ownMarks].filter((mark) => !hasMark(known.marks, mark));
  if (unsaid.length > 0) {
    const given = marksOf(task);
    if (unsaid.some((mark) => !hasMark(given, mark))) return true;
  }
  if (measuresIn(rule.todo).some((measure) => !known.text.includes(measure))) return true;
  if (rule.code !== undefined && !known.text.includes(plain(rule.code))) return true;
  if (known.rules.length >= MOST_WORDINGS) return false;
  const spoken = aboutStems(task);
  const isMore = [...rule.stems].some((stem) => !known.stems.has(stem) && !spoken.has(stem));
  return isMore && known.rules.some(({ stems }) => [...stems].every((stem) => rule.stems.has(stem)));
}

/** Whether somebody else's lesson says already what a rule asks for. */
export function covers(known: Said, { stems, marks, todo }: ToldRule): boolean {
  if (known.text.includes(plain(todo))) return true;
  if (![...marks].every((mark) => hasMark(known.marks, mark))) return false;
  const shared = [...stems].filter((stem) => known.stems.has(stem)).length;
  return marks.size > 0 && shared > 1 && shared / stems.size >= COVERS;
}

/** "80 characters", "2 spaces": a figure with what it counts, outside of what is to be kept to the letter. */
function measuresIn(todo: string): readonly string[] {
  const spoken = findLiterals(todo).reduce((rest, literal) => rest.replace(literal, ' '), todo);
  return [...spoken.matchAll(/(?<![\w.,])(\d+) (\p{Ll}+)/gu)]
    .filter(([, , unit = '']) => aboutWords(unit).length > 0)
    .map(([measure]) => measure.toLowerCase());
}
