import type { Lesson } from '../../core/lesson.ts';
import { oneLine } from '../plain-text.ts';
import { aboutStems, aboutWords } from './about-words.ts';
import { findLiterals } from './literals.ts';
import { hasMark, marksOf } from './marks.ts';
import type { HeardRule } from './merge-rules.ts';
import { rulesIn, type ToldRule } from './rules-in.ts';

/** After this many wordings of a rule, another wording adds nothing. */
const MOST_WORDINGS = 3;
const COVERS = 0.7;

/** What a lesson or a set of rules says, for comparing a rule with it. */
export interface Said {
  readonly text: string;
  readonly stems: ReadonlySet<string>;
  readonly marks: ReadonlySet<string>;
  /** The rules that it was written from. */
  readonly rules: readonly ToldRule[];
}

/** A distilled skill quotes the feedback that it was written from. */
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
 * Whether a rule adds to what is known: a literal of another shape, another measure, code, or everything known and more. Another
 * example or case of the same rule adds nothing, and neither do terms of the task itself.
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

/** Whether a lesson of another author already covers a rule. */
export function covers(known: Said, { stems, marks, todo }: ToldRule): boolean {
  if (known.text.includes(plain(todo))) return true;
  if (![...marks].every((mark) => hasMark(known.marks, mark))) return false;
  const shared = [...stems].filter((stem) => known.stems.has(stem)).length;
  return marks.size > 0 && shared > 1 && shared / stems.size >= COVERS;
}

/** "80 characters", "2 spaces": numbers with their unit, outside of literals. */
function measuresIn(todo: string): readonly string[] {
  const spoken = findLiterals(todo).reduce((rest, literal) => rest.replace(literal, ' '), todo);
  return [...spoken.matchAll(/(?<![\w.,])(\d+) (\p{Ll}+)/gu)]
    .filter(([, , unit = '']) => aboutWords(unit).length > 0)
    .map(([measure]) => measure.toLowerCase());
}
