import { asArray, asObject, asString } from '../core/json.ts';
import type { Author, Change } from '../core/lesson.ts';
import { checkChoice, checkWords } from './check-words.ts';
import { checkReason, type Refused, readChange, targetOf } from './read-change.ts';

/** A validated copy of a change set. */
export interface ReadSet {
  readonly id: string;
  readonly by: Author;
  readonly reason: string;
  readonly changes: readonly (Change | Refused)[];
}

const AUTHORS: readonly string[] = ['person', 'learner', 'instar'];
const NOBODY: Author = { kind: 'instar', name: 'unknown' };
const MAX_ID = 200;
const MAX_NAME = 100;

/** Total: without a valid id, author and reason all of its changes are refused. */
export function readSet(value: unknown): ReadSet {
  const fields = asObject(value);
  const { kind, name } = asObject(fields.by);
  const why =
    checkWords('the id of the set', fields.id, { max: MAX_ID }) ??
    checkChoice('by.kind', kind, AUTHORS) ??
    checkWords('by.name', name, { max: MAX_NAME }) ??
    checkReason(fields.reason);
  const changes = asArray(fields.changes).map(readChange);
  const id = asString(fields.id) ?? '';
  if (why === undefined)
    return { id, by: { kind, name } as Author, reason: asString(fields.reason) ?? '', changes };
  return {
    id,
    by: NOBODY,
    reason: '',
    changes: changes.map((change) => ({ status: 'refused', id: targetOf(change), why })),
  };
}
