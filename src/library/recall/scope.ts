import type { Scope } from '../../core/lesson.ts';
import type { RecallQuery } from '../../core/recall.ts';

/** Whether a value matches a pattern in which `*` stands for any characters. Backtracks to the last star only. */
export function fitsPattern(pattern: string, value: string): boolean {
  let at = 0;
  let read = 0;
  let star = -1;
  let resume = 0;
  while (read < value.length) {
    if (pattern[at] === '*') {
      star = at++;
      resume = read;
    } else if (pattern[at] === value[read]) {
      at++;
      read++;
    } else if (star >= 0) {
      at = star + 1;
      read = ++resume;
    } else return false;
  }
  while (pattern[at] === '*') at++;
  return at === pattern.length;
}

/**
 * Whether a lesson's scope matches a query. `domain` is a named domain; a guessed one is passed as undefined and excludes
 * nothing, since a wrong guess would hide relevant lessons.
 */
export function isInScope(
  scope: Scope,
  query: Pick<RecallQuery, 'agent' | 'project' | 'runKind'>,
  domain: string | undefined,
): boolean {
  return (
    fits(scope.agent, query.agent) &&
    fits(scope.project, query.project) &&
    fits(scope.runKind, query.runKind) &&
    (domain === undefined || fits(scope.domain, domain))
  );
}

const fits = (pattern: string | undefined, value: string | undefined): boolean =>
  pattern === undefined || fitsPattern(pattern, value ?? '');
