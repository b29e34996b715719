import path from 'node:path';
import type { Workspace } from '../../../src/agent/sandbox/workspace.ts';
import type { WorkspaceEntry } from '../../../src/agent/sandbox/workspace-files.ts';
import { codeOf, SandboxError } from '../../../src/agent/sandbox/workspace-limits.ts';

/** Nobody writes this much for a task; what is larger is not looked at. */
const LARGEST = 256 * 1024;

/** The texts of all files directly in some folders of a workspace, by path. `.` is the workspace itself. */
export async function takeSnapshot(
  workspace: Workspace,
  folders: Iterable<string>,
): Promise<ReadonlyMap<string, string>> {
  const texts = new Map<string, string>();
  for (const folder of new Set(folders)) {
    const entries = await workspace.list(folder).catch(noneIfMissing);
    for (const { name, kind, bytes } of entries)
      if (kind === 'file' && bytes <= LARGEST) {
        const file = path.posix.join(folder, name);
        texts.set(file, await workspace.read(file));
      }
  }
  return texts;
}

/** A folder that nobody made has nothing in it; any other trouble is ours and not that of the work. */
function noneIfMissing(error: unknown): readonly WorkspaceEntry[] {
  const code = codeOf(error);
  if (code === 'ENOENT' || code === 'ENOTDIR' || error instanceof SandboxError) return [];
  throw error;
}
