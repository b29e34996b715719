import type { Lesson } from '../../core/lesson.ts';
import type { FileRecord, Records } from './mirror-records.ts';
import type { Seen } from './scan-skills.ts';

/** A pending operation on the folder. `over` is the hash of the file to replace; absent: there must be no file. */
export type Write =
  | { readonly type: 'write'; readonly folder: string; readonly lesson: Lesson; readonly over?: string }
  | { readonly type: 'remove'; readonly folder: string; readonly over: string }
  | { readonly type: 'move'; readonly folder: string; readonly to: string }
  | { readonly type: 'fault'; readonly folder: string; readonly why: string };

/** Leaves every file that differs from its record: its edit is published first. Pure. */
export function planWrites(
  records: Records,
  seen: ReadonlyMap<string, Seen>,
  wanted: ReadonlyMap<string, Lesson>,
): readonly Write[] {
  const placeOf = new Map([...records].map(([folder, { id }]) => [id, folder]));
  const isUntouched = (folder: string, { hash }: FileRecord): boolean => {
    const look = seen.get(folder);
    return look?.kind === 'file' && look.hash === hash;
  };
  const writes: Write[] = [];
  const kept = new Set<string>();
  for (const [home, lesson] of wanted) {
    kept.add(lesson.id);
    const folder = placeOf.get(lesson.id);
    const record = folder === undefined ? undefined : records.get(folder);
    if (folder === undefined || record === undefined) {
      if ((seen.get(home)?.kind ?? 'none') === 'none') writes.push({ type: 'write', folder: home, lesson });
    } else if (isUntouched(folder, record)) {
      if (folder === home) {
        const isOld = record.revision !== lesson.revision || record.state !== lesson.state;
        if (isOld) writes.push({ type: 'write', folder, lesson, over: record.hash });
      } else if (seen.has(home)) {
        writes.push({
          type: 'fault',
          folder,
          why: `should be renamed to ${home}, but that folder exists already`,
        });
      } else {
        writes.push({ type: 'move', folder, to: home });
      }
    }
  }
  for (const [folder, record] of records) {
    if (!kept.has(record.id) && isUntouched(folder, record)) {
      writes.push({ type: 'remove', folder, over: record.hash });
    }
  }
  return writes;
}
