import type { Lesson, Scope } from '../../core/lesson.ts';
import type { Library } from '../../core/library.ts';
import type { RecallQuery } from '../../core/recall.ts';
import { createRecent } from '../../core/recent.ts';
import { isInScope } from '../../library/recall/scope.ts';

export type CountLessons = (query: Pick<RecallQuery, 'agent' | 'project' | 'runKind'>, now: number) => number;

const MOST_ASKERS = 1000;

interface ScopeCount {
  readonly scope: Scope;
  readonly count: number;
}

/**
 * The number of lessons in the scope of a query. Cheap, since it is called for every turn: turns without lessons in scope
 * skip recall.
 */
export function createCountLessons(library: Pick<Library, 'shown'>): CountLessons {
  const known = createRecent<string, number>(MOST_ASKERS);
  let counted: readonly Lesson[] | undefined;
  let counts: readonly ScopeCount[] = [];
  return (query, now) => {
    const shown = library.shown(now);
    if (shown !== counted) {
      counts = countScopes(shown);
      counted = shown;
      known.clear();
    }
    if (counts.length === 0) return 0;
    // Names have no line breaks, and patterns treat a missing value as empty.
    const asker = `${query.agent}\n${query.project ?? ''}\n${query.runKind ?? ''}`;
    const before = known.get(asker);
    if (before !== undefined) return before;
    const own = counts.filter(({ scope }) => isInScope(scope, query, undefined));
    const sum = own.reduce((all, { count }) => all + count, 0);
    known.set(asker, sum);
    return sum;
  };
}

function countScopes(lessons: readonly Lesson[]): readonly ScopeCount[] {
  const counts = new Map<string, ScopeCount>();
  for (const { text } of lessons) {
    const { agent, project, runKind } = text.scope;
    const key = JSON.stringify([agent, project, runKind]);
    counts.set(key, { scope: text.scope, count: (counts.get(key)?.count ?? 0) + 1 });
  }
  return [...counts.values()];
}
