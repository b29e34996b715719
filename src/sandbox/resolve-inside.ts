import { lstat, realpath } from 'node:fs/promises';
import path from 'node:path';
import { codeOf, SandboxError } from './sandbox-error.ts';

const MAX_LENGTH = 1024;

/**
 * The absolute path of a path in a workspace. Rejects with a SandboxError for one that leads out of the folder: by `..`, from
 * the root, or through a link. The file may not exist yet, but a dangling link is rejected, since writing to it would create a
 * file wherever it points. `root` is a real path, and nothing may change the folder before the result is used.
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
  if (wanted.length > MAX_LENGTH) throw new SandboxError(`${shown} is longer than ${MAX_LENGTH} characters`);
  if (wanted.includes('\0')) throw new SandboxError(`${shown} contains a NUL`);
  if (path.posix.isAbsolute(wanted) || path.win32.isAbsolute(wanted) || /^[A-Za-z]:/.test(wanted))
    throw new SandboxError(`${shown} is absolute: paths must be relative to the workspace`);
  const segments = wanted.split(path.sep === '\\' ? /[\\/]/ : '/');
  if (segments.includes('..'))
    throw new SandboxError(`${shown} contains "..": paths must stay in the workspace`);
  return segments.filter((segment) => segment !== '' && segment !== '.');
}

/** Whether it is a symbolic link; undefined when it does not exist. */
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
      `${JSON.stringify(wanted)} goes through a link that leads out of the workspace or nowhere`,
    );
  return real;
}
