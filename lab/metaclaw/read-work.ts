import type { Workspace } from '../../src/agent/sandbox/workspace.ts';
import type { WorkspaceEntry } from '../../src/agent/sandbox/workspace-files.ts';
import { codeOf, SandboxError } from '../../src/agent/sandbox/workspace-limits.ts';

/** What was found, or what is wrong with it in words for the one who reads the verdict. */
export type Found<T> = { readonly value: T } | { readonly fault: string };

/** Of a file that a check reads. Nobody writes a report of this size by hand; what does is not to cost us the memory. */
const LARGEST = 8 * 1024 * 1024;
/** What a path can be made into by the one whose work is checked: never a reason to leave the work ungraded. */
const THEIR_CODES = new Set([
  ...['ENOENT', 'ENOTDIR', 'EISDIR', 'EACCES', 'EPERM', 'ELOOP', 'ENXIO', 'ENAMETOOLONG', 'EINVAL'],
]);

/** A file as text. Rejects only for what is not the work's fault. */
export async function readWork(workspace: Workspace, file: string): Promise<Found<string>> {
  return blameWork<string>(file, async () => {
    const found = await workspace.list(folderOf(file));
    const entry = found.find(({ name }) => name === nameOf(file));
    if (entry === undefined) return { fault: `${file} is not there` };
    if (entry.bytes > LARGEST) return { fault: `${file} is larger than ${LARGEST} bytes` };
    const text = await workspace.read(file);
    if (text.length > LARGEST) return { fault: `${file} is larger than ${LARGEST} bytes` };
    return text.includes('\uFFFD') ? { fault: `${file} is not UTF-8 text` } : { value: text };
  });
}

/** What lies in a folder. Rejects only for what is not the work's fault. */
export const listWork = (workspace: Workspace, folder: string): Promise<Found<readonly WorkspaceEntry[]>> =>
  blameWork(folder, async () => ({ value: await workspace.list(folder) }));

export const nameOf = (file: string): string => file.slice(file.lastIndexOf('/') + 1);

const folderOf = (file: string): string => {
  const end = file.lastIndexOf('/');
  return end < 0 ? '.' : file.slice(0, end);
};

async function blameWork<T>(wanted: string, look: () => Promise<Found<T>>): Promise<Found<T>> {
  try {
    return await look();
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return { fault: `${wanted} is not there` };
    if (error instanceof SandboxError) return { fault: error.message };
    if (code !== undefined && THEIR_CODES.has(code)) return { fault: `${wanted} cannot be read (${code})` };
    throw error;
  }
}
