import { mkdir, open, readFile, rm } from 'node:fs/promises';
import path from 'node:path';

/** Two servers in one folder would ruin each other's journals. Rejects when another process has it. */
export async function lockFolder(folder: string): Promise<() => Promise<void>> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const file = path.join(folder, 'lock');
  const mine = `${process.pid} ${await bornAt(process.pid)}`;
  for (;;) {
    try {
      const handle = await open(file, 'wx', 0o600);
      await handle.writeFile(mine);
      await handle.close();
      return () => rm(file, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const holder = await readFile(file, 'utf8').catch(() => '');
    const pid = Number(holder.split(' ', 1)[0]);
    if (isAlive(pid) && holder === `${pid} ${await bornAt(pid)}`)
      throw new Error(`${folder} is used by another server (process ${pid}).`);
    // Left by one that was killed.
    await rm(file, { force: true });
  }
}

function isAlive(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Numbers of processes are used again; with the time of its start one is certain, where the system tells it. */
async function bornAt(pid: number): Promise<string> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
}
