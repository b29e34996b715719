import { chmod, lstat, mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { namesIn } from './measure-folder.ts';

/** The folder of a workspace, which no other user can read. */
export interface Holder {
  readonly files: string;
  readonly scratch: string;
  readonly mountPoint: string;
  emptyScratch(): Promise<void>;
  remove(): Promise<void>;
}

export async function createHolder(): Promise<Holder> {
  const folder = await realpath(await mkdtemp(path.join(tmpdir(), 'instar-workspace-')));
  const [files, scratch, mountPoint] = ['files', 'scratch', 'root'].map((name) =>
    path.join(folder, name),
  ) as [string, string, string];
  for (const made of [files, scratch, mountPoint]) await mkdir(made, { mode: 0o700 });
  return {
    files,
    scratch,
    mountPoint,
    emptyScratch: async () => {
      for (const name of await namesIn(scratch)) await removeAll(path.join(scratch, name));
    },
    remove: () => removeAll(folder),
  };
}

/** Commands may have removed the permissions of folders: then those are restored first. */
async function removeAll(folder: string): Promise<void> {
  try {
    await rm(folder, { recursive: true, force: true });
  } catch {
    await openAll(folder);
    await rm(folder, { recursive: true, force: true });
  }
}

async function openAll(folder: string): Promise<void> {
  const waiting = [folder];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const found = await lstat(next).catch(() => undefined);
    if (!found?.isDirectory()) continue;
    await chmod(next, 0o700);
    for (const name of await namesIn(next)) waiting.push(path.join(next, name));
  }
}
