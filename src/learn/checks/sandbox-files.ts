import path from 'node:path';
import { hasCommand, type RuleCheck, type WrittenFile } from '../../core/check.ts';

const MOST_FILES = 100;
const MOST_BYTES = 2_000_000;

/** A command that a model proposed waits for a person, who makes the check theirs by confirming it. */
export const hasPersonsCommand = (check: RuleCheck): boolean => check.by === 'person' && hasCommand(check);

/**
 * The files that the record knows whole, by their paths below the folder that they share. A file that was edited after it was written is
 * left out: what it holds now is not known. Undefined when there are none, or too many.
 */
export function sandboxFiles(written: readonly WrittenFile[]): Readonly<Record<string, string>> | undefined {
  const known = new Map<string, string>();
  for (const { path: name, text, isWhole } of written) {
    const plain = path.posix.normalize(name.replaceAll('\\', '/').replace(/^[A-Za-z]:/, ''));
    if (isWhole === true && !plain.startsWith('..')) known.set(plain, text);
    else known.delete(plain);
  }
  const bytes = [...known.values()].reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  if (known.size === 0 || known.size > MOST_FILES || bytes > MOST_BYTES) return undefined;
  const shared = sharedFolder([...known.keys()].filter((name) => name.startsWith('/')));
  return Object.fromEntries(
    [...known].map(([name, text]) => [name.startsWith('/') ? name.slice(shared.length) : name, text]),
  );
}

/** With its last slash. */
function sharedFolder(names: readonly string[]): string {
  const [first = '/', ...others] = names.map((name) => path.posix.dirname(name).split('/'));
  if (typeof first === 'string') return first;
  const differs = first.findIndex((part, at) => others.some((other) => other[at] !== part));
  return `${first.slice(0, differs < 0 ? undefined : differs).join('/')}/`.replace('//', '/');
}
