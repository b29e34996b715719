import type { Workspace } from '../../src/agent/sandbox/workspace.ts';
import { readWork } from './read-work.ts';

/**
 * A file was kept as `FILE.bak` before it was changed: both are there and differ. Answers what is wrong, or undefined.
 */
export async function checkBackup(workspace: Workspace, file: string): Promise<string | undefined> {
  const now = await readWork(workspace, file);
  if ('fault' in now) return now.fault;
  const before = await readWork(workspace, `${file}.bak`);
  if ('fault' in before) return before.fault;
  return now.value === before.value ? `${file} and ${file}.bak are the same` : undefined;
}
