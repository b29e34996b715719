import { chmod, lstat, readdir } from 'node:fs/promises';
import path from 'node:path';

/** The limits of a workspace and of a command in it. */
export interface WorkspaceLimits {
  /** The total size of all files. */
  readonly bytes: number;
  /** Files, folders and links. */
  readonly entries: number;
  /** Processes at the same time in one run. */
  readonly processes: number;
  /** Memory of one process. */
  readonly memoryBytes: number;
}

export const DEFAULT_WORKSPACE_LIMITS: WorkspaceLimits = {
  bytes: 64 * 1024 * 1024,
  entries: 10_000,
  processes: 256,
  memoryBytes: 2 * 1024 * 1024 * 1024,
};

/** An operation that a workspace does not allow, such as a path that leads out or a file above the limits. */
export class SandboxError extends Error {
  override readonly name = 'SandboxError';
}

/** The system's error code, such as `ENOENT`. */
export const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;

interface FolderSize {
  readonly bytes: number;
  readonly entries: number;
}

/** The size of a folder's content. Stops counting above the limits, so that a flood of files costs little. */
export async function measureFolder(folder: string, limits: FolderSize): Promise<FolderSize> {
  let bytes = 0;
  let entries = 0;
  const waiting = [folder];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    for (const name of await namesIn(next)) {
      const file = path.join(next, name);
      // Removed since it was listed: a command is running.
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

/** The names in a folder. A folder without read permission is made readable, so that a command cannot hide files in it. */
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
