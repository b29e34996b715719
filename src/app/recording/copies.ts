import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Records } from '../../core/records.ts';
import { UNFINISHED } from '../../store/snapshot-file.ts';

const isCopy = (name: string): boolean => name.endsWith('.sqlite');
/** Left by a process that died while it wrote a snapshot. */
const isUnfinished = (name: string): boolean => name.endsWith(`.sqlite${UNFINISHED}`);

/** Takes a snapshot named by its time and deletes the oldest beyond `keep`; 0 takes none. */
export async function keepCopy(dir: string, records: Records, keep: number, now: number): Promise<void> {
  if (keep === 0) return;
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  await records.snapshot(join(dir, `${new Date(now).toISOString().replaceAll(/[:.]/g, '-')}.sqlite`));
  const names = readdirSync(dir).sort();
  const old = names.filter(isCopy).slice(0, -keep);
  for (const name of [...old, ...names.filter(isUnfinished)]) rmSync(join(dir, name), { force: true });
}

/** The same records; an erasure also reaches earlier snapshots, which are replaced by a new one. */
export function withFreshCopies<R extends Records>(records: R, dir: string, now: () => number): R {
  return {
    ...records,
    erase: async (session: string, reason: string) => {
      const turns = await records.erase(session, reason);
      if (turns > 0 && existsSync(dir) && readdirSync(dir).some(isCopy))
        await keepCopy(dir, records, 1, now());
      return turns;
    },
  };
}
