import type { ReadFileQuestion } from './file-question.ts';
import { datesInNames } from './pinned-date.ts';
import { rulesNamedIn } from './rules.ts';
import type { Step } from './step.ts';

export interface DayRead {
  readonly day: string;
  readonly texts: Readonly<Record<string, string>>;
  readonly date: string | undefined;
  /** Its file questions in order. */
  readonly checked: readonly ReadFileQuestion[];
}

/** What is odd about a day as it was published. The day is kept as it is, so that results compare. */
export function notesOnDay({ day, texts, date, checked }: DayRead): readonly string[] {
  const readme = `${day}/README.md`;
  const named = rulesNamedIn(texts[readme] ?? '');
  const notes =
    named.length === 0 ? [] : [`${readme} tells the agent of the rules ${named.join(', ')} by name`];
  if (date === undefined) notes.push(`${day}: nothing says which date it is`);
  const log = texts['done.log'];
  const before = log === undefined ? 0 : log.split('\n').filter((line) => line.trim() !== '').length;
  for (const [index, { question, steps, notes: found }] of checked.entries()) {
    notes.push(...found.map((note) => `${question.id}: ${note}`));
    const other = steps.flatMap(datesIn).find((wanted) => wanted !== date);
    if (other !== undefined && date !== undefined)
      notes.push(`${question.id} asks for a file dated ${other}, and the agent is told that it is ${date}`);
    const entries = Math.max(0, ...steps.map((step) => (step.kind === 'done-log' ? step.minEntries : 0)));
    if (entries > before + index + 1)
      notes.push(
        `${question.id} asks for ${entries} entries in done.log, and the day gave ${before + index + 1} tasks so far`,
      );
  }
  return notes;
}

const datesIn = (step: Step): readonly string[] => (step.kind === 'python' ? datesInNames(step.code) : []);
