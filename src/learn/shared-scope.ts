import type { Scope } from '../core/lesson.ts';

const FIELDS = ['agent', 'project', 'runKind', 'domain'] as const;

/** Where all of them apply: a field that two of them differ in is open. Nothing in common means anywhere. */
export function sharedScope(scopes: readonly Scope[]): Scope {
  const [first] = scopes;
  const shared: { -readonly [Field in keyof Scope]: Scope[Field] } = {};
  for (const field of FIELDS) {
    const value = first?.[field];
    if (value !== undefined && scopes.every((scope) => scope[field] === value)) shared[field] = value;
  }
  return shared;
}

/** Whether there may be something that both apply to. A pattern may stand for anything. */
export const doScopesMeet = (a: Scope, b: Scope): boolean =>
  FIELDS.every((field) => {
    const [one, other] = [a[field], b[field]];
    return (
      one === undefined || other === undefined || one === other || one.includes('*') || other.includes('*')
    );
  });
