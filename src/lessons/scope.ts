import type { Scope } from '../core/lesson.ts';
import { isOwnedBy, isVisibleTo } from '../core/principal.ts';
import type { RecallQuery } from '../core/recall.ts';

/** Whether a value matches a pattern in which `*` stands for any characters. Backtracks to the last star only. */
export function matchesPattern(pattern: string, value: string): boolean {
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
  query: Pick<RecallQuery, 'agent' | 'project' | 'runKind' | 'member'>,
  domain: string | undefined,
): boolean {
  return (
    isVisibleTo(scope.member, query.member) &&
    fits(scope.agent, query.agent) &&
    fits(scope.project, query.project) &&
    fits(scope.runKind, query.runKind) &&
    (domain === undefined || fits(scope.domain, domain))
  );
}

const fits = (pattern: string | undefined, value: string | undefined): boolean =>
  pattern === undefined || matchesPattern(pattern, value ?? '');

const FIELDS = ['agent', 'project', 'runKind', 'domain'] as const;

/** Whether two scopes overlap. */
export const scopesOverlap = (a: Scope, b: Scope): boolean =>
  (isOwnedBy(a.member, b.member) || isOwnedBy(b.member, a.member)) &&
  FIELDS.every((field) => patternsMeet(a[field] ?? '*', b[field] ?? '*'));

/** Whether `outer` contains all of `inner`. A star in `inner` matches only a star in `outer`. */
export const scopeCovers = (outer: Scope, inner: Scope): boolean =>
  isOwnedBy(outer.member, inner.member) &&
  FIELDS.every((field) => matchesPattern(outer[field] ?? '*', inner[field] ?? '*'));

/** Whether some text matches both patterns: dynamic programming over their prefixes. */
function patternsMeet(a: string, b: string): boolean {
  let above: readonly boolean[] = [];
  for (let row = 0; row <= a.length; row++) {
    const now: boolean[] = [];
    for (let at = 0; at <= b.length; at++) {
      const [left, right] = [a[row - 1], b[at - 1]];
      now.push(
        (row === 0 && at === 0) ||
          (left === '*' && (above[at] === true || now[at - 1] === true)) ||
          (right === '*' && (now[at - 1] === true || above[at] === true)) ||
          (row > 0 && at > 0 && left === right && above[at - 1] === true),
      );
    }
    above = now;
  }
  return above.at(-1) === true;
}
