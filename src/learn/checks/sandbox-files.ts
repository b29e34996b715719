import path from 'node:path';
import { type CheckedWork, hasCommand, type RuleCheck } from '../../core/check.ts';

const MOST_FILES = 100;
const MOST_BYTES = 2_000_000;

/** A command that a model proposed waits for a person, who makes the check theirs by confirming it. */
export const hasPersonsCommand = (check: RuleCheck): boolean => check.by === 'person' && hasCommand(check);

/**
 * The files of an answer for a sandbox, by their paths below the folder that they share. Undefined when there are none, too many, one
 * outside, or one that is not known whole: half of the work would be judged.
 */
export function sandboxFiles({ held = [] }: CheckedWork): Readonly<Record<string, string>> | undefined {
  const bytes = held.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
  if (held.length === 0 || held.length > MOST_FILES || bytes > MOST_BYTES) return undefined;
  if (held.some(({ path: name }) => name.startsWith('..'))) return undefined;
  const shared = sharedFolder(held.map(({ path: name }) => name).filter((name) => name.startsWith('/')));
  return Object.fromEntries(
    held.map(({ path: name, text }) => [name.startsWith('/') ? name.slice(shared.length) : name, text]),
  );
}

/** With its last slash. */
function sharedFolder(names: readonly string[]): string {
  const [first = '/', ...others] = names.map((name) => path.posix.dirname(name).split('/'));
  if (typeof first === 'string') return first;
  const differs = first.findIndex((part, at) => others.some((other) => other[at] !== part));
  return `${first.slice(0, differs < 0 ? undefined : differs).join('/')}/`.replace('//', '/');
}
