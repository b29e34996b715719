import { lchown, lstat } from 'node:fs/promises';
import path from 'node:path';
import type { Holder } from './holder.ts';
import { namesIn } from './measure-folder.ts';

/** Changes the owner of all files that a command may change, when it runs as another user. Links are not followed. */
export async function giveAway(
  { files, scratch }: Pick<Holder, 'files' | 'scratch'>,
  owner: number | undefined,
): Promise<void> {
  if (owner === undefined) return;
  const waiting = [files, scratch];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const found = await lstat(next);
    if (found.uid !== owner || found.gid !== owner) await lchown(next, owner, owner);
    if (!found.isDirectory()) continue;
    for (const name of await namesIn(next)) waiting.push(path.join(next, name));
  }
}
