import type { Scope } from '../../core/lesson.ts';
import { fitsPattern } from '../recall/scope.ts';

const FIELDS = ['agent', 'project', 'runKind', 'domain'] as const;

/** Whether two scopes overlap. */
export const scopesOverlap = (a: Scope, b: Scope): boolean =>
  FIELDS.every((field) => patternsMeet(a[field] ?? '*', b[field] ?? '*'));

/** Whether `outer` contains all of `inner`. A star in `inner` matches only a star in `outer`. */
export const scopeCovers = (outer: Scope, inner: Scope): boolean =>
  FIELDS.every((field) => fitsPattern(outer[field] ?? '*', inner[field] ?? '*'));

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
