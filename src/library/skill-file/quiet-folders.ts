import type { Clock } from '../../core/clock.ts';
import type { Records } from './mirror-records.ts';
import type { Seen } from './scan-skills.ts';

/** Whether a folder equals its record, or has been unchanged for long enough to be read. */
export type QuietFolders = (seen: ReadonlyMap<string, Seen>, records: Records) => (folder: string) => boolean;

/**
 * Editors write in steps: they truncate a file and fill it, or delete it and create another one. A folder has settled when
 * two passes some time apart find the same content; file times are not used, since tools set them freely.
 */
export function createQuietFolders(clock: Pick<Clock, 'monotonic'>, quietMs: number): QuietFolders {
  const since = new Map<string, { readonly look: string; readonly at: number }>();
  return (seen, records) => {
    const now = clock.monotonic();
    const restless = new Set<string>();
    for (const folder of new Set([...records.keys(), ...seen.keys()])) {
      const there = seen.get(folder);
      const look = there?.kind === 'file' ? there.hash : (there?.kind ?? 'none');
      if (look === (records.get(folder)?.hash ?? 'none') || look === 'fault') {
        since.delete(folder);
        continue;
      }
      const before = since.get(folder);
      if (before?.look !== look) since.set(folder, { look, at: now });
      if (before?.look !== look || now - before.at < quietMs) restless.add(folder);
    }
    for (const folder of since.keys()) {
      if (!seen.has(folder) && !records.has(folder)) since.delete(folder);
    }
    return (folder) => !restless.has(folder);
  };
}
