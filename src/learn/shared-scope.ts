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
