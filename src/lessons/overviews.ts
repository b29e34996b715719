import { isDeepStrictEqual } from 'node:util';
import type { Lesson } from '../core/lesson.ts';

/** The name of the learner of overviews. */
export const OVERVIEW_LEARNER = 'overview';

/** Whether a lesson only repeats lines of others. It is derived from them: no rule compares, measures or revises it as a lesson. */
export const isOverview = ({ text }: Pick<Lesson, 'text'>): boolean =>
  text.evidence.learner === OVERVIEW_LEARNER && memberIds({ text }).length > 0;

/** The lessons that an overview has a line of, in the order of the lines. */
export const memberIds = ({ text }: Pick<Lesson, 'text'>): readonly string[] =>
  (text.note.relations ?? []).filter(({ type }) => type === 'summarises').map(({ to }) => to);

const QUOTED = '> ';

/** The lines that an overview repeats. */
export const quotedLines = (content: string): readonly string[] =>
  content.split('\n').flatMap((line) => (line.startsWith(QUOTED) ? [line.slice(QUOTED.length)] : []));

/** The content of an overview, in which every line is one that a member quotes. */
export const overviewContent = (rules: readonly string[]): string =>
  ['What the user said on this subject:', rules.map((rule) => `${QUOTED}${rule}`).join('\n')].join('\n\n');

/**
 * The overviews that hold now, by the id of each member. One that a member has left, or whose line a member no longer says, is not used
 * until it is written again; so is one that would be shown to others than a member.
 */
export function overviewsInUse(lessons: readonly Lesson[]): ReadonlyMap<string, Lesson> {
  const known = new Map(lessons.map((lesson) => [lesson.id, lesson]));
  const found = new Map<string, Lesson>();
  for (const overview of lessons.filter(isOverview)) {
    const ids = memberIds(overview);
    const lines = quotedLines(overview.text.content);
    const holds =
      lines.length === ids.length &&
      ids.every((id, nth) => {
        const member = known.get(id);
        return member !== undefined && isShownAlike(overview, member) && says(member, lines[nth] ?? '');
      });
    if (holds) for (const id of ids) found.set(id, overview);
  }
  return found;
}

const says = ({ text }: Lesson, line: string): boolean => quotedLines(text.content).includes(line);

const isShownAlike = (a: Lesson, b: Lesson): boolean =>
  isDeepStrictEqual(a.text.scope, b.text.scope) &&
  a.text.note.visibility === b.text.note.visibility &&
  b.expiresAt === undefined;
