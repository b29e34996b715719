import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Records } from '../../core/records.ts';

const isCopy = (name: string): boolean => name.endsWith('.sqlite');

/** A copy of the store by its time's name, and not more of them than wanted; 0 makes none. */
export async function keepCopy(dir: string, records: Records, keep: number, now: number): Promise<void> {
  if (keep === 0) return;
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  await records.snapshot(join(dir, `${new Date(now).toISOString().replaceAll(/[:.]/g, '-')}.sqlite`));
  const old = readdirSync(dir).filter(isCopy).sort().slice(0, -keep);
  for (const name of old) rmSync(join(dir, name), { force: true });
}

/** The same records, whose erasing also reaches the copies made earlier: they give way to one made after it. */
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
