import type { Scope } from '../core/lesson.ts';

const FIELDS = ['agent', 'project', 'runKind', 'domain'] as const;

/** The narrowest scope that includes all of them: a field in which two differ is left open. */
export function sharedScope(scopes: readonly Scope[]): Scope {
  const [first] = scopes;
  const shared: { -readonly [Field in keyof Scope]: Scope[Field] } = {};
  for (const field of FIELDS) {
    const value = first?.[field];
    if (value !== undefined && scopes.every((scope) => scope[field] === value)) shared[field] = value;
  }
  return shared;
}

/** Whether some work may be in both scopes. A pattern is taken to match anything. */
export const doScopesMeet = (a: Scope, b: Scope): boolean =>
  FIELDS.every((field) => {
    const [one, other] = [a[field], b[field]];
    return (
      one === undefined || other === undefined || one === other || one.includes('*') || other.includes('*')
    );
  });
