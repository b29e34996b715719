import type { Match } from '../../files/match-values.ts';
import type { Leaf } from '../../files/plan.ts';
import type { Work } from '../../files/work.ts';

/** What stands in the work for all values of a kind that the task asked for. */
export const matchesOf = (work: Work, is: Leaf['is']): readonly Match[] =>
  [...work.created, ...work.edited].flatMap(({ matches }) =>
    matches.filter(({ wanted }) => wanted.is === is),
  );

/** The first of them as it stands in a file: `"due": "noon"`. */
export function fieldExcerpt(work: Work, is: Leaf['is']): string {
  const match = matchesOf(work, is)[0];
  const key = match?.where
    .split(/[ .]/)
    .at(-1)
    ?.replace(/\[\d+\]$/, '');
  return `"${key ?? ''}": ${JSON.stringify(match?.found ?? null)}`;
}
