import { chmod, lstat, readdir } from 'node:fs/promises';
import path from 'node:path';
import { codeOf } from './sandbox-error.ts';

export interface FolderSize {
  readonly bytes: number;
  readonly entries: number;
}

/** How much a folder holds; it stops counting where it is over the limits, so that a flood of files costs little. */
export async function measureFolder(folder: string, limits: FolderSize): Promise<FolderSize> {
  let bytes = 0;
  let entries = 0;
  const waiting = [folder];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    for (const name of await namesIn(next)) {
      const file = path.join(next, name);
      // Gone since it was listed: a command is at work.
      const found = await lstat(file).catch(() => undefined);
      if (found === undefined) continue;
      entries++;
      if (found.isDirectory()) waiting.push(file);
      else bytes += found.size;
      if (bytes > limits.bytes || entries > limits.entries) return { bytes, entries };
    }
  }
  return { bytes, entries };
}

/** The names in a folder; one that was locked by who worked in it is opened, since nothing may hide there. */
export async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return [];
    if (code !== 'EACCES') throw error;
    await chmod(folder, 0o700);
    return await readdir(folder);
  }
}
