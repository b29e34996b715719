import { lstat, realpath } from 'node:fs/promises';
import path from 'node:path';
import { codeOf, SandboxError } from './sandbox-error.ts';

const LONGEST = 1024;

/**
 * Where a path of a workspace lies on the machine. Rejects with a SandboxError for one that leads out of the folder:
 * by `..`, from the root, or over a link. What is not there yet may be named; a link that leads nowhere may not, since
 * writing to it would make a file wherever it points. `root` is a real path, and nothing else may change the folder
 * between this and the use of its answer.
 */
export async function resolveInside(root: string, wanted: string): Promise<string> {
  const segments = segmentsOf(wanted);
  let at = root;
  for (const [index, segment] of segments.entries()) {
    const next = path.join(at, segment);
    const isLink = await linkAt(next);
    if (isLink === undefined) return path.join(next, ...segments.slice(index + 1));
    at = isLink ? await followInside(root, next, wanted) : next;
  }
  return at;
}

export const isInside = (root: string, file: string): boolean =>
  file === root || file.startsWith(root + path.sep);

function segmentsOf(wanted: string): readonly string[] {
  const shown = JSON.stringify(wanted.slice(0, 200));
  if (wanted === '') throw new SandboxError('a path is empty');
  if (wanted.length > LONGEST)
    throw new SandboxError(`${shown} is longer than ${LONGEST} characters: no path is`);
  if (wanted.includes('\0')) throw new SandboxError(`${shown} holds a NUL`);
  if (path.posix.isAbsolute(wanted) || path.win32.isAbsolute(wanted) || /^[A-Za-z]:/.test(wanted))
    throw new SandboxError(`${shown} is absolute: paths begin in the workspace`);
  const segments = wanted.split(path.sep === '\\' ? /[\\/]/ : '/');
  if (segments.includes('..'))
    throw new SandboxError(`${shown} goes up with "..": paths stay in the workspace`);
  return segments.filter((segment) => segment !== '' && segment !== '.');
}

/** Undefined when nothing is there. */
async function linkAt(file: string): Promise<boolean | undefined> {
  try {
    return (await lstat(file)).isSymbolicLink();
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw error;
  }
}

async function followInside(root: string, link: string, wanted: string): Promise<string> {
  const real = await realpath(link).catch(() => undefined);
  if (real === undefined || !isInside(root, real))
    throw new SandboxError(
      `${JSON.stringify(wanted)} goes over a link that leads out of the workspace or nowhere`,
    );
  return real;
}
